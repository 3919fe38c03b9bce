//! What fuzz targets expect of search patterns.

use super::lines::{line_bounds, snippet};
use super::pattern::{CompiledQuery, Pattern, SearchMode};
use annai_files::FileFilter;

/// The size of the windows, so that a short text has several.
const WINDOW_BYTES: usize = 24;
/// How often a match is looked for.
const MAX_SEARCHES: usize = 50;

/// Searches a text for a query in every mode: a match is part of the text, and is found in windows as in the whole text.
pub(crate) fn check_pattern(query: &str, text: &str) {
    for mode in [SearchMode::Regex, SearchMode::Plain, SearchMode::Loose] {
        let Ok(compiled) = CompiledQuery::new(query, mode) else { continue };
        check_matches(&compiled.pattern, text);
        if let Pattern::Regex(regex, reach) = &compiled.pattern {
            let windows = reach.with_window(WINDOW_BYTES).map(|reach| Pattern::Regex(regex.clone(), reach));
            for at in windows.iter().flat_map(|_| (0..=text.len()).take(MAX_SEARCHES)) {
                let whole = regex.find_at(text.as_bytes(), at).map(|found| (found.start(), found.end()));
                let found = windows.as_ref().and_then(|all| all.find_at(text.as_bytes(), at, &|| true));
                assert_eq!(found, whole, "{query:?} in windows of {text:?} from {at}");
            }
        }
        let is_own_match = mode != SearchMode::Regex && !query.is_empty();
        assert!(
            !is_own_match || compiled.pattern.find_at(query.as_bytes(), 0, &|| true).is_some(),
            "{query:?}"
        );
    }
}

fn check_matches(pattern: &Pattern, text: &str) {
    let (bytes, mut at) = (text.as_bytes(), 0);
    for _ in 0..MAX_SEARCHES {
        let Some((start, stop)) = pattern.find_at(bytes, at, &|| true) else { break };
        assert!(at <= start && start <= stop && stop <= bytes.len());
        let bounds = line_bounds(bytes, start);
        let line = String::from_utf8_lossy(bytes.get(bounds.clone()).unwrap_or_default());
        let within = |byte: usize| byte.clamp(bounds.start, bounds.end) - bounds.start;
        let shown = snippet(&line, within(start), within(stop));
        assert!(shown.chars().count() <= 300, "{} characters", shown.chars().count());
        at = stop.max(start + 1);
        if at > bytes.len() {
            break;
        }
    }
}

/// Matches a path with a glob: it is refused, or it answers; and `!` turns the answer around.
pub(crate) fn check_glob(glob: &str, path: &str) {
    let Ok(filter) = FileFilter::new(None, Some(glob), "glob") else { return };
    let has = filter.has(path);
    assert_eq!(filter.glob(), Some(glob));
    // Without wildcards, `!a.md` is about one file, and `a.md` about every file of that name.
    if !glob.starts_with('!') && glob.contains('*') {
        let opposite = FileFilter::new(None, Some(&format!("!{glob}")), "glob");
        assert_eq!(opposite.map(|filter| filter.has(path)).ok(), Some(!has));
    }
}
