//! Consents: what a user agreed to, and whether a completed task counts because of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a consent is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConsentType {
    /// The sponsor receives the details of the task.
    DataSharing,
    /// The sponsor may contact the user.
    Contact,
    /// The details are kept for the stated purpose.
    Retention,
}

impl ConsentType {
    /// Its name in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::DataSharing => "data_sharing",
            Self::Contact => "contact",
            Self::Retention => "retention",
        }
    }

    /// The purpose that is recorded with it.
    #[must_use]
    pub const fn purpose(self) -> &'static str {
        match self {
            Self::DataSharing => "The sponsor receives the details of the completed task.",
            Self::Contact => "The sponsor may contact the user.",
            Self::Retention => "The details are kept for the sponsored service.",
        }
    }
}

/// What is recorded instead of a purpose when consents end because nobody had verified who gave them.
pub const UNVERIFIED_CONSENT: &str = "Given before the person was verified, so it does not count.";

/// The answers of a user to the three questions of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConsentAnswers {
    /// The sponsor may receive the details.
    pub data_sharing_agreed: bool,
    /// The purpose is understood, and the details may be kept for it.
    pub purpose_acknowledged: bool,
    /// The sponsor may contact the user; free to refuse.
    pub contact_permission: bool,
}

impl ConsentAnswers {
    /// The three consents to record.
    #[must_use]
    pub const fn consents(self) -> [(ConsentType, bool); 3] {
        [
            (ConsentType::DataSharing, self.data_sharing_agreed),
            (ConsentType::Contact, self.contact_permission),
            (ConsentType::Retention, self.purpose_acknowledged),
        ]
    }
}

/// Where a completion comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompletionOrigin {
    /// It was recorded here, together with consents.
    Recorded,
    /// It was in the database before this program took it over; it counts without consents.
    TakenOver,
}

/// A user's completion of a task, and the newest answer to each question that matters; `None` where none was given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompletionState {
    /// Where the completion comes from; `None` when the task is not completed.
    pub completion: Option<CompletionOrigin>,
    /// The newest consent to share the data.
    pub data_sharing: Option<bool>,
    /// The newest consent to keep the data.
    pub retention: Option<bool>,
}

impl CompletionState {
    /// The answers, by the names of the request, that are missing for the completion to count.
    #[must_use]
    pub fn missing_consents(&self) -> Vec<&'static str> {
        let default = self.completion == Some(CompletionOrigin::TakenOver);
        let answers = [("data_sharing_agreed", self.data_sharing), ("purpose_acknowledged", self.retention)];
        let missing = answers.into_iter().filter(|(_, granted)| !granted.unwrap_or(default));
        missing.map(|(name, _)| name).collect()
    }

    /// Whether the campaign pays because of it.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.completion.is_some() && self.missing_consents().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ANSWERS: [Option<bool>; 3] = [None, Some(false), Some(true)];

    #[test]
    fn a_completion_counts_while_both_consents_are_granted() {
        for data_sharing in ANSWERS {
            for retention in ANSWERS {
                let standing =
                    CompletionState { completion: Some(CompletionOrigin::Recorded), data_sharing, retention };
                assert_eq!(standing.counts(), data_sharing == Some(true) && retention == Some(true));
                let taken_over =
                    CompletionState { completion: Some(CompletionOrigin::TakenOver), ..standing };
                assert_eq!(taken_over.counts(), data_sharing != Some(false) && retention != Some(false));
                assert!(!CompletionState { completion: None, ..standing }.counts());
            }
        }
    }

    #[test]
    fn missing_answers_are_named() {
        let completion = Some(CompletionOrigin::Recorded);
        let standing = CompletionState { completion, data_sharing: Some(true), retention: Some(false) };
        assert_eq!(standing.missing_consents(), ["purpose_acknowledged"]);
    }

    proptest! {
        /// The last answers decide, whatever came before; permission to contact never matters.
        #[test]
        fn the_newest_answers_decide(answers in proptest::collection::vec(any::<[bool; 3]>(), 1..8)) {
            let mut standing = CompletionState {
                completion: Some(CompletionOrigin::Recorded), data_sharing: None, retention: None,
            };
            for [data_sharing_agreed, purpose_acknowledged, contact_permission] in &answers {
                let answers = ConsentAnswers {
                    data_sharing_agreed: *data_sharing_agreed,
                    purpose_acknowledged: *purpose_acknowledged,
                    contact_permission: *contact_permission,
                };
                for (consent, granted) in answers.consents() {
                    match consent {
                        ConsentType::DataSharing => standing.data_sharing = Some(granted),
                        ConsentType::Retention => standing.retention = Some(granted),
                        ConsentType::Contact => {}
                    }
                }
            }
            let [sharing, purpose, _] = answers.last().unwrap();
            prop_assert_eq!(standing.counts(), *sharing && *purpose);
        }
    }
}
