//! The words of the desk, beside those of all pages.

use super::operators::{LONGEST_NAME, Role};
use super::password;
use crate::words::{fill, words};

words! { DeskWords {
    desk: "Operator’s desk", "管理台";
    desk_nav: "Pages of the desk", "管理台页面";
    to_search: "Search page", "搜索页";
    crawl: "Crawl", "抓取";
    overview: "Overview", "概览";
    sites: "Sites", "网站";
    page_story: "Page story", "网页经历";
    trouble: "Trouble", "故障";
    submissions: "Submissions", "提交";
    index: "Index", "索引";
    machine: "Machine", "机器";
    queries: "Queries", "查询";
    settings: "Settings", "设置";
    logs: "Logs", "日志";
    operators: "Operators", "操作员";
    record: "Record", "操作记录";

    logged_in_as: "Logged in as", "当前登录";
    account: "My account", "我的账户";
    log_in: "Log in", "登录";
    log_out: "Log out", "退出登录";
    name: "Name", "名称";
    password: "Password", "密码";
    password_again: "Password, once more", "再次输入密码";
    role: "Role", "权限";
    role_full: "May do everything", "可以进行所有操作";
    role_read_only: "May only look", "只能查看";
    actions: "Actions", "操作";

    login_title: "Log in to the operator’s desk", "登录管理台";
    login_wrong: "Name or password is wrong.", "名称或密码错误。";
    login_new: "This desk has no operator yet.", "这个管理台还没有操作员。";
    login_set_up: "Set it up", "开始设置";
    too_many_tries: "Too many tries. Please wait {} seconds.", "尝试次数过多，请等待 {} 秒后再试。";
    session_over_title: "Please log in again", "请重新登录";
    session_over_text: "Your session has ended. Nothing was done.", "您的登录已失效，操作没有执行。";

    setup_title: "Set up the operator’s desk", "设置管理台";
    setup_text: "The first operator may do everything, and can name others later.", "第一位操作员可以进行所有操作，之后可以添加其他操作员。";
    setup_code: "Setup code", "设置码";
    setup_code_hint: "Pharos said it when it started, in the terminal or the log.", "Pharos 启动时显示在终端或日志中。";
    setup_wrong_code: "This is not the setup code.", "设置码不正确。";
    setup_spent: "The setup code was used. Start Pharos anew to get another.", "设置码已经使用过。请重新启动 Pharos 以获得新的设置码。";
    setup_do: "Set up", "完成设置";

    name_hint: "A name has 1 to {} characters.", "名称为 1 至 {} 个字符。";
    password_hint: "{} to {} characters, and not the name.", "{} 至 {} 个字符，且不能与名称相同。";
    password_differs: "The two passwords are not the same.", "两次输入的密码不一致。";
    no_such_role: "There is no such role.", "没有这种权限。";

    operators_intro: "Who may use this desk. Who gets another role or password is logged out.", "可以使用管理台的人。权限或密码改变后需要重新登录。";
    created: "Since", "添加时间";
    you: "you", "您";
    add_title: "Add an operator", "添加操作员";
    add_do: "Add", "添加";
    make_full: "Let do everything", "允许所有操作";
    make_read_only: "Let only look", "改为只能查看";
    set_password: "Set password", "设置密码";
    new_password: "New password", "新密码";
    new_password_for: "New password for {}", "{} 的新密码";
    remove: "Remove", "移除";
    remove_sure: "Remove {}? They are logged out at once.", "移除 {}？此人会立即退出登录。";
    operator_added: "{} is an operator now.", "已添加操作员 {}。";
    operator_removed: "{} is no longer an operator.", "已移除操作员 {}。";
    operator_role_set: "{}: {}", "{}：{}";
    operator_password_set: "{} has a new password.", "已更改 {} 的密码。";
    name_taken: "There is an operator of that name.", "已经有同名的操作员。";
    no_such_operator: "There is no operator of that name.", "没有这个操作员。";
    last_full: "Without this operator nobody could change anything any more: name another who may do everything first.",
        "如果没有这位操作员，就没有人可以进行操作了：请先添加另一位可以进行所有操作的操作员。";
    too_many_operators: "There are {} operators already.", "操作员已达 {} 位。";

    account_intro: "Another password logs you out everywhere else.", "更改密码后，其他地方的登录都会失效。";
    current_password: "Current password", "当前密码";
    current_wrong: "The current password is wrong.", "当前密码错误。";
    change_password: "Change password", "更改密码";
    password_changed: "Your password is changed.", "密码已更改。";

    record_intro: "Everything that was done at this desk, or refused, the newest first.", "管理台上进行过的和被拒绝的所有操作，最新的在前。";
    record_filter: "Filter", "筛选";
    record_who: "Who", "操作员";
    record_action: "Action begins with", "操作名称开头";
    record_text: "Text", "文字";
    record_show: "Show", "显示";
    record_all: "Show all", "显示全部";
    record_at: "When", "时间";
    record_from: "From", "来源地址";
    record_did: "Action", "操作";
    record_what: "What", "对象";
    record_outcome: "Outcome", "结果";
    record_done: "done", "完成";
    record_nobody: "nobody known", "未知";
    record_none: "Nothing here.", "没有记录。";
    record_cut: "Older lines were not looked through. A narrower filter reaches further back.", "更早的记录没有查找。缩小筛选范围可以查到更早的记录。";
    newer: "Newer", "较新";
    older: "Older", "较早";

    no_title: "This was not done", "操作没有执行";
    no_other_site: "The form was sent by a page of another site.", "这个表单来自其他网站的网页。";
    no_forged: "The form does not belong to your session. Go back, load the page anew and try again.", "这个表单不属于当前登录。请返回并重新加载网页后再试。";
    no_read_only: "You may look at everything here, but not change anything.", "您只能查看，不能进行更改。";

    missing_title: "There is no such page", "没有这个页面";
    missing_text: "Choose another from the list.", "请从列表中选择其他页面。";
    locked_title: "The desk is locked", "管理台已锁定";
    locked_text: "The file desk/operators.json in the data directory cannot be used. The log says what is wrong with it. Restore \
        it, or remove it and start Pharos anew to set up the desk again.",
        "数据目录中的 desk/operators.json 文件无法使用，原因见日志。请恢复该文件，或者删除它并重新启动 Pharos，再次设置管理台。";
    away_title: "The desk does not answer here", "此处不能使用管理台";
    away_not_allowed: "It answers only to the addresses that the setting desk.allow names, and {} is none of them. Open it on the \
        machine itself, through a tunnel (ssh -L), or add your address to desk.allow.",
        "管理台只对设置项 desk.allow 中的地址开放，而 {} 不在其中。请在本机上打开，或通过隧道（ssh -L）访问，或将您的地址加入 desk.allow。";
    away_untold_proxy: "A proxy passed this request on, so nobody knows where you come from. If the proxy is yours, set \
        web.behind_proxy = true, and name your address in desk.allow.",
        "这个请求由代理转发，无法知道您的地址。如果代理是您自己的，请设置 web.behind_proxy = true，并将您的地址写入 desk.allow。";
    away_unclear_proxy: "The proxy in front does not say where you come from. It must set the header X-Forwarded-For.",
        "前面的代理没有说明您的地址。它必须设置 X-Forwarded-For 请求头。";
    away_strange_host: "This machine is not known by the name in the address. Use localhost or 127.0.0.1, or set web.base_url.",
        "地址中的名称不属于本机。请使用 localhost 或 127.0.0.1，或设置 web.base_url。";
    away_nowhere: "Nobody knows where this request comes from.", "无法知道这个请求来自哪里。";
} }

impl DeskWords {
    /// What a role is called.
    pub(super) fn role(&self, role: Role) -> &'static str {
        match role {
            Role::Full => self.role_full,
            Role::ReadOnly => self.role_read_only,
        }
    }

    /// What a name must be.
    pub(super) fn told_name(&self) -> String {
        fill(self.name_hint, &[&LONGEST_NAME.to_string()])
    }

    /// What a password must be.
    pub(super) fn told_password(&self) -> String {
        fill(self.password_hint, &[&password::SHORTEST.to_string(), &password::LONGEST.to_string()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_phrase_has_the_same_places_for_values_in_every_language() {
        crate::words::assert_same_places(TABLE);
    }
}
