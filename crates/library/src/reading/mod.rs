//! Reading manuals and the vault: which part a call asks for, and where the text goes on.

mod arguments;
mod cursor;
mod line_range;
mod provenance;
mod read_manual;
mod read_units;
mod returned_part;
mod source_file;
mod vault_excerpt;

pub(crate) use arguments::{CopyLimits, Expand, Lines, ReadLimits, ReadScope};
pub(crate) use cursor::{Cursor, NextCursor, NextLine};
pub use line_range::LineRange;
pub(crate) use line_range::merged;
pub(crate) use provenance::Provenance;
pub(crate) use read_manual::{ReadPart, ReadRequest, read};
pub(crate) use returned_part::ReturnedPart;
pub(crate) use source_file::{SourceArgument, SourceFile, count_lines, read_lines};
pub(crate) use vault_excerpt::read_excerpt;
