//! Texts of the page of API keys.

use crate::messages::messages;

messages! { KeyMessages {
    intro: "Keys of programs that use the API. Only digests are stored, and changes take effect at once. As soon as a key exists, clients without one are refused.",
        "供程序使用 API 的密钥。系统只保存摘要，修改立即生效。只要存在密钥，没有密钥的请求就会被拒绝。";
    settings: "The setting web.api_keys has further keys, without names and limits: {}.", "设置项 web.api_keys 中还有 {} 个没有名称和限制的密钥。";
    name: "Name", "名称";
    name_hint: "For example the program that uses it.", "例如使用它的程序。";
    endpoints: "Endpoints", "接口";
    all_endpoints: "all endpoints", "全部接口";
    endpoints_hint: "None selected: all.", "不选表示全部。";
    sites: "Sites", "网站";
    all_sites: "all sites", "全部网站";
    sites_hint: "One host name per line, with its subdomains; leave empty for all.", "每行一个主机名，包括其子域名；留空表示全部。";
    rate: "Requests per second", "每秒请求数";
    rate_hint: "Leave empty for web.key_rate: {}.", "留空则使用 web.key_rate：{}。";
    until: "Ends at (UTC, optional)", "结束时间（UTC，可选）";
    created: "Issued", "签发";
    scope: "Scope", "权限范围";
    per_second: "Per second", "每秒";
    ends: "Ends", "结束";
    usage: "Requests, last use", "请求数、最近使用";
    active: "active", "有效";
    ended: "ended", "已过期";
    revoked: "revoked", "已撤销";
    actions: "Actions", "操作";
    none: "There are no keys: everyone may use the API.", "没有密钥：所有人都可以使用 API。";
    none_but_settings: "There are no keys besides those in the settings.", "除设置中的密钥外没有其他密钥。";
    add_title: "Create a key", "创建密钥";
    add: "Create", "创建";
    edit: "Change", "修改";
    edit_title: "Change a key", "修改密钥";
    save: "Save", "保存";
    cancel: "Cancel", "取消";
    did_change: "{} is changed; its secret stays the same.", "已修改 {}，密钥不变。";
    conflict: "Another operator changed this key meanwhile: open it again.", "其他管理员刚修改了该密钥，请重新打开。";
    rotate: "Rotate", "更换";
    rotate_text: "A new secret is issued, and the old one is refused at once.", "将签发新的密钥，旧密钥立即失效。";
    revoke: "Revoke", "撤销";
    remove: "Remove", "移除";
    remove_text: "The key, its name and its limits are removed. Without any key, everyone may use the API.", "将移除密钥及其名称和限制。没有任何密钥时，所有人都可以使用 API。";
    did_add: "The key of {} is {} – copy it now, it is not shown again.", "{} 的密钥是 {}，请立即复制，之后不再显示。";
    did_revoke: "{} is revoked.", "已撤销 {}。";
    did_remove: "{} is removed.", "已移除 {}。";
    wrong_name: "The name must have 1 to 64 characters.", "名称须为 1 至 64 个字符。";
    taken: "A key with this name exists already.", "已有同名的密钥。";
    wrong_endpoint: "“{}” is not an endpoint.", "“{}”不是接口。";
    wrong_site: "“{}” is not a site: enter a host name such as www.example.org.", "“{}”不是网站：请填写主机名，例如 www.example.org。";
    wrong_rate: "The rate must be a number from 1 to {}.", "每秒请求数须为 1 至 {} 的数字。";
    wrong_until: "Invalid end: write it as 2026-01-31 or 2026-01-31T12:00.", "结束时间无效：请写成 2026-01-31 或 2026-01-31T12:00 的形式。";
    full: "There are too many keys or sites.", "密钥或网站太多。";
    missing: "No key has this name.", "没有这个名称的密钥。";
    failed: "Not saved: {}", "未保存：{}";
} }

#[cfg(test)]
mod tests {
    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(super::TABLE);
    }
}
