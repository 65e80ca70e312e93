//! The parts of page titles.

/// Separators between the name of a page and the name of its site in a title.
const TITLE_SEPARATORS: [&str; 10] = [" - ", " – ", " — ", " | ", "_", "|", "——", " :: ", " » ", " · "];

/// Splits a title into the name of the page and the name of its site.
pub fn title_parts(title: &str) -> impl Iterator<Item = &str> {
    let mut parts = vec![title];
    for separator in TITLE_SEPARATORS {
        parts = parts.into_iter().flat_map(|part| part.split(separator)).collect();
    }
    parts.into_iter().map(str::trim).filter(|part| part.chars().nth(1).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_is_the_name_of_a_page_and_of_its_site() {
        let parts = |title| title_parts(title).collect::<Vec<_>>();
        assert_eq!(parts("灯塔的历史_海港网"), ["灯塔的历史", "海港网"]);
        assert_eq!(parts("Lamps - Lenses | Harbour-News"), ["Lamps", "Lenses", "Harbour-News"]);
        assert!(parts(" | - ").is_empty());
    }
}
