//! Produces the terms of one normalised line.

use std::borrow::Cow;
use std::ops::Range;

use super::mixed::mixed_words;
use super::{TokenView, runs};
use crate::analyser::stem::StemCache;
use crate::analyser::tokenise::{SIGNS, for_each_word};
use crate::dictionary::Lexicon;
use crate::segment::hybrid::{Extension, Scoreboard};
use crate::segment::{Hmm, Segmenter as _, SegmenterBuffers, UnigramHmm};

/// Buffers that are reused from line to line.
#[derive(Default)]
pub(super) struct LineBuffers {
    work: SegmenterBuffers,
    ends: Vec<usize>,
    board: Scoreboard,
    stems: StemCache,
}

/// Receives each term with its span and position.
pub(super) trait Emit: FnMut(&str, Range<usize>, usize) {}

impl<F: FnMut(&str, Range<usize>, usize)> Emit for F {}

/// A normalised line with the dictionaries that are used to segment it.
pub(super) struct LineAnalyser<'a> {
    pub(super) text: &'a str,
    pub(super) lexicon: Lexicon<'a>,
    pub(super) extension: &'a Extension,
}

/// A term that overlays other terms: a mixed-script word or a name.
struct OverlayTerm<'a> {
    span: Range<usize>,
    term: Cow<'a, str>,
}

impl LineAnalyser<'_> {
    /// Emits all terms of a view and returns the position after the line.
    pub(super) fn emit_terms(
        &self,
        view: TokenView,
        position: usize,
        buffers: &mut LineBuffers,
        emit: &mut impl Emit,
    ) -> usize {
        match view {
            TokenView::Smallest => self.emit_range(0..self.text.len(), view, &[], position, buffers, emit),
            TokenView::Index => {
                let mut over: Vec<OverlayTerm<'_>> = Vec::new();
                let mixed = mixed_words(self.text, &self.lexicon).into_iter();
                over.extend(mixed.map(|span| OverlayTerm { term: self.text[span.clone()].into(), span }));
                for name in self.extension.occurrences(self.text, &mut buffers.board) {
                    over.push(OverlayTerm { term: name.term(self.text).into(), span: name.start..name.end });
                }
                over.sort_by_key(|over| over.span.start);
                self.emit_range(0..self.text.len(), view, &over, position, buffers, emit)
            }
            TokenView::Best if self.extension.is_empty() => self.emit_best(position, buffers, emit),
            TokenView::Best => self.emit_with_names(position, buffers, emit),
        }
    }

    /// Emits the best segmentation: mixed-script words and the text between them.
    fn emit_best(&self, mut position: usize, buffers: &mut LineBuffers, emit: &mut impl Emit) -> usize {
        let mut mixed = mixed_words(self.text, &self.lexicon);
        // Of overlapping words the first and longest is kept.
        mixed.sort_unstable_by_key(|word| (word.start, usize::MAX - word.end));
        let mut at = 0;
        for word in mixed {
            if word.start < at {
                continue;
            }
            position = self.emit_range(at..word.start, TokenView::Best, &[], position, buffers, emit);
            emit(&self.text[word.clone()], word.clone(), position);
            position =
                self.emit_range(word.clone(), TokenView::Smallest, &[], position, buffers, &mut |_, _, _| {});
            at = word.end;
        }
        self.emit_range(at..self.text.len(), TokenView::Best, &[], position, buffers, emit)
    }

    /// Emits the best segmentation, with names in place of the words they cover.
    fn emit_with_names(&self, position: usize, buffers: &mut LineBuffers, emit: &mut impl Emit) -> usize {
        let mut words: Vec<(String, Range<usize>, usize)> = Vec::new();
        let after = self.emit_best(position, buffers, &mut |term: &str, span: Range<usize>, position| {
            words.push((term.to_string(), span, position));
        });
        // Text between two words is a separate piece.
        let mut ends: Vec<usize> = words.iter().flat_map(|(_, span, _)| [span.start, span.end]).collect();
        ends.dedup();
        ends.retain(|end| *end > 0);
        let mut words = words.into_iter().peekable();
        for piece in self.extension.forward_maximum(self.text, &ends, &mut buffers.board) {
            while let Some((term, span, position)) = words.next_if(|(_, span, _)| span.start < piece.end) {
                if piece.words == 0 {
                    emit(&term, span, position);
                } else if span.start == piece.start {
                    emit(&piece.term(self.text), piece.start..piece.end, position);
                }
            }
        }
        after
    }

    /// Emits the terms of a part of the line. An overlay term is emitted where it begins.
    fn emit_range(
        &self,
        stretch: Range<usize>,
        view: TokenView,
        over: &[OverlayTerm<'_>],
        mut position: usize,
        buffers: &mut LineBuffers,
        emit: &mut impl Emit,
    ) -> usize {
        let mut over = over.iter().peekable();
        let mut at = stretch.start;
        for (run, is_han) in runs(&self.text[stretch]) {
            let mut emit = |term: &str, span: Range<usize>, position: usize| {
                let span = at + span.start..at + span.end;
                while let Some(over) = over.next_if(|over| over.span.start <= span.start) {
                    emit(&over.term, over.span.clone(), position);
                }
                emit(term, span, position);
            };
            position = match (is_han, view) {
                (true, TokenView::Best) => self.emit_best_words(run, position, buffers, &mut emit),
                (true, TokenView::Index) => self.emit_every_word(run, position, &mut emit),
                (true, TokenView::Smallest) => emit_characters(run, position, &mut emit),
                (false, _) => emit_other_words(run, view, position, &mut buffers.stems, &mut emit),
            };
            at += run.len();
        }
        position
    }

    fn emit_best_words(
        &self,
        run: &str,
        mut position: usize,
        buffers: &mut LineBuffers,
        emit: &mut impl Emit,
    ) -> usize {
        let LineBuffers { work, ends, .. } = buffers;
        ends.clear();
        UnigramHmm::new(self.lexicon, Hmm::shipped()).segment(run, work, ends);
        let mut start = 0;
        for end in ends.iter().copied() {
            emit(&run[start..end], start..end, position);
            position += run[start..end].chars().count();
            start = end;
        }
        position
    }

    fn emit_every_word(&self, run: &str, mut position: usize, emit: &mut impl Emit) -> usize {
        for (start, c) in run.char_indices() {
            let end = start + c.len_utf8();
            emit(&run[start..end], start..end, position);
            for len in self.lexicon.ends_at(&run[start..]).filter(|len| start + len > end) {
                emit(&run[start..start + len], start..start + len, position);
            }
            position += 1;
        }
        position
    }
}

fn emit_characters(run: &str, mut position: usize, emit: &mut impl Emit) -> usize {
    for (start, c) in run.char_indices() {
        let end = start + c.len_utf8();
        emit(&run[start..end], start..end, position);
        position += 1;
    }
    position
}

fn emit_other_words(
    run: &str,
    view: TokenView,
    mut position: usize,
    stems: &mut StemCache,
    emit: &mut impl Emit,
) -> usize {
    for_each_word(run, |word| {
        let whole = word.whole(run).map(|term| (term, word.span.clone()));
        let parts = word.parts.iter().map(|part| (&run[part.clone()], part.clone())).zip(position..);
        match (view, whole) {
            (TokenView::Best, Some((term, span))) => emit(term, span, position),
            // A signed name (C++) is not reduced to its part in the smallest view.
            (TokenView::Smallest, Some((term, span))) if word.is_signed() => emit(term, span, position),
            (TokenView::Best | TokenView::Smallest, _) => {
                parts.for_each(|((term, span), place)| emit(term, span, place));
            }
            (TokenView::Index, whole) => {
                // The signed form is emitted with its part. A leading dot (.NET) comes first, as in the text.
                let mut whole = whole.filter(|_| !word.is_signed());
                for ((term, span), place) in parts {
                    if let Some(dotted) = dotted(run, &span) {
                        emit(&run[dotted.clone()], dotted, place);
                    }
                    if let Some((term, span)) = whole.take() {
                        emit(term, span, place);
                    }
                    emit_every_form(run, term, span, place, stems, emit);
                }
            }
        }
        position += word.parts.len();
    });
    position
}

/// Returns the range of a part of a name including the dot before it: .NET, also in ASP.NET.
fn dotted(run: &str, part: &Range<usize>) -> Option<Range<usize>> {
    let is_dotted =
        run[..part.start].ends_with('.') && run[part.clone()].bytes().all(|b| b.is_ascii_alphabetic());
    is_dotted.then(|| part.start - 1..part.end)
}

/// Emits all indexed forms of a part of a name: the part, the part with each sign that follows it in any
/// context (C++ in Objective-C++), and the stem.
fn emit_every_form(
    run: &str,
    term: &str,
    span: Range<usize>,
    position: usize,
    stems: &mut StemCache,
    emit: &mut impl Emit,
) {
    emit(term, span.clone(), position);
    let signs = SIGNS.into_iter().filter(|sign| run[span.end..].starts_with(sign));
    for sign in signs.filter(|_| term.bytes().all(|b| b.is_ascii_alphabetic())) {
        let signed = span.start..span.end + sign.len();
        emit(&run[signed.clone()], signed, position);
    }
    if let Some(stem) = stems.term(term) {
        emit(stem, span, position);
    }
}
