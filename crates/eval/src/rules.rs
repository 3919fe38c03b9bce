//! The rules of the search that a run leaves out, to measure what they earn.

use annai_library::{RuleGroup, Rules};

use crate::error::EvalError;

/// All rules of the search but the groups with these names.
pub fn rules_without<T: AsRef<str>>(names: &[T]) -> Result<Rules, EvalError> {
    let mut rules = Rules::default();
    for name in names.iter().map(AsRef::as_ref) {
        let unknown = || {
            let known = RuleGroup::ALL.map(|(_, name)| name).join(", ");
            EvalError::input(format!(
                "--without: there is no group of rules {name:?}; the groups are {known}"
            ))
        };
        rules = rules.without(RuleGroup::named(name).ok_or_else(unknown)?);
    }
    Ok(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn named_groups_are_left_out_and_the_others_stay() {
        let none: [&str; 0] = [];
        assert_eq!(rules_without(&none).unwrap(), Rules::default());
        let rules = rules_without(&["coverage", "stop-words", "coverage"]).unwrap();
        let left_out = RuleGroup::ALL.into_iter().filter(|(group, _)| !rules.has(*group));
        assert_eq!(left_out.map(|(_, name)| name).collect::<Vec<_>>(), ["coverage", "stop-words"]);
    }

    #[test]
    fn an_unknown_group_is_an_error_that_names_the_known_ones() {
        let problem = rules_without(&["coverage", "magic"]).unwrap_err().message;
        assert!(
            problem.starts_with("--without: there is no group of rules \"magic\"; the groups are coverage, ")
        );
        assert!(RuleGroup::ALL.iter().all(|(_, name)| problem.contains(name)), "{problem}");
    }
}
