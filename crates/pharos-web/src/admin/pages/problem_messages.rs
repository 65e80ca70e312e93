//! Texts about pages that yield nothing: kinds of problems, remedies, and the sum of stored pages.

use pharos_engine::status::collection::{StoredPages, UnsearchableReason};
use pharos_engine::status::remedy::Remedy;
use pharos_store::catalog::PageProblem;

use crate::messages::{fill, grouped, messages};

messages! { ProblemMessages {
    failed: "Failed", "失败";
    refused: "Refused", "被拒绝";
    quarantined: "Quarantined", "已隔离";
    not_found: "Not found", "不存在";
    denied: "Denied", "拒绝访问";
    server_error: "Server error", "服务器错误";
    empty: "Seed without content", "种子网页无内容";
    seed: "seed", "种子";
    seeds_only: "Seeds only", "仅种子网页";
    seed_problems: "Seeds that yield nothing", "没有结果的种子网页";
    limits: "Limits reached", "已达到的上限";

    stored_sum: "{} stored = {}", "已存储 {} = {}";
    part_searchable: "{} searchable", "可搜索 {}";
    part_not_found: "{} not found", "不存在 {}";
    part_denied: "{} denied by the server", "服务器拒绝访问 {}";
    part_server_error: "{} with a server error", "服务器错误 {}";
    part_moved: "{} redirected", "重定向 {}";
    part_refused: "{} excluded by a rule", "被规则排除 {}";
    part_quarantined: "{} quarantined", "已隔离 {}";
    part_without_text: "{} without searchable text", "没有可搜索的文字 {}";
    part_mirrored: "{} on mirror sites", "位于镜像网站 {}";
    part_not_indexed: "{} not indexed yet", "尚未建入索引 {}";

    allow_private: "Allow private addresses: crawl.allow_private, or start with --allow-private.", "允许私有地址：设置 crawl.allow_private，或启动时加 --allow-private。";
    address_ranges: "Change crawl.allow_addresses or crawl.forbid_addresses.", "修改 crawl.allow_addresses 或 crawl.forbid_addresses。";
    contact: "Enter a contact for site owners on the Crawl page (crawl.contact).", "请在“抓取”页填写联系方式（crawl.contact）。";
    host_name: "Check the spelling of the host name.", "检查主机名的拼写。";
    server: "Check that the server is running, and the host and port of the URL.", "检查服务器是否运行，以及网址中的主机和端口。";
    network: "Check the URL, the network and the firewall; it is tried again later.", "检查网址、网络和防火墙；稍后会自动重试。";
    certificate: "Check the certificate of the server and the clock of this machine.", "检查服务器证书和本机时间。";
    not_http: "Check that the port of the URL is that of a web server.", "检查网址中的端口是否为网站端口。";
    robots: "The owner forbids this page to crawlers: ask the owner, or add another page.", "站长禁止爬虫抓取该网页：请联系站长，或添加其他网页。";
    rule: "Change the rule if you want the page.", "如需该网页，请修改规则。";
    media_type: "Add the media type to crawl.types if you want the page.", "如需该网页，请将其类型加入 crawl.types。";
    path: "Check the path of the URL.", "检查网址中的路径。";
    access: "The server denies access to the crawler: ask its owner.", "服务器拒绝爬虫访问：请联系站长。";
    later: "The server fails or is overloaded; it is tried again later.", "服务器出错或过载；稍后会自动重试。";
    no_content: "Add a page with text or links. Pages that only JavaScript fills and pages with noindex cannot be searched.",
        "请添加有文字或链接的网页。仅由 JavaScript 生成内容的网页和声明 noindex 的网页无法搜索。";
    limit: "Raise the limit if you want more pages.", "如需更多网页，请提高上限。";
    quarantine: "See the page report; the page is stored and can be fetched again.", "请查看网页诊断；网页已存储，可重新抓取。";
} }

impl ProblemMessages {
    /// Returns the name of a problem.
    pub(crate) fn problem(&self, problem: PageProblem) -> &'static str {
        match problem {
            PageProblem::Failed => self.failed,
            PageProblem::Refused => self.refused,
            PageProblem::Quarantined => self.quarantined,
            PageProblem::NotFound => self.not_found,
            PageProblem::Denied => self.denied,
            PageProblem::ServerError => self.server_error,
            PageProblem::Empty => self.empty,
        }
    }

    /// Returns the remedy of a problem with this reason, or an empty text if none is known.
    pub(crate) fn remedy(&self, problem: PageProblem, reason: &str) -> &'static str {
        Remedy::for_problem(problem, reason).map_or("", |remedy| self.remedy_text(remedy))
    }

    fn remedy_text(&self, remedy: Remedy) -> &'static str {
        match remedy {
            Remedy::AllowPrivate => self.allow_private,
            Remedy::AddressRanges => self.address_ranges,
            Remedy::Contact => self.contact,
            Remedy::HostName => self.host_name,
            Remedy::Server => self.server,
            Remedy::Network => self.network,
            Remedy::Certificate => self.certificate,
            Remedy::NotHttp => self.not_http,
            Remedy::Robots => self.robots,
            Remedy::Rule => self.rule,
            Remedy::MediaType => self.media_type,
            Remedy::Path => self.path,
            Remedy::Access => self.access,
            Remedy::Later => self.later,
            Remedy::Empty => self.no_content,
            Remedy::Limit => self.limit,
            Remedy::Quarantine => self.quarantine,
        }
    }

    /// Describes stored pages as a sum.
    pub(crate) fn explain_stored(&self, pages: &StoredPages) -> String {
        let searchable = fill(self.part_searchable, &[&grouped(pages.searchable)]);
        let others = pages.others.iter().map(|(reason, count)| fill(self.part(*reason), &[&grouped(*count)]));
        let parts: Vec<String> = std::iter::once(searchable).chain(others).collect();
        fill(self.stored_sum, &[&grouped(pages.stored), &parts.join(" + ")])
    }

    fn part(&self, reason: UnsearchableReason) -> &'static str {
        match reason {
            UnsearchableReason::NotFound => self.part_not_found,
            UnsearchableReason::Denied => self.part_denied,
            UnsearchableReason::ServerError => self.part_server_error,
            UnsearchableReason::Moved => self.part_moved,
            UnsearchableReason::Refused => self.part_refused,
            UnsearchableReason::Quarantined => self.part_quarantined,
            UnsearchableReason::WithoutText => self.part_without_text,
            UnsearchableReason::Mirrored => self.part_mirrored,
            UnsearchableReason::NotIndexed => self.part_not_indexed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::messages::Lang;

    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(TABLE);
    }

    #[test]
    fn stored_pages_are_an_explained_sum() {
        let pages = StoredPages {
            stored: 6_435,
            searchable: 4_104,
            others: vec![(UnsearchableReason::NotFound, 2_331)],
        };
        let explained = |lang| ProblemMessages::for_lang(lang).explain_stored(&pages);
        assert_eq!(explained(Lang::En), "6,435 stored = 4,104 searchable + 2,331 not found");
        assert_eq!(explained(Lang::Zh), "已存储 6,435 = 可搜索 4,104 + 不存在 2,331");
    }
}
