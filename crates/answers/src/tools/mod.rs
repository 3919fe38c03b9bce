//! The tools, one declaration each.

mod answer;
mod o3_search;

use annai_core::RegistryBuilder;

pub use self::answer::Answer;
use self::answer::{AnswerDetailed, AnswerQuick};
use self::o3_search::O3Search;
use crate::toolset::{Answers, AnswersConfig, Search};

/// Adds the toolset `answers` and its tools, in the order of `tools/list`.
pub fn register_answers(registry: &mut RegistryBuilder, config: AnswersConfig) {
    registry.toolset::<Answers>(config).tool::<Answer>().tool::<AnswerDetailed>().tool::<AnswerQuick>();
}

/// Adds the toolset `search` and its tool.
pub fn register_search(registry: &mut RegistryBuilder, config: AnswersConfig) {
    registry.toolset::<Search>(config).tool::<O3Search>();
}
