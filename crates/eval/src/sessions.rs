//! Where the questions and cases are asked.

use crate::calls::Tools;
use crate::conflicts::ConflictCase;
use crate::error::EvalError;

/// Opens sessions with the tools over some manuals, and closes them at the end.
pub trait Sessions {
    /// Why the program cannot open a session, or what it makes of a failure of the evaluation.
    type Error: From<EvalError>;

    /// Asks the manuals that are served.
    fn over_served_manuals<T>(
        &mut self,
        ask: impl FnOnce(&dyn Tools) -> Result<T, EvalError>,
    ) -> Result<T, Self::Error>;

    /// Asks about each case in a session of its own, over a manual that is named after the id of the case and consists of
    /// its files, so that no other manual is in sight.
    fn over_case_files<T>(
        &mut self,
        cases: &[&ConflictCase],
        ask: impl Fn(&dyn Tools, &ConflictCase) -> Result<T, EvalError>,
    ) -> Result<Vec<T>, Self::Error>;
}
