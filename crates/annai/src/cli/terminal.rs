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

    /// The text in a colour, by its SGR code, without what would steer the terminal.
    pub(super) fn paint(self, code: u8, text: &str) -> String {
        let text = plain(text);
        match self {
            Self::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Off => text,
        }
    }
}

/// The text without what would steer a terminal: control characters but line breaks and tabs, and marks that turn the
/// direction of writing.
pub(super) fn plain(text: &str) -> String {
    let turns = |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .filter(|letter| matches!(letter, '\n' | '\t') || !(letter.is_control() || turns(*letter)))
        .collect()
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
        let message = plain(message.unwrap_or("working")).replace(['\n', '\t'], " ");
        self.show(&format!("{}{message}", share.unwrap_or_default()));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_steers_the_terminal() {
        assert_eq!(plain("a\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\tb\nc\u{202e}d"), "a]0;x[2J31m\tb\ncd");
    }
}
