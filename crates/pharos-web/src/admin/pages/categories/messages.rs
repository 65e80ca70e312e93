//! Texts of the page of categories.

use crate::messages::messages;

messages! { CategoryMessages {
    intro: "Categories put pages into a directory that visitors can browse, and into a filter of the results. Make a tree, give examples, train a model, and deploy it.",
        "分类把网页组织成可供浏览的目录，并用作搜索结果的筛选条件。步骤：建立分类树，提供示例，训练模型，然后启用。";
    deployed: "Model {} is deployed: pages get their category when they are read.", "模型 {} 已启用：读取网页时即确定其类别。";
    no_taxonomy: "There is no taxonomy yet. Install the starter taxonomy, or add categories below.", "还没有分类体系。可以安装入门分类体系，或在下方添加类别。";
    no_model: "There is no model yet: add examples, then train.", "还没有模型：请添加示例，然后训练。";
    not_deployed: "No model is deployed: deploy one below.", "尚未启用模型：请在下方启用一个。";
    install_starter: "Install the starter taxonomy", "安装入门分类体系";
    starter_hint: "40 categories in English and Chinese with training texts.", "40 个中英文类别，附训练文本。";
    train: "Train a model", "训练模型";
    is_training: "A training is running.", "正在训练。";
    trained: "The last training made version {}.", "最近一次训练生成了版本 {}。";
    not_trained: "The last training failed: {}", "最近一次训练失败：{}";
    apply: "Classify all pages", "为全部网页分类";
    apply_hint: "Builds the index again from the stored pages. New pages are classified in any case.", "根据已保存的网页重建索引。新抓取的网页会自动分类。";
    is_building: "A build is running.", "正在重建索引。";
    directory: "Directory", "分类目录";
    tree_title: "Tree", "分类树";
    no_categories: "No categories.", "没有类别。";
    category: "Category", "类别";
    id: "Id", "标识";
    examples: "Examples", "示例";
    pages: "Pages", "网页";
    f1: "F1 in the newest model", "最新模型的 F1";
    change: "Change", "修改";
    add_title: "Add a category", "添加类别";
    edit_title: "Change a category", "修改类别";
    id_hint: "Lower-case letters, digits and hyphens. It never changes: pages and examples refer to it.", "小写字母、数字和连字符。标识不可更改：网页和示例都引用它。";
    parent: "Id of the category above (empty: top category)", "上级类别的标识（留空表示顶层类别）";
    name_en: "Name in English", "英文名称";
    name_zh: "Name in Chinese", "中文名称";
    synonyms: "Synonyms, separated by commas", "同义词，用逗号分隔";
    save: "Save", "保存";
    remove: "Remove", "移除";
    examples_title: "Add examples", "添加示例";
    kind: "Kind", "类型";
    kind_text: "texts", "文本";
    kind_url: "URLs of pages", "网页网址";
    kind_section: "sites or sections of sites", "网站或网站栏目";
    kind_search: "searches (the best 200 results)", "搜索（前 200 条结果）";
    values: "Examples, one per line", "示例，每行一个";
    add: "Add", "添加";
    models_title: "Models", "模型";
    no_models: "No models.", "没有模型。";
    version: "Version", "版本";
    trained_at: "Trained at", "训练时间";
    accuracy: "Accuracy", "准确率";
    macro_f1: "Macro F1", "宏平均 F1";
    measured_hint: "Figures come from cross-validation: parts of the examples are classified by models that did not learn from them.",
        "数字来自交叉验证：每一部分示例由没有学过它们的模型来分类。";
    state: "State", "状态";
    is_deployed: "deployed", "已启用";
    deploy: "Deploy", "启用";
    roll_back: "Roll back", "回滚";
    confusions_title: "Confusions of the newest model", "最新模型的混淆";
    right: "Right", "正确类别";
    assigned: "Assigned", "误判类别";
    times: "Times", "次数";
    decisions_title: "Decisions about pages and sites", "对网页和网站的人工分类";
    decisions_hint: "They win over the model, and decisions about pages are also examples. They apply when a page is read, and to all pages after “Classify all pages”.",
        "人工分类优先于模型；对网页的决定同时作为示例。读取网页时生效；点击“为全部网页分类”后对全部网页生效。";
    target: "URL of a page, or host of a site", "网页网址，或网站的主机名";
    category_or_none: "Category (empty: no category)", "类别（留空表示不分类）";
    no_category: "no category", "不分类";
    inactive: "no effect: unknown category", "不生效：没有这个类别";
    by: "Decided by", "操作者";
    at: "Decided at", "时间";
    decide: "Decide", "保存决定";
    actions: "Actions", "操作";

    did_save: "The category has been saved.", "已保存类别。";
    did_remove: "The category has been removed.", "已移除类别。";
    did_examples: "Examples added: {}.", "已添加示例：{} 个。";
    did_train: "The training has begun. Reload this page to see the result.", "训练已开始。刷新本页查看结果。";
    did_deploy: "The model has been deployed. Choose “Classify all pages” to apply it to the stored pages.", "模型已启用。点击“为全部网页分类”即可应用于已保存的网页。";
    did_withdraw: "No model is deployed now.", "现在没有启用的模型。";
    did_apply: "A build has begun; afterwards all pages have their categories.", "已开始重建索引，完成后全部网页都有类别。";
    did_decide: "The decision has been saved.", "已保存决定。";
    did_undecide: "The decision has been removed.", "已移除决定。";
    bad_target: "“{}” is neither the URL of a page nor a host.", "“{}”既不是网页网址，也不是主机名。";
    too_many: "There are too many decisions: remove some first.", "决定太多：请先移除一些。";
    refused: "Not changed: {}", "未修改：{}";
} }

#[cfg(test)]
mod tests {
    #[test]
    fn all_languages_have_the_same_placeholders() {
        crate::messages::assert_same_placeholders(super::TABLE);
    }
}
