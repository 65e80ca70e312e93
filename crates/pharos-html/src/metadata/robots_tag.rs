//! Robots directives in the HTTP header `X-Robots-Tag`.

/// Directives that contain a colon; any other name before a colon is a user agent.
const WITH_VALUE: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];

/// Returns the directives of `X-Robots-Tag` headers that apply to all robots or to `agent`, separated by commas.
///
/// `otherbot: noindex, nofollow` applies to that robot only, with all its directives.
///
/// ```
/// let tags = ["noindex, max-snippet:20", "otherbot: noarchive"];
/// assert_eq!(pharos_html::robots_directives(tags, "Pharos"), "noindex, max-snippet:20");
/// ```
pub fn robots_directives<'a>(headers: impl IntoIterator<Item = &'a str>, agent: &str) -> String {
    let mut directives = Vec::new();
    for header in headers {
        let mut applies = true;
        for part in header.split(',').map(str::trim) {
            let rule = match part.split_once(':') {
                Some((name, rule)) if !WITH_VALUE.iter().any(|v| name.trim().eq_ignore_ascii_case(v)) => {
                    applies = name.trim().eq_ignore_ascii_case(agent);
                    rule.trim()
                }
                _ => part,
            };
            if applies && !rule.is_empty() {
                directives.push(rule);
            }
        }
    }
    directives.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directives_apply_to_their_user_agent() {
        let read = |tags: &[&str]| robots_directives(tags.iter().copied(), "Pharos");
        assert_eq!(read(&["noindex"]), "noindex");
        assert_eq!(read(&["noindex, max-snippet:20", "nofollow"]), "noindex, max-snippet:20, nofollow");
        assert_eq!(read(&["otherbot: noindex, nofollow"]), "");
        assert_eq!(read(&["otherbot: noindex, pharos: noarchive, nofollow"]), "noarchive, nofollow");
        assert_eq!(
            read(&["unavailable_after: 25 Jun 2030 15:00:00 GMT, noindex"]),
            "unavailable_after: 25 Jun 2030 15:00:00 GMT, noindex"
        );
        assert_eq!(read(&["", ",,", ":"]), "");
    }
}
