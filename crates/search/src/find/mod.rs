//! The two finds: what they are asked, one pass or two through the other rooms, and what they say to do next.

pub mod manual_find;
pub mod new_trace;
pub mod next_actions;
pub mod reading_order;
pub mod request;
pub mod trace_builder;
pub mod vault_find;
pub mod widening;
