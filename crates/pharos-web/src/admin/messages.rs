//! Texts of login, setup, operators and action log.

use super::operators::{MAX_NAME_LENGTH, Role};
use super::password;
use crate::messages::{fill, messages};

messages! { DeskMessages {
    desk: "Operator’s desk", "控制台";
    desk_nav: "Desk pages", "控制台页面";
    to_search: "Search page", "搜索页";
    crawl: "Crawl", "抓取";
    overview: "Overview", "概览";
    sites: "Sites", "网站";
    page_report: "Page report", "网页诊断";
    trouble: "Problems", "问题网页";
    submissions: "Submissions", "提交";
    index: "Index", "索引";
    refresh: "Refresh", "刷新";
    words: "Words", "词典";
    calendar: "Calendar", "日程";
    backup: "Backups", "备份";
    alerts: "Alerts", "警报";
    machine: "Machine", "机器状态";
    queries: "Queries", "查询";
    insight: "Insight", "行为分析";
    curation: "Curation", "结果干预";
    categories: "Categories", "分类";
    settings: "Settings", "设置";
    logs: "Logs", "日志";
    keys: "API keys", "API 密钥";
    operators: "Operators", "管理员";
    record: "Action log", "操作日志";
    glossary: "Glossary", "术语表";

    logged_in_as: "Logged in as", "当前登录";
    account: "My account", "我的账户";
    log_in: "Log in", "登录";
    log_out: "Log out", "退出登录";
    name: "Name", "用户名";
    password: "Password", "密码";
    password_again: "Repeat password", "再次输入密码";
    role: "Role", "权限";
    role_admin: "Administrator", "管理员（完全权限）";
    role_editor: "Editor", "编辑";
    role_analyst: "Analyst", "分析员";
    role_viewer: "Viewer", "查看者";
    roles_hint: "Administrators may do everything. Editors change curation. Analysts read everything, including logs. Viewers see the state of the engine.",
        "管理员可以进行所有操作；编辑可以干预搜索结果；分析员可以查看包括日志在内的全部内容；查看者只能查看引擎状态。";
    set_role: "Change role", "更改权限";
    role_of: "Role of {}", "{} 的权限";
    actions: "Actions", "操作";

    login_title: "Log in to the operator’s desk", "登录控制台";
    login_wrong: "Wrong name or password.", "用户名或密码错误。";
    login_new: "This desk has no operator yet.", "控制台还没有管理员。";
    login_set_up: "Set it up", "开始设置";
    too_many_tries: "Too many attempts. Please wait {} seconds.", "尝试次数过多，请等待 {} 秒后再试。";
    session_over_title: "Please log in again", "请重新登录";
    session_over_text: "Your session has ended. Nothing was changed. After you log in again, the form contains what you had typed.",
        "您的登录已失效，操作没有执行。重新登录后，表单中会保留您填写的内容。";
    session_is_over: "Your session has ended. What you typed on this page is kept.", "您的登录已失效。您在本页填写的内容会保留。";
    typed_text_restored: "What you had typed was restored. It has not been saved yet.", "已恢复您填写的内容，尚未保存。";

    setup_title: "Set up the operator’s desk", "设置控制台";
    setup_text: "The first operator has full access and can add others later.", "第一位管理员拥有完全权限，之后可以添加其他管理员。";
    setup_code: "Setup code", "设置码";
    setup_code_hint: "Pharos prints it at startup, in the terminal or the log.", "Pharos 启动时会在终端或日志中显示。";
    setup_wrong_code: "Wrong setup code.", "设置码不正确。";
    setup_expired: "The setup code has expired. Restart Pharos to get a new one.", "设置码已失效。请重新启动 Pharos 以获得新的设置码。";
    setup_do: "Set up", "完成设置";

    name_hint: "The name must have 1 to {} characters.", "用户名须为 1 至 {} 个字符。";
    password_hint: "{} to {} characters, different from the name.", "{} 至 {} 个字符，且不能与用户名相同。";
    password_differs: "The passwords do not match.", "两次输入的密码不一致。";
    no_such_role: "No such role.", "没有这种权限。";

    operators_intro: "Accounts that may use this desk. Changing a role or password logs the operator out.", "可以使用控制台的账户。权限或密码改变后，该管理员需要重新登录。";
    created: "Added", "添加时间";
    you: "you", "您";
    add_title: "Add an operator", "添加管理员";
    add_do: "Add", "添加";
    set_password: "Set password", "设置密码";
    new_password: "New password", "新密码";
    new_password_for: "New password for {}", "{} 的新密码";
    remove: "Remove", "移除";
    remove_sure: "Remove {}? The operator is logged out at once.", "移除 {}？该管理员会立即退出登录。";
    operator_added: "{} is now an operator.", "已添加管理员 {}。";
    operator_removed: "{} is no longer an operator.", "已移除管理员 {}。";
    operator_role_set: "{}: {}", "{}：{}";
    operator_password_set: "The password of {} has been changed.", "已更改 {} 的密码。";
    name_taken: "An operator with this name already exists.", "已经有同名的管理员。";
    no_such_operator: "No operator has this name.", "没有这个管理员。";
    last_full: "This is the last operator with full access: give another one full access first.",
        "这是最后一位拥有完全权限的管理员：请先为另一位管理员授予完全权限。";
    too_many_operators: "The limit of {} operators is reached.", "管理员数量已达上限 {} 位。";

    account_intro: "Changing your password ends your sessions on all other devices.", "更改密码后，您在其他设备上的登录都会失效。";
    current_password: "Current password", "当前密码";
    current_wrong: "The current password is wrong.", "当前密码错误。";
    change_password: "Change password", "更改密码";
    password_changed: "Your password has been changed.", "密码已更改。";

    record_intro: "All actions on this desk, executed and refused, newest first.", "控制台上执行过和被拒绝的所有操作，最新的在前。";
    record_filter: "Filter", "筛选";
    record_who: "Operator", "管理员";
    record_action: "Action begins with", "操作名称开头";
    record_text: "Text", "包含文字";
    record_show: "Show", "显示";
    record_all: "Show all", "显示全部";
    record_at: "Time", "时间";
    record_from: "Address", "来源地址";
    record_did: "Action", "操作";
    record_what: "Object", "对象";
    record_outcome: "Outcome", "结果";
    record_done: "done", "完成";
    record_unknown: "unknown", "未知";
    record_none: "No entries.", "没有记录。";
    record_incomplete: "Older entries were not searched. A narrower filter reaches further back.", "更早的记录没有查找。缩小筛选范围可以查到更早的记录。";
    newer: "Newer", "较新";
    older: "Older", "较早";

    no_title: "Not allowed", "操作没有执行";
    no_other_site: "The form was sent by a page of another site.", "这个表单来自其他网站的网页。";
    no_forged: "The form does not belong to your session. Go back, reload the page and try again.", "这个表单不属于当前登录。请返回并重新加载网页后再试。";
    no_permission: "Your role does not permit this: {}.", "您的权限不允许此操作：{}。";

    missing_title: "Page not found", "页面不存在";
    missing_text: "Choose a page from the navigation.", "请从导航中选择其他页面。";
    locked_title: "The desk is locked", "控制台已锁定";
    locked_text: "The file desk/operators.json in the data directory cannot be used; the log says why. Restore it, or delete it and \
        restart Pharos to set up the desk again.",
        "数据目录中的 desk/operators.json 文件无法使用，原因见日志。请恢复该文件，或者删除它并重新启动 Pharos，再次设置控制台。";
    denied_title: "The desk is not available here", "此处不能使用控制台";
    denied_not_allowed: "The desk is open only to the addresses in the setting desk.allow, and {} is not one of them. Open it on the \
        machine itself, use a tunnel (ssh -L), or add your address to desk.allow.",
        "控制台只对设置项 desk.allow 中的地址开放，而 {} 不在其中。请在本机上打开，或通过隧道（ssh -L）访问，或将您的地址加入 desk.allow。";
    denied_undeclared_proxy: "This request came through a proxy, so your address is unknown. If the proxy is yours, set \
        add its address to web.behind_proxy and yours to desk.allow.",
        "这个请求由代理转发，无法确定您的地址。如果代理是您自己的，请将它的地址加入 web.behind_proxy，并将您的地址加入 desk.allow。";
    denied_unclear_proxy: "The proxy does not report your address. It must set the header X-Forwarded-For.",
        "代理没有提供您的地址。它必须设置 X-Forwarded-For 请求头。";
    denied_foreign_host: "The host name in the URL is not known to this server. Use localhost or 127.0.0.1, or set web.base_url.",
        "网址中的主机名不属于本机。请使用 localhost 或 127.0.0.1，或设置 web.base_url。";
    denied_unknown_address: "The address of this request is unknown.", "无法确定这个请求的来源地址。";
} }

impl DeskMessages {
    /// Returns the name of a role.
    pub(super) fn role(&self, role: Role) -> &'static str {
        match role {
            Role::Admin => self.role_admin,
            Role::Editor => self.role_editor,
            Role::Analyst => self.role_analyst,
            Role::Viewer => self.role_viewer,
        }
    }

    /// Returns the rule for names.
    pub(super) fn name_rule(&self) -> String {
        fill(self.name_hint, &[&MAX_NAME_LENGTH.to_string()])
    }

    /// Returns the rule for passwords.
    pub(super) fn password_rule(&self) -> String {
        fill(self.password_hint, &[&password::MIN_LENGTH.to_string(), &password::MAX_LENGTH.to_string()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(TABLE);
    }
}
