//! Character n-grams (2-gram 切分): all overlapping sequences of n adjacent characters. They are not words, but
//! no match is missed.

/// Returns all sequences of `n` adjacent characters. A shorter text is one piece; an empty text has none.
pub fn ngrams(text: &str, n: usize) -> impl Iterator<Item = &str> {
    let n = n.max(1);
    let mut ends = text.char_indices().map(|(at, c)| at + c.len_utf8());
    let mut end = ends.by_ref().take(n).last();
    let mut starts = text.char_indices().map(|(at, _)| at);
    std::iter::from_fn(move || {
        let piece = text.get(starts.next()?..end?);
        end = ends.next();
        piece
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_two_neighbours_make_a_piece() {
        assert!(ngrams("走进搜索引擎", 2).eq(["走进", "进搜", "搜索", "索引", "引擎"]));
        assert!(ngrams("走", 2).eq(["走"]));
        assert!(ngrams("灯a𠮷", 1).eq(["灯", "a", "𠮷"]));
        assert_eq!(ngrams("", 2).count(), 0);
    }
}
