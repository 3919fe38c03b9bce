//! Figures with 95 % confidence intervals, by the percentile bootstrap.

use serde::Serialize;

/// The number of resamples. The bounds of the interval then vary by less than the second decimal that is shown.
const RESAMPLES: usize = 1000;
/// The number of resamples of groups. A comparison has few of them, of which each matters more.
const GROUP_RESAMPLES: usize = 2000;
/// The share of the resamples that lies below the interval, and above it.
const TAIL: f64 = 0.025;
/// The start of the random numbers. It is fixed, so that the same data have the same intervals.
const SEED: u64 = 0x616e_6e61_6920_2026;

/// A figure: its value and the interval in which 95 % of the resamples lie. Both are absent if nothing counts for it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Estimate {
    pub value: Option<f64>,
    pub interval: Option<[f64; 2]>,
}

impl Estimate {
    /// A count, which has no interval.
    pub const fn count(count: usize) -> Self {
        Self { value: Some(count as f64), interval: None }
    }

    /// The mean of the values that are present. Whole questions are resampled, so that the number of values varies too.
    pub fn mean(values: &[Option<f64>]) -> Self {
        Self::of(values, mean)
    }

    /// The mean of the values of all groups. Whole groups are resampled, so that what the values of a group have in common
    /// widens the interval.
    pub fn mean_of_groups(groups: &[Vec<f64>]) -> Self {
        let sums: Vec<_> = groups.iter().map(|values| (values.iter().sum::<f64>(), values.len())).collect();
        Self::resampled(&sums, GROUP_RESAMPLES, |groups| {
            let (sum, count) =
                groups.iter().fold((0.0, 0), |(sum, count), group| (sum + group.0, count + group.1));
            (count > 0).then(|| sum / count as f64)
        })
    }

    /// A statistic of some items.
    pub fn of<T: Copy>(items: &[T], statistic: impl Fn(&[T]) -> Option<f64>) -> Self {
        Self::resampled(items, RESAMPLES, statistic)
    }

    fn resampled<T: Copy>(items: &[T], resamples: usize, statistic: impl Fn(&[T]) -> Option<f64>) -> Self {
        let value = statistic(items);
        let mut random = SplitMix64(SEED);
        let mut resample = Vec::with_capacity(items.len());
        let mut resampled: Vec<f64> = Vec::with_capacity(resamples);
        for _ in 0..if value.is_some() { resamples } else { 0 } {
            resample.clear();
            resample.extend((0..items.len()).filter_map(|_| items.get(random.below(items.len())).copied()));
            resampled.extend(statistic(&resample));
        }
        resampled.sort_by(f64::total_cmp);
        // As many of the sorted values lie below the lower bound as above the upper one.
        let tail = (resampled.len() as f64 * TAIL) as usize;
        let bounds = resampled.get(tail).copied().zip(resampled.iter().rev().nth(tail).copied());
        Self { value, interval: bounds.map(|(low, high)| [low, high]) }
    }
}

/// The mean of the values that are present, if there are any.
pub fn mean(values: &[Option<f64>]) -> Option<f64> {
    let (sum, count) = values.iter().flatten().fold((0.0, 0_usize), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The generator of Steele, Lea and Flood: small, and the same on every machine.
struct SplitMix64(u64);

impl SplitMix64 {
    const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`; the bias is below 2⁻³² for the counts that occur.
    const fn below(&mut self, end: usize) -> usize {
        ((self.next() as u128 * end as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_generator_is_the_published_one() {
        let mut random = SplitMix64(1_234_567);
        let first = [random.next(), random.next(), random.next()];
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn indexes_cover_the_items_evenly() {
        let (mut random, mut counts) = (SplitMix64(SEED), [0_u32; 7]);
        for _ in 0..7000 {
            counts[random.below(7)] += 1;
        }
        assert!(counts.iter().all(|count| (900..1100).contains(count)), "{counts:?}");
    }

    #[test]
    fn the_interval_of_a_share_agrees_with_the_normal_approximation() {
        let values: Vec<_> = (0..400).map(|number| Some(f64::from(u8::from(number % 5 != 0)))).collect();
        let estimate = Estimate::mean(&values);
        let [low, high] = estimate.interval.unwrap();
        // 0.8 ± 1.96 · √(0.8 · 0.2 / 400)
        assert_eq!(estimate.value, Some(0.8));
        assert!((low - 0.7608).abs() < 0.008 && (high - 0.8392).abs() < 0.008, "{low} {high}");
        assert_eq!(Estimate::mean(&values), estimate, "the same data have the same interval");
    }

    #[test]
    fn values_of_the_same_group_vary_together() {
        let value = |number: u32| f64::from(u8::from(!number.is_multiple_of(5)));
        let width = |estimate: Estimate| estimate.interval.map(|[low, high]| high - low).unwrap();
        let alone: Vec<_> = (0..400).map(|number| vec![value(number)]).collect();
        let groups: Vec<_> = (0..100).map(|number| vec![value(number); 4]).collect();
        let (alone, groups) = (Estimate::mean_of_groups(&alone), Estimate::mean_of_groups(&groups));
        assert_eq!((alone.value, groups.value), (Some(0.8), Some(0.8)));
        // A quarter of the independent values have an interval that is twice as wide.
        assert!((width(groups) / width(alone) - 2.0).abs() < 0.25, "{alone:?} {groups:?}");
        assert_eq!(Estimate::mean_of_groups(&[]).value, None);
    }

    #[test]
    fn absent_values_do_not_count() {
        let values: Vec<_> = (0..40).map(|number| (number % 2 == 0).then_some(f64::from(number))).collect();
        assert_eq!(Estimate::mean(&values).value, Some(19.0));
        assert_eq!(Estimate::mean(&[None, None]), Estimate { value: None, interval: None });
        assert_eq!(Estimate::mean(&[]), Estimate { value: None, interval: None });
        // Resamples without the only value are left out.
        assert_eq!(Estimate::mean(&[None, Some(3.0), None]).interval, Some([3.0, 3.0]));
    }
}
