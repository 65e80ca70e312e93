//! Pages of a mirror: the same text, with the links of the mirror.

use super::{Edit, PlannedCopy};
use crate::model::{Block, Draft, Lang, Link, Page, PageKind, Span, Spelling, Target, Web};
use crate::truth::is_allowed;

/// Turns the content of a page into that of its mirror.
pub(super) fn settle(web: &Web, page: &Page, copy: PlannedCopy, mut draft: Draft) -> Draft {
    let mirrored = web.page(copy.of).host;
    let lead_home = |link: &mut Link, in_text: bool| {
        let Target::Page(to) = link.to else { return };
        let target = web.page(to);
        if target.host != mirrored || (in_text && stays_with_original(web, target, link.spelling)) {
            return;
        }
        if let Some(own) = web.page_at(page.host, &target.path) {
            link.to = Target::Page(own);
        }
    };
    for block in &mut draft.blocks {
        match block {
            Block::Paragraph(spans) => {
                for span in spans {
                    if let Span::Link(link) = span {
                        lead_home(link, true);
                    }
                }
            }
            Block::Links(items) => items.iter_mut().for_each(|(link, _)| lead_home(link, false)),
            Block::Pager(links) | Block::Frames(links) => {
                links.iter_mut().for_each(|link| lead_home(link, false));
            }
            Block::Heading(_)
            | Block::Facts(_)
            | Block::Steps(_)
            | Block::Quote(_)
            | Block::Picture { .. } => {}
        }
    }
    draft.related.iter_mut().for_each(|link| lead_home(link, false));
    if copy.edit == Edit::Banner {
        draft.blocks.insert(0, banner(page.lang, &web.hosts[mirrored as usize].name));
    }
    draft
}

/// Returns `true` if a mirror keeps a link to the original: it rewrites menus and lists, but not absolute URLs in
/// texts. Pages in no list must be linked all the same, or they would be unreachable on the mirror.
fn stays_with_original(web: &Web, target: &Page, spelling: Spelling) -> bool {
    let absolute = matches!(spelling, Spelling::Absolute | Spelling::Capitals);
    let listed = matches!(target.kind, PageKind::Home | PageKind::Article | PageKind::Table)
        && target.duplicate_of.is_none()
        && target.canonical.is_none()
        && is_allowed(web, target);
    absolute && listed
}

fn banner(lang: Lang, host: &str) -> Block {
    let text = match lang {
        Lang::En => format!("This is a mirror of {host}, renewed every day."),
        Lang::Zh => format!("本站是{host}的镜像，内容每日更新。"),
    };
    Block::Paragraph(vec![Span::Text(text)])
}
