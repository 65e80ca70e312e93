//! The tree of code sequences: figure 8-5 of 《搜索引擎—原理、技术与系统》.

/// The longest sequence.
pub(super) const MAX_CODES: usize = 6;

/// Where every sequence begins.
pub(super) const ROOT: u32 = 0;

/// A sequence, each code plus one, zero where it is over.
pub(super) type Sequence = [u32; MAX_CODES];

/// Nodes in the order of their levels: the children of a node lie side by side, ordered by code.
pub(super) struct Trie {
    codes: Vec<u32>,
    /// Of each node, and of one more behind the last.
    first_child: Vec<u32>,
    is_entry: Vec<bool>,
    /// Of the root, by code as far as codes are those of base words: it has most children by far, and is asked most.
    /// Zero, the root itself, stands for none.
    first_words: Vec<u32>,
}

impl Trie {
    /// The codes of base words are those below `base_words`.
    pub(super) fn new(mut sequences: Vec<Sequence>, base_words: usize) -> Self {
        // Radix sort: stably by the last element, then by the one before it, up to the first.
        for element in (0..MAX_CODES).rev() {
            sequences.sort_by_key(|sequence| sequence[element]);
        }
        sequences.dedup();
        let mut trie =
            Self { codes: vec![0], first_child: Vec::new(), is_entry: Vec::new(), first_words: Vec::new() };
        let mut level = vec![sequences.as_slice()];
        for depth in 0..=MAX_CODES {
            let mut below = Vec::new();
            for sequences in level {
                let code = |sequence: &Sequence| sequence.get(depth).copied().unwrap_or_default();
                trie.first_child.push(trie.codes.len() as u32);
                trie.is_entry.push(depth > 0 && sequences.first().is_some_and(|s| code(s) == 0));
                for equal in
                    sequences.chunk_by(|a, b| code(a) == code(b)).filter(|equal| code(&equal[0]) != 0)
                {
                    trie.codes.push(code(&equal[0]));
                    below.push(equal);
                }
            }
            level = below;
        }
        trie.first_child.push(trie.codes.len() as u32);
        let (from, to) = trie.children(ROOT);
        let words = from + trie.codes[from..to].partition_point(|code| (*code as usize) <= base_words);
        if words > from {
            trie.first_words = vec![ROOT; trie.codes[words - 1] as usize];
            for node in from..words {
                trie.first_words[trie.codes[node] as usize - 1] = node as u32;
            }
        }
        trie
    }

    pub(super) fn entries(&self) -> usize {
        self.is_entry.iter().filter(|is_entry| **is_entry).count()
    }

    /// The node that a code leads to.
    #[inline]
    pub(super) fn child(&self, node: u32, code: u32) -> Option<u32> {
        if node == ROOT
            && let Some(first) = self.first_words.get(code as usize)
        {
            return (*first != ROOT).then_some(*first);
        }
        let (from, to) = self.children(node);
        let nth = self.codes[from..to].binary_search(&(code + 1)).ok()?;
        Some((from + nth) as u32)
    }

    /// Does a sequence end here?
    #[inline]
    pub(super) fn is_entry(&self, node: u32) -> bool {
        self.is_entry[node as usize]
    }

    /// Does a sequence go on from here?
    #[inline]
    pub(super) fn goes_on(&self, node: u32) -> bool {
        let (from, to) = self.children(node);
        from < to
    }

    #[inline]
    fn children(&self, node: u32) -> (usize, usize) {
        (self.first_child[node as usize] as usize, self.first_child[node as usize + 1] as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_beginnings_are_one_path_and_siblings_are_ordered() {
        // 8-5: (1 2), (1 2 3), (1 4), (5 1), given in any order and twice.
        let sequences = [[5, 1, 0], [1, 4, 0], [1, 2, 3], [1, 2, 0], [1, 4, 0]];
        let padded = sequences.map(|s| [s[0] + 1, s[1] + 1, if s[2] == 0 { 0 } else { s[2] + 1 }, 0, 0, 0]);
        // Whether the root is asked by a table or by search.
        for base_words in [0, 3, 9] {
            check(&Trie::new(padded.to_vec(), base_words));
        }
    }

    fn check(trie: &Trie) {
        assert_eq!(trie.codes, [0, 2, 6, 3, 5, 2, 4]);
        assert_eq!(trie.entries(), 4);
        let walk = |codes: &[u32]| codes.iter().try_fold(ROOT, |node, code| trie.child(node, *code));
        assert!(walk(&[1, 2]).is_some_and(|node| trie.is_entry(node) && trie.goes_on(node)));
        assert!(walk(&[1, 2, 3]).is_some_and(|node| trie.is_entry(node) && !trie.goes_on(node)));
        assert!(walk(&[1]).is_some_and(|node| !trie.is_entry(node)));
        assert_eq!((walk(&[2]), walk(&[5, 2]), Trie::new(Vec::new(), 9).child(ROOT, 0)), (None, None, None));
    }
}
