//! Renders the content of a page to HTML bytes.

use std::fmt::Write;
use std::time::{Duration, UNIX_EPOCH};

use crate::compose::compose;
use crate::gbk;
use crate::model::{
    Charset, CharsetDeclaration, ContentBlock, Host, Lang, Layout, PageDraft, PageKind, PageLink, PageNo,
    PlannedPage, TextSpan, Web,
};
use crate::rng::hash_text;
use crate::urls::{spell, url_of};

/// Returns the bytes of a page at a given time, in the encoding of its host.
pub(crate) fn render(web: &Web, number: PageNo, moment: u64, port: u16) -> Vec<u8> {
    let page = web.page(number);
    let (_, modified) = page.version(moment);
    let draft = compose(web, number, moment);
    let host = web.host_of(page);
    let mut sheet =
        HtmlWriter { web, host, page, draft: &draft, modified, port, out: String::with_capacity(8192) };
    sheet.head();
    match (page.kind, host.look) {
        (PageKind::Frameset, _) => sheet.frameset(),
        (PageKind::Table, _) | (_, Layout::Tables) => sheet.tables(),
        (_, Layout::Divisions) => sheet.divisions(),
        (_, Layout::Semantic) => sheet.semantic(),
    }
    sheet.out.push_str("</html>\n");
    match host.charset {
        Charset::Utf8 => sheet.out.into_bytes(),
        Charset::Gbk => gbk::encode(&sheet.out),
    }
}

/// Returns the text of the `title` element.
pub(crate) fn head_title(host: &Host, page: &PlannedPage) -> String {
    if page.kind == PageKind::Home {
        page.title.to_string()
    } else {
        format!("{} - {}", page.title, host.title)
    }
}

/// Formats a date as `2026-01-31`.
pub(crate) fn date(moment: u64) -> String {
    // Days to civil date after Howard Hinnant's chrono-compatible algorithms.
    let shifted = moment / 86_400 + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// Formats a date for HTTP headers.
pub(crate) fn http_date(moment: u64) -> String {
    httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(moment))
}

fn escape(text: &str, out: &mut String) {
    let mut rest = text;
    while let Some(special) = rest.find(['&', '<', '>', '"']) {
        out.push_str(&rest[..special]);
        out.push_str(match rest.as_bytes()[special] {
            b'&' => "&amp;",
            b'<' => "&lt;",
            b'>' => "&gt;",
            _ => "&quot;",
        });
        rest = &rest[special + 1..];
    }
    out.push_str(rest);
}

/// HTML writer of one page.
struct HtmlWriter<'a> {
    web: &'a Web,
    host: &'a Host,
    page: &'a PlannedPage,
    draft: &'a PageDraft,
    modified: u64,
    port: u16,
    out: String,
}

impl HtmlWriter<'_> {
    fn text(&mut self, text: &str) {
        escape(text, &mut self.out);
    }

    fn raw(&mut self, html: &str) {
        self.out.push_str(html);
    }

    /// Writes an element without attributes around a text.
    fn element(&mut self, name: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.out, "<{name}>");
        self.text(text);
        let _ = writeln!(self.out, "</{name}>");
    }

    fn words(&self, en: &'static str, zh: &'static str) -> &'static str {
        match self.page.lang {
            Lang::En => en,
            Lang::Zh => zh,
        }
    }

    fn head(&mut self) {
        let old = self.page.kind == PageKind::Frameset || self.host.look == Layout::Tables;
        self.raw(if old {
            "<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01 Transitional//EN\">\n"
        } else {
            "<!DOCTYPE html>\n"
        });
        let lang = self.words("en", "zh-CN");
        let _ = write!(self.out, "<html lang=\"{lang}\">\n<head>\n");
        if self.host.declared == CharsetDeclaration::Meta {
            self.raw(match (self.host.charset, old) {
                (Charset::Utf8, true) => {
                    "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=utf-8\">\n"
                }
                (Charset::Utf8, false) => "<meta charset=\"utf-8\">\n",
                (Charset::Gbk, true) => {
                    "<meta http-equiv=\"Content-Type\" content=\"text/html; charset=gb2312\">\n"
                }
                (Charset::Gbk, false) => "<meta charset=\"gbk\">\n",
            });
        }
        self.element("title", &head_title(self.host, self.page));
        for (name, content) in [
            ("description", &self.draft.description),
            ("keywords", &self.draft.keywords),
            ("author", &self.draft.author),
        ] {
            if !content.is_empty() {
                let _ = write!(self.out, "<meta name=\"{name}\" content=\"");
                escape(content, &mut self.out);
                self.raw("\">\n");
            }
        }
        if self.page.kind == PageKind::Article {
            let published = date(self.page.published);
            let _ = writeln!(self.out, "<meta property=\"article:published_time\" content=\"{published}\">");
        }
        if let Some(canonical) = self.page.canonical {
            let url = url_of(self.web, self.web.page(canonical), self.port);
            self.raw("<link rel=\"canonical\" href=\"");
            self.text(&url);
            self.raw("\">\n");
        }
        self.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n");
        self.raw("<link rel=\"stylesheet\" href=\"/style.css\">\n</head>\n");
    }

    fn link(&mut self, link: &PageLink) {
        self.raw("<a href=\"");
        let url = spell(self.web, self.page, link, self.port);
        self.text(&url);
        self.raw("\">");
        self.text(&link.anchor);
        self.raw("</a>");
    }

    fn links(&mut self, links: &[PageLink], before: &str, after: &str) {
        for link in links {
            self.raw(before);
            self.link(link);
            self.raw(after);
        }
    }

    fn byline(&mut self, open: &str, close: &str) {
        if matches!(self.page.kind, PageKind::Home | PageKind::Hub) {
            return;
        }
        self.raw(open);
        let published = date(self.page.published);
        let author = self.draft.author.clone();
        if !author.is_empty() {
            self.raw(self.words("By ", "作者："));
            self.text(&author);
            self.raw(self.words(", ", "　"));
        }
        self.raw(self.words("", "发布时间："));
        self.raw(&published);
        if self.modified > self.page.published {
            let modified = date(self.modified);
            self.raw(self.words(" (updated ", "（更新于"));
            self.raw(&modified);
            self.raw(self.words(")", "）"));
        }
        self.raw(close);
    }

    fn blocks(&mut self) {
        for block in &self.draft.blocks {
            self.block(block);
        }
    }

    fn block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Heading(text) => self.element("h2", text),
            ContentBlock::Quote(text) => self.element("blockquote", text),
            ContentBlock::Paragraph(spans) => {
                self.raw("<p>");
                for span in spans {
                    match span {
                        TextSpan::Text(text) => self.text(text),
                        TextSpan::Link(link) => self.link(link),
                    }
                }
                self.raw("</p>\n");
            }
            ContentBlock::Facts(facts) => {
                self.raw("<table class=\"facts\">\n");
                for (name, value) in facts {
                    self.raw("<tr><th>");
                    self.text(name);
                    self.raw("</th><td>");
                    self.text(value);
                    self.raw("</td></tr>\n");
                }
                self.raw("</table>\n");
            }
            ContentBlock::Steps(steps) => {
                self.raw("<ol>\n");
                for step in steps {
                    self.element("li", step);
                }
                self.raw("</ol>\n");
            }
            ContentBlock::Picture { name, caption } => {
                let _ = write!(self.out, "<div class=\"picture\"><img src=\"/pictures/{name}.svg\" alt=\"");
                self.text(caption);
                self.raw("\" width=\"480\" height=\"270\"><p class=\"caption\">");
                self.text(caption);
                self.raw("</p></div>\n");
            }
            ContentBlock::Links(items) => {
                self.raw("<ul class=\"list\">\n");
                for (link, note) in items {
                    self.raw("<li>");
                    self.link(link);
                    if !note.is_empty() {
                        self.raw(" <span class=\"note\">");
                        self.text(note);
                        self.raw("</span>");
                    }
                    self.raw("</li>\n");
                }
                self.raw("</ul>\n");
            }
            ContentBlock::Pager(pages) => {
                self.raw("<p class=\"pager\">");
                self.links(pages, " ", " |");
                self.raw("</p>\n");
            }
            ContentBlock::Frames(_) => {}
        }
    }

    fn related(&mut self) {
        if !self.draft.related.is_empty() {
            let heading = self.words("Related pages", "相关页面");
            self.element("h3", heading);
            self.raw("<ul>\n");
            self.links(&self.draft.related, "<li>", "</li>\n");
            self.raw("</ul>\n");
        }
    }

    fn footer(&mut self) {
        self.raw("<p>&copy; 2025 ");
        self.text(&self.host.title);
        self.raw(self.words(". All rights reserved. ", "　版权所有 "));
        self.raw("</p>\n<p>");
        self.links(&self.host.footer, " ", " ");
        self.raw("</p>\n");
    }

    fn semantic(&mut self) {
        self.raw("<body>\n<header>\n<p class=\"site\">");
        self.text(&self.host.title);
        self.raw("</p>\n<nav>\n");
        self.links(&self.host.navigation, "", "\n");
        self.raw("</nav>\n</header>\n<main>\n<article>\n");
        self.element("h1", &self.page.title);
        self.byline("<p class=\"byline\">", "</p>\n");
        self.blocks();
        self.raw("</article>\n<aside>\n");
        self.related();
        self.raw("</aside>\n</main>\n<footer>\n");
        self.footer();
        self.raw("</footer>\n</body>\n");
    }

    fn divisions(&mut self) {
        self.raw("<body>\n<div id=\"top\"><div class=\"logo\">");
        self.text(&self.host.title);
        self.raw("</div><ul class=\"nav\">\n");
        self.links(&self.host.navigation, "<li>", "</li>\n");
        self.raw("</ul></div>\n<div id=\"main\">\n<div class=\"content\">\n");
        self.element("h1", &self.page.title);
        self.byline("<div class=\"info\">", "</div>\n");
        self.blocks();
        self.raw("</div>\n<div class=\"sidebar\">\n");
        self.related();
        self.raw("</div>\n</div>\n<div id=\"footer\">\n");
        self.footer();
        self.raw("</div>\n</body>\n");
    }

    fn tables(&mut self) {
        self.raw(
            "<body bgcolor=\"#ffffff\">\n<table width=\"760\" border=\"0\" align=\"center\" cellpadding=\"0\" \
             cellspacing=\"0\">\n<tr><td height=\"60\" colspan=\"2\"><b>",
        );
        self.text(&self.host.title);
        self.raw(
            "</b></td></tr>\n<tr><td width=\"160\" valign=\"top\">\n<table width=\"100%\" border=\"0\">\n",
        );
        self.links(&self.host.navigation, "<tr><td height=\"22\">", "</td></tr>\n");
        self.raw(
            "</table>\n</td><td width=\"600\" valign=\"top\">\n<table width=\"96%\" border=\"0\" align=\"center\">\n\
             <tr><td height=\"40\" align=\"center\">",
        );
        self.element("h1", &self.page.title);
        self.byline("</td></tr>\n<tr><td height=\"20\"><font size=\"2\">", "</font>");
        self.raw("</td></tr>\n<tr><td>\n");
        self.blocks();
        self.raw("</td></tr>\n<tr><td height=\"80\">\n");
        self.related();
        self.raw("</td></tr>\n</table>\n</td></tr>\n<tr><td colspan=\"2\" height=\"50\" align=\"center\">\n");
        self.footer();
        self.raw("</td></tr>\n</table>\n</body>\n");
    }

    fn frameset(&mut self) {
        self.raw("<frameset cols=\"200,*\">\n");
        for block in &self.draft.blocks {
            if let ContentBlock::Frames(frames) = block {
                for (number, frame) in frames.iter().enumerate() {
                    let url = spell(self.web, self.page, frame, self.port);
                    let _ = write!(self.out, "<frame name=\"part{number}\" src=\"");
                    self.text(&url);
                    self.raw("\">\n");
                }
            }
        }
        self.raw("<noframes><body>\n");
        self.element("h1", &self.page.title);
        self.raw("</body></noframes>\n</frameset>\n");
    }
}

/// Returns the style sheet of a host; each has its own colour.
pub(crate) fn style(host: &Host) -> String {
    let hue = hash_text(&host.name) % 360;
    format!(
        ":root{{--hue:{hue}}}\n\
         body{{margin:0;font:17px/1.65 Georgia,'Noto Serif SC','Songti SC',serif;color:#222;background:#fbfaf7}}\n\
         header,#top{{background:hsl(var(--hue) 45% 24%);color:#fff;padding:14px 28px}}\n\
         header a,#top a{{color:hsl(var(--hue) 80% 88%);margin-right:16px;text-decoration:none}}\n\
         .site,.logo{{font-size:24px;margin:0 0 6px;letter-spacing:.03em}}\n\
         .nav{{list-style:none;margin:0;padding:0;display:flex;flex-wrap:wrap}}\n\
         main,#main{{max-width:1040px;margin:0 auto;padding:12px 28px;display:flex;gap:40px;align-items:flex-start}}\n\
         article,.content{{flex:3;min-width:0}}aside,.sidebar{{flex:1;font-size:15px;padding-top:24px}}\n\
         h1{{line-height:1.25;margin:22px 0 6px}}h2{{margin-top:28px;color:hsl(var(--hue) 45% 30%)}}\n\
         a{{color:hsl(var(--hue) 65% 34%)}}\n\
         .byline,.info,.note,.caption{{color:#777;font-size:14px}}\n\
         .facts{{border-collapse:collapse;margin:16px 0}}.facts th,.facts td{{text-align:left;\
         border-bottom:1px solid #ddd;padding:4px 18px 4px 0}}\n\
         blockquote{{border-left:4px solid hsl(var(--hue) 50% 60%);margin:18px 0;padding:2px 18px;font-style:italic}}\n\
         .picture img{{max-width:100%;height:auto;border-radius:6px}}\n\
         footer,#footer{{border-top:1px solid #ddd;color:#777;font-size:14px;padding:10px 28px;margin-top:30px}}\n\
         @media (max-width:720px){{main,#main{{display:block}}}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::START;

    #[test]
    fn dates_are_civil() {
        assert_eq!(date(START), "2026-01-01");
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(http_date(START), "Thu, 01 Jan 2026 00:00:00 GMT");
    }

    #[test]
    fn markup_in_texts_is_escaped() {
        let mut out = String::new();
        escape("a<b & \"c\"", &mut out);
        assert_eq!(out, "a&lt;b &amp; &quot;c&quot;");
    }
}
