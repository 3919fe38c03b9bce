//! Fuses several rankings of the same sections into one, by reciprocal rank.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

/// The constant of reciprocal rank fusion: how little the first ranks differ from those that follow.
const RANK_CONSTANT: f32 = 60.0;

/// The reciprocal ranks of each item, added up over lists that begin with their best.
pub fn reciprocal_ranks<T: Copy + Eq + Hash>(lists: &[Vec<T>]) -> HashMap<T, f32> {
    let mut fused = HashMap::new();
    for list in lists {
        for (rank, item) in (1..).zip(list) {
            *fused.entry(*item).or_default() += 1.0 / (RANK_CONSTANT + rank as f32);
        }
    }
    fused
}

/// Moves the best of each list forward where it stands behind the first places, so that every list is seen there. There
/// is one place more than there are lists.
pub fn show_each_best<T: Copy + Eq + Hash>(order: &mut Vec<T>, lists: &[Vec<T>]) {
    let places = lists.len() + 1;
    let bests: HashSet<T> = lists.iter().filter_map(|list| list.first().copied()).collect();
    let late: Vec<T> = order.iter().skip(places).filter(|item| bests.contains(item)).copied().collect();
    if late.is_empty() {
        return;
    }
    // They take the last places that do not belong to the best of another list.
    let (mut first, mut displaced) = (Vec::new(), Vec::new());
    for item in order.iter().take(places).rev() {
        let is_displaced = displaced.len() < late.len() && !bests.contains(item);
        if is_displaced { &mut displaced } else { &mut first }.push(*item);
    }
    let rest = order.iter().skip(places).filter(|item| !bests.contains(item)).copied();
    let moved = first.into_iter().rev().chain(late).chain(displaced.into_iter().rev()).chain(rest);
    *order = moved.collect();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_several_lists_rank_high_comes_first() {
        let fused = reciprocal_ranks(&[vec!['a', 'b', 'c'], vec!['b', 'd']]);
        let mut order: Vec<_> = fused.keys().copied().collect();
        order.sort_by(|one, other| fused[other].total_cmp(&fused[one]).then(one.cmp(other)));
        assert_eq!(order, ['b', 'a', 'd', 'c']);
        assert!((fused[&'b'] - 1.0 / 62.0 - 1.0 / 61.0).abs() < 1e-6);
    }

    #[test]
    fn the_best_of_each_list_is_among_the_first_places() {
        let mut order = vec!['x', 'y', 'z', 'u', 'b', 'a'];
        show_each_best(&mut order, &[vec!['a'], vec!['b']]);
        assert_eq!(order, ['x', 'b', 'a', 'y', 'z', 'u']);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_each_best_is_shown(
            order in Just((0..12_u8).collect::<Vec<_>>()).prop_shuffle(),
            bests in prop::collection::vec(0..12_u8, 1..5),
        ) {
            let lists: Vec<Vec<u8>> = bests.iter().map(|best| vec![*best]).collect();
            let mut shown = order;
            show_each_best(&mut shown, &lists);
            for best in &bests {
                prop_assert!(shown.iter().take(lists.len() + 1).any(|item| item == best), "{shown:?} {bests:?}");
            }
            shown.sort_unstable();
            prop_assert_eq!(shown, (0..12).collect::<Vec<u8>>());
        }
    }
}
