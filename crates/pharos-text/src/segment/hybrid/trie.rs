//! The trie of code sequences: 《搜索引擎——原理、技术与系统》§8.3, figure 8-5.

/// Maximum length of a sequence.
pub(super) const MAX_CODES: usize = 6;

/// The root node.
pub(super) const ROOT: u32 = 0;

/// A sequence of codes plus one, padded with zeros.
pub(super) type Sequence = [u32; MAX_CODES];

/// Nodes in level order: the children of a node are adjacent and sorted by code.
pub(super) struct NameTrie {
    codes: Vec<u32>,
    /// One entry per node, and a sentinel.
    first_child: Vec<u32>,
    is_entry: Vec<bool>,
    /// Children of the root by base word code: the root has most children by far and is accessed most. Zero,
    /// the root itself, means none.
    first_words: Vec<u32>,
}

impl NameTrie {
    /// Builds the trie. Codes below `base_words` are those of base words.
    pub(super) fn new(mut sequences: Vec<Sequence>, base_words: usize) -> Self {
        // Radix sort: stable sorts from the last element to the first.
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

    /// Returns the child for a code.
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

    /// Returns `true` if a sequence ends here.
    #[inline]
    pub(super) fn is_entry(&self, node: u32) -> bool {
        self.is_entry[node as usize]
    }

    /// Returns `true` if a sequence continues from here.
    #[inline]
    pub(super) fn has_children(&self, node: u32) -> bool {
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
        // Figure 8-5: (1 2), (1 2 3), (1 4), (5 1), given in any order and twice.
        let sequences = [[5, 1, 0], [1, 4, 0], [1, 2, 3], [1, 2, 0], [1, 4, 0]];
        let padded = sequences.map(|s| [s[0] + 1, s[1] + 1, if s[2] == 0 { 0 } else { s[2] + 1 }, 0, 0, 0]);
        // The root is accessed by table or by search.
        for base_words in [0, 3, 9] {
            check(&NameTrie::new(padded.to_vec(), base_words));
        }
    }

    fn check(trie: &NameTrie) {
        assert_eq!(trie.codes, [0, 2, 6, 3, 5, 2, 4]);
        assert_eq!(trie.entries(), 4);
        let walk = |codes: &[u32]| codes.iter().try_fold(ROOT, |node, code| trie.child(node, *code));
        assert!(walk(&[1, 2]).is_some_and(|node| trie.is_entry(node) && trie.has_children(node)));
        assert!(walk(&[1, 2, 3]).is_some_and(|node| trie.is_entry(node) && !trie.has_children(node)));
        assert!(walk(&[1]).is_some_and(|node| !trie.is_entry(node)));
        assert_eq!(
            (walk(&[2]), walk(&[5, 2]), NameTrie::new(Vec::new(), 9).child(ROOT, 0)),
            (None, None, None)
        );
    }
}
