//! Output for a terminal: colors, safe text, paths that can be clicked, and a progress line.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;

use annai_core::ProgressSink;
use futures_util::future::BoxFuture;

use crate::options::ColorWhen;

/// Whether the output may contain colors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colors {
    On,
    Off,
}

impl Colors {
    /// Whether to use colors on a stream.
    pub(super) fn of(stream: &impl IsTerminal, when: ColorWhen) -> Self {
        match when {
            ColorWhen::Always => Self::On,
            ColorWhen::Auto if stream.is_terminal() => Self::On,
            ColorWhen::Auto | ColorWhen::Never => Self::Off,
        }
    }

    /// The text in a color, which is an SGR code such as 31 for red; see [`plain`] for what is removed from the text.
    pub(super) fn paint(self, code: impl std::fmt::Display, text: &str) -> String {
        let text = plain(text);
        match self {
            Self::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Off => text,
        }
    }
}

/// The text without characters that control a terminal, since it may come from a file or a website: control characters
/// except line breaks and tabs, and the marks that change the writing direction.
pub(super) fn plain(text: &str) -> String {
    let is_bidi_mark = |letter: char| matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .filter(|letter| matches!(letter, '\n' | '\t') || !(letter.is_control() || is_bidi_mark(*letter)))
        .collect()
}

/// The path of a file in the form that terminals make clickable: relative if it is below the current folder, else absolute.
pub(super) fn display_path(file: &Path) -> String {
    let file = file.strip_prefix(".").unwrap_or(file);
    let current = std::env::current_dir().ok();
    let relative = current.and_then(|current| file.strip_prefix(&current).ok());
    relative.unwrap_or(file).display().to_string()
}

/// The first `max_chars` characters of a text, with an ellipsis if more follow.
pub(super) fn truncate(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Shows the progress of a call on one line of stderr, and clears the line when it is dropped.
pub(super) struct ProgressLine {
    /// Whether the line currently shows something.
    visible: Mutex<bool>,
}

impl ProgressLine {
    /// A progress line, if stderr is a terminal.
    pub(super) fn on_terminal() -> Option<Self> {
        io::stderr().is_terminal().then(|| Self { visible: Mutex::new(false) })
    }

    fn show(&self, text: &str) {
        if let Ok(mut visible) = self.visible.lock() {
            let _ = write!(io::stderr(), "\r\u{1b}[2K{text}");
            *visible = !text.is_empty();
        }
    }
}

impl ProgressSink for ProgressLine {
    fn report<'a>(&'a self, done: f64, total: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()> {
        let percent =
            total.filter(|total| *total > 0.0).map(|total| format!("{:3.0} %  ", done / total * 100.0));
        let message = plain(message.unwrap_or("working")).replace(['\n', '\t'], " ");
        self.show(&format!("{}{message}", percent.unwrap_or_default()));
        Box::pin(std::future::ready(()))
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.visible.get_mut().is_ok_and(|visible| *visible) {
            self.show("");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_direction_marks_are_removed() {
        assert_eq!(plain("a\u{1b}]0;x\u{7}\u{1b}[2J\u{9b}31m\tb\nc\u{202e}d"), "a]0;x[2J31m\tb\ncd");
    }
}
