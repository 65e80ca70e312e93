//! A normalised line, cut into terms.

use std::borrow::Cow;
use std::ops::Range;

use super::mixed::mixed_words;
use super::{View, runs};
use crate::dictionary::Lexicon;
use crate::segment::hybrid::{Extension, Scoreboard};
use crate::segment::{Hmm, Segmenter as _, UnigramHmm, Work};
use crate::stem::Stems;
use crate::tokenise::{SIGNS, for_each_word};

/// What is kept from one line to the next.
#[derive(Default)]
pub(super) struct Buffers {
    work: Work,
    ends: Vec<usize>,
    board: Scoreboard,
    stems: Stems,
}

/// Takes terms as they are found: the term, its place, its position.
pub(super) trait Emit: FnMut(&str, Range<usize>, usize) {}

impl<F: FnMut(&str, Range<usize>, usize)> Emit for F {}

/// A line and the words it is cut with.
pub(super) struct Line<'a> {
    pub(super) text: &'a str,
    pub(super) lexicon: Lexicon<'a>,
    pub(super) extension: &'a Extension,
}

/// A term that lies over others: a word of two scripts, a name.
struct Over<'a> {
    span: Range<usize>,
    term: Cow<'a, str>,
}

impl Line<'_> {
    /// Gives all terms of a view, and the position of what follows the line.
    pub(super) fn terms(
        &self,
        view: View,
        position: usize,
        buffers: &mut Buffers,
        emit: &mut impl Emit,
    ) -> usize {
        match view {
            View::Finest => self.stretch(0..self.text.len(), view, &[], position, buffers, emit),
            View::Everything => {
                let mut over: Vec<Over<'_>> = Vec::new();
                let mixed = mixed_words(self.text, &self.lexicon).into_iter();
                over.extend(mixed.map(|span| Over { term: self.text[span.clone()].into(), span }));
                for name in self.extension.occurrences(self.text, &mut buffers.board) {
                    over.push(Over { term: name.term(self.text).into(), span: name.start..name.end });
                }
                over.sort_by_key(|over| over.span.start);
                self.stretch(0..self.text.len(), view, &over, position, buffers, emit)
            }
            View::BestCut if self.extension.is_empty() => self.best_cut(position, buffers, emit),
            View::BestCut => self.names(position, buffers, emit),
        }
    }

    /// The best cut: words of two scripts, and what stands between them.
    fn best_cut(&self, mut position: usize, buffers: &mut Buffers, emit: &mut impl Emit) -> usize {
        let mut mixed = mixed_words(self.text, &self.lexicon);
        // Of words that overlap, the first and longest stays.
        mixed.sort_unstable_by_key(|word| (word.start, usize::MAX - word.end));
        let mut at = 0;
        for word in mixed {
            if word.start < at {
                continue;
            }
            position = self.stretch(at..word.start, View::BestCut, &[], position, buffers, emit);
            emit(&self.text[word.clone()], word.clone(), position);
            position = self.stretch(word.clone(), View::Finest, &[], position, buffers, &mut |_, _, _| {});
            at = word.end;
        }
        self.stretch(at..self.text.len(), View::BestCut, &[], position, buffers, emit)
    }

    /// The best cut with names in place of the words they cover.
    fn names(&self, position: usize, buffers: &mut Buffers, emit: &mut impl Emit) -> usize {
        let mut words: Vec<(String, Range<usize>, usize)> = Vec::new();
        let after = self.best_cut(position, buffers, &mut |term: &str, span: Range<usize>, position| {
            words.push((term.to_string(), span, position));
        });
        // What stands between words is a piece of its own.
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

    /// Cuts a part of the line. What lies over it is given where it begins.
    fn stretch(
        &self,
        stretch: Range<usize>,
        view: View,
        over: &[Over<'_>],
        mut position: usize,
        buffers: &mut Buffers,
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
                (true, View::BestCut) => self.best_words(run, position, buffers, &mut emit),
                (true, View::Everything) => self.every_word(run, position, &mut emit),
                (true, View::Finest) => characters(run, position, &mut emit),
                (false, _) => other_words(run, view, position, &mut buffers.stems, &mut emit),
            };
            at += run.len();
        }
        position
    }

    fn best_words(
        &self,
        run: &str,
        mut position: usize,
        buffers: &mut Buffers,
        emit: &mut impl Emit,
    ) -> usize {
        let Buffers { work, ends, .. } = buffers;
        ends.clear();
        UnigramHmm::new(self.lexicon, Hmm::shipped()).cut(run, work, ends);
        let mut start = 0;
        for end in ends.iter().copied() {
            emit(&run[start..end], start..end, position);
            position += run[start..end].chars().count();
            start = end;
        }
        position
    }

    fn every_word(&self, run: &str, mut position: usize, emit: &mut impl Emit) -> usize {
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

fn characters(run: &str, mut position: usize, emit: &mut impl Emit) -> usize {
    for (start, c) in run.char_indices() {
        let end = start + c.len_utf8();
        emit(&run[start..end], start..end, position);
        position += 1;
    }
    position
}

fn other_words(run: &str, view: View, mut position: usize, stems: &mut Stems, emit: &mut impl Emit) -> usize {
    for_each_word(run, |word| {
        let whole = word.whole(run).map(|term| (term, word.span.clone()));
        let parts = word.parts.iter().map(|part| (&run[part.clone()], part.clone())).zip(position..);
        match (view, whole) {
            (View::BestCut, Some((term, span))) => emit(term, span, position),
            // A sign belongs to its name wherever names are asked for by their smallest parts.
            (View::Finest, Some((term, span))) if word.is_signed() => emit(term, span, position),
            (View::BestCut | View::Finest, _) => {
                parts.for_each(|((term, span), place)| emit(term, span, place));
            }
            (View::Everything, whole) => {
                // What a sign makes of a word comes with its part; a dot before all comes first, as it stands.
                let mut whole = whole.filter(|_| !word.is_signed());
                for ((term, span), place) in parts {
                    if let Some(dotted) = dotted(run, &span) {
                        emit(&run[dotted.clone()], dotted, place);
                    }
                    if let Some((term, span)) = whole.take() {
                        emit(term, span, place);
                    }
                    every_form(run, term, span, place, stems, emit);
                }
            }
        }
        position += word.parts.len();
    });
    position
}

/// A part of a name with the dot before it: .NET also in ASP.NET.
fn dotted(run: &str, part: &Range<usize>) -> Option<Range<usize>> {
    let is_dotted =
        run[..part.start].ends_with('.') && run[part.clone()].bytes().all(|b| b.is_ascii_alphabetic());
    is_dotted.then(|| part.start - 1..part.end)
}

/// A part of a name as an index stores it: with every sign behind it, whatever stands around (for C++ in Objective-C++),
/// and with its stem.
fn every_form(
    run: &str,
    term: &str,
    span: Range<usize>,
    position: usize,
    stems: &mut Stems,
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
