//! The tools, one declaration each.

mod answer;
mod o3_search;

pub use answer::{
    Answer, AnswerDetailed, AnswerInput, AnswerOutput, AnswerQuick, Citation, QuickInput, Style,
};
pub use o3_search::{O3Search, SearchInput, SearchOutput, SearchResult, Timeframe};
