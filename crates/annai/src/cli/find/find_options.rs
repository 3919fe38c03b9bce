//! What `annai find` is asked for.

use annai_library::OtherWords;
use serde_json::{Map, Value};

use super::super::Failure;

/// The maximum number of other ways to ask that `manual_find` accepts.
const MAX_PHRASINGS: usize = 8;

/// The question and options of the command.
pub(in super::super) struct FindOptions<'a> {
    pub question: &'a str,
    /// Other wordings of the question.
    pub other_words: &'a OtherWords,
    /// The manual to search first.
    pub manual: Option<&'a str>,
    /// The maximum number of sections to show.
    pub limit: usize,
    pub json: bool,
    /// The options that the suggested commands need, such as `--manuals DIR`.
    pub shell_options: &'a str,
}

impl FindOptions<'_> {
    /// The arguments of `manual_find`.
    pub(super) fn arguments(&self) -> Result<Value, Failure> {
        let OtherWords { phrasings, hypothetical } = self.other_words;
        if phrasings.len() > MAX_PHRASINGS {
            let count = phrasings.len();
            return Err(Failure::usage(format!(
                "--also may be given {MAX_PHRASINGS} times, not {count} times"
            )));
        }
        let mut arguments = Map::from_iter([("query".to_owned(), self.question.into())]);
        if !phrasings.is_empty() {
            arguments.insert("phrasings".to_owned(), phrasings.clone().into());
        }
        let passage = hypothetical.clone().map(|passage| ("hypothetical".to_owned(), passage.into()));
        let manual = self.manual.map(|manual| ("manual_id".to_owned(), manual.into()));
        arguments.extend(passage.into_iter().chain(manual));
        Ok(Value::Object(arguments))
    }
}
