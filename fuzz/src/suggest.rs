//! Phrase index: any text can be added and completed; any bytes are rejected or form a usable index.

use pharos_text::phrase_index::{PhraseIndex, PhraseIndexBuilder};

/// Runs the target on one input.
pub fn run(bytes: &[u8]) {
    if let Ok(book) = PhraseIndex::from_image(bytes) {
        book.complete("a", 5);
    }
    let text = String::from_utf8_lossy(bytes);
    let mut writer = PhraseIndexBuilder::default();
    (1_u8..).zip(text.lines().take(64)).for_each(|(weight, line)| writer.add(line, f32::from(weight)));
    let book = writer.finish(usize::MAX);
    for typed in text.lines().take(64).chain(["a", "北", "bj"]) {
        assert!(book.complete(typed, 5).len() <= 5);
        book.weight(typed);
        book.with_reading(typed).for_each(drop);
        book.containing(typed).take(5).for_each(drop);
    }
    assert_eq!(PhraseIndex::from_image(&book.to_image()).as_ref(), Ok(&book));
}
