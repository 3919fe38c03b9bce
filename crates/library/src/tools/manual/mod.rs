//! The tools that list, search and read manuals.

pub(crate) mod manual_excepts;
pub(crate) mod manual_find;
pub(crate) mod manual_hits;
pub(crate) mod manual_list;
pub(crate) mod manual_ls;
pub(crate) mod manual_read;
pub(crate) mod manual_toc;
