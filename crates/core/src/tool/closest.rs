//! The name that was probably meant by one that does not exist.

/// The candidate that is most similar to a name, if one is similar enough to have been meant: at most a third of its letters
/// are missing, added, wrong or swapped, or it contains the name.
pub(super) fn closest<'a>(name: &str, candidates: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let typed = name.to_lowercase().replace(['-', ' ', '.'], "_");
    let typed_letters: Vec<_> = typed.chars().collect();
    let distance = |candidate: &str| edit_distance(&typed_letters, &candidate.chars().collect::<Vec<_>>());
    let best = candidates.clone().map(|each| (distance(each), each)).min_by_key(|(distance, _)| *distance);
    let similar = best.filter(|(distance, each)| *distance <= (each.len() / 3).max(1)).map(|(_, each)| each);
    // A part of three letters or more says something about what is meant.
    let mut others = candidates.filter(|each| typed_letters.len() >= 3 && each.contains(&typed));
    similar.or_else(|| others.next())
}

/// The number of letters to insert, delete, replace or swap with their neighbor to turn one word into the other.
fn edit_distance(one: &[char], other: &[char]) -> usize {
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=other.len()).collect();
    for (row, letter) in one.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, target) in other.iter().enumerate() {
            let at = |line: &[usize], index: usize| line.get(index).copied().unwrap_or(usize::MAX);
            let replaced = at(&above, column) + usize::from(letter != target);
            let added = at(&current, column) + 1;
            let deleted = at(&above, column + 1) + 1;
            let is_swap = row > 0
                && column > 0
                && one.get(row - 1) == Some(target)
                && other.get(column - 1) == Some(letter);
            let swapped = if is_swap { at(&before, column - 1) + 1 } else { usize::MAX };
            current.push(replaced.min(added).min(deleted).min(swapped));
        }
        before = std::mem::replace(&mut above, current);
    }
    above.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_errors_and_parts_of_names_are_recognized() {
        let tools = ["answer", "manual_find", "manual_read", "vault_find", "artifact_audit"];
        for (typed, meant) in [
            ("manual_fnid", Some("manual_find")),
            ("manual-find", Some("manual_find")),
            ("ManualRead", Some("manual_read")),
            ("anser", Some("answer")),
            ("vault_find", Some("vault_find")),
            ("audit", Some("artifact_audit")),
            ("find", Some("manual_find")),
            ("delete_everything", None),
            ("a", None),
            ("", None),
        ] {
            assert_eq!(closest(typed, tools.into_iter()), meant, "{typed}");
        }
        assert_eq!(closest("x", std::iter::empty()), None);
    }

    #[test]
    fn a_distance_counts_insertions_deletions_replacements_and_swaps() {
        let distance = |one: &str, other: &str| {
            edit_distance(&one.chars().collect::<Vec<_>>(), &other.chars().collect::<Vec<_>>())
        };
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!(distance("ab", "ba"), 1);
        assert_eq!((distance("", "abc"), distance("abc", ""), distance("", "")), (3, 3, 0));
    }
}
