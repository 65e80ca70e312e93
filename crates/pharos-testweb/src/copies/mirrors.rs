//! Pages of a mirror: the same text, with the links of the mirror.

use super::{PlannedCopy, TextEdit};
use crate::model::{
    ContentBlock, Lang, LinkTarget, PageDraft, PageKind, PageLink, PlannedPage, Spelling, TextSpan, Web,
};
use crate::truth::is_allowed;

/// Turns the content of a page into that of its mirror.
pub(super) fn adapt_links(
    web: &Web,
    page: &PlannedPage,
    copy: PlannedCopy,
    mut draft: PageDraft,
) -> PageDraft {
    let mirrored = web.page(copy.of).host;
    let retarget = |link: &mut PageLink, in_text: bool| {
        let LinkTarget::Page(to) = link.to else { return };
        let target = web.page(to);
        if target.host != mirrored || (in_text && stays_with_original(web, target, link.spelling)) {
            return;
        }
        if let Some(own) = web.page_at(page.host, &target.path) {
            link.to = LinkTarget::Page(own);
        }
    };
    for block in &mut draft.blocks {
        match block {
            ContentBlock::Paragraph(spans) => {
                for span in spans {
                    if let TextSpan::Link(link) = span {
                        retarget(link, true);
                    }
                }
            }
            ContentBlock::Links(items) => items.iter_mut().for_each(|(link, _)| retarget(link, false)),
            ContentBlock::Pager(links) | ContentBlock::Frames(links) => {
                links.iter_mut().for_each(|link| retarget(link, false));
            }
            ContentBlock::Heading(_)
            | ContentBlock::Facts(_)
            | ContentBlock::Steps(_)
            | ContentBlock::Quote(_)
            | ContentBlock::Picture { .. } => {}
        }
    }
    draft.related.iter_mut().for_each(|link| retarget(link, false));
    if copy.edit == TextEdit::Banner {
        draft.blocks.insert(0, banner(page.lang, &web.hosts[mirrored as usize].name));
    }
    draft
}

/// Returns `true` if a mirror keeps a link to the original: it rewrites menus and lists, but not absolute URLs in
/// texts. Pages in no list must be linked all the same, or they would be unreachable on the mirror.
fn stays_with_original(web: &Web, target: &PlannedPage, spelling: Spelling) -> bool {
    let absolute = matches!(spelling, Spelling::Absolute | Spelling::Capitals);
    let listed = matches!(target.kind, PageKind::Home | PageKind::Article | PageKind::Table)
        && target.duplicate_of.is_none()
        && target.canonical.is_none()
        && is_allowed(web, target);
    absolute && listed
}

fn banner(lang: Lang, host: &str) -> ContentBlock {
    let text = match lang {
        Lang::En => format!("This is a mirror of {host}, renewed every day."),
        Lang::Zh => format!("本站是{host}的镜像，内容每日更新。"),
    };
    ContentBlock::Paragraph(vec![TextSpan::Text(text)])
}
