//! What a person at a terminal sees: colours, and a line that shows how far a call is.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;

use annai_core::ProgressSink;
use futures_util::future::BoxFuture;

/// Whether colours may be used on a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colours {
    On,
    Off,
}

impl Colours {
    /// On only for a terminal whose user has not set `NO_COLOR`.
    pub(super) fn of(stream: &impl IsTerminal, no_color: bool) -> Self {
        if stream.is_terminal() && !no_color { Self::On } else { Self::Off }
    }

    /// The text in a colour, by its SGR code.
    pub(super) fn paint(self, code: u8, text: &str) -> String {
        match self {
            Self::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Off => text.to_owned(),
        }
    }
}

/// Shows progress on one line of stderr, which it clears in the end.
pub(super) struct ProgressLine {
    shown: Mutex<bool>,
}

impl ProgressLine {
    /// A line, if there is a terminal to show it on.
    pub(super) fn on_terminal() -> Option<Self> {
        io::stderr().is_terminal().then(|| Self { shown: Mutex::new(false) })
    }

    fn show(&self, text: &str) {
        if let Ok(mut shown) = self.shown.lock() {
            let _ = write!(io::stderr(), "\r\u{1b}[2K{text}");
            *shown = !text.is_empty();
        }
    }
}

impl ProgressSink for ProgressLine {
    fn report<'a>(&'a self, done: f64, total: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()> {
        let share =
            total.filter(|total| *total > 0.0).map(|total| format!("{:3.0} %  ", done / total * 100.0));
        self.show(&format!("{}{}", share.unwrap_or_default(), message.unwrap_or("working")));
        Box::pin(std::future::ready(()))
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.shown.get_mut().is_ok_and(|shown| *shown) {
            self.show("");
        }
    }
}
