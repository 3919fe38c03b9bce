//! Output for a terminal: colors, safe text, paths that can be clicked, and a progress line.

use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::Mutex;

use annai_core::ProgressSink;
use futures_util::future::BoxFuture;

use crate::app::App;
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

    /// The text in a color, which is an SGR code such as 31 for red; see [`cell`] for what is escaped in the text.
    pub(super) fn paint(self, code: impl std::fmt::Display, text: &str) -> String {
        let text = cell(text);
        match self {
            Self::On => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
            Self::Off => text,
        }
    }
}

/// A text of several lines for a terminal. Since it may come from a file or a website, the characters that control a
/// terminal are escaped as `\u{202e}`; line breaks and tabs stay.
pub(super) fn plain(text: &str) -> String {
    escape(&text.replace("\r\n", "\n"), |letter| matches!(letter, '\n' | '\t'))
}

/// A text for one cell of a table, or one line: the same, with line breaks and tabs escaped too, so that it cannot look like
/// another cell or line.
pub(super) fn cell(text: &str) -> String {
    escape(text, |_| false)
}

/// Escapes control characters, separators of lines and paragraphs, and the marks that change the writing direction.
fn escape(text: &str, stays: impl Fn(char) -> bool) -> String {
    let is_escaped = |letter: char| {
        let is_separator = matches!(letter, '\u{2028}' | '\u{2029}');
        let is_bidi_mark = matches!(
            letter,
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
        );
        letter.is_control() || is_separator || is_bidi_mark
    };
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_escaped(letter) && !stays(letter) {
            escaped.extend(letter.escape_unicode());
        } else {
            escaped.push(letter);
        }
    }
    escaped
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

/// The width of the bar of a progress line, in characters.
const PROGRESS_BAR: usize = 24;
/// The maximum length of the message beside the bar: with the bar and the percentage it fits into 80 columns, so that the
/// line never wraps and can be drawn again.
const MAX_PROGRESS_CHARS: usize = 45;

/// Shows the progress of a call on one line of stderr, and clears the line when it is dropped.
pub(super) struct ProgressLine {
    shown: Mutex<ShownProgress>,
}

/// What a progress line shows.
#[derive(Default)]
struct ShownProgress {
    /// Whether the line currently shows something.
    is_visible: bool,
    /// The share that was reached. Reports of work that runs in parallel may arrive late; a bar that goes backwards would
    /// only confuse.
    share: f64,
}

impl ProgressLine {
    /// A progress line, if stderr is a terminal and the command may print more than its result.
    pub(super) fn on_terminal(app: &App) -> Option<Self> {
        let is_shown = io::stderr().is_terminal() && !app.is_quiet;
        is_shown.then(|| Self { shown: Mutex::default() })
    }
}

impl ShownProgress {
    /// The line for a report.
    fn line(&mut self, done: f64, total: Option<f64>, message: Option<&str>) -> String {
        let message = truncate(&cell(message.unwrap_or("working")), MAX_PROGRESS_CHARS);
        let Some(total) = total.filter(|total| *total > 0.0) else { return message };
        self.share = self.share.max((done / total).clamp(0.0, 1.0));
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of a short bar")]
        let filled = (self.share * PROGRESS_BAR as f64) as usize;
        let bar = "█".repeat(filled) + &"░".repeat(PROGRESS_BAR.saturating_sub(filled));
        format!("{bar} {:3.0} %  {message}", self.share * 100.0)
    }
}

impl ProgressSink for ProgressLine {
    fn report<'a>(&'a self, done: f64, total: Option<f64>, message: Option<&'a str>) -> BoxFuture<'a, ()> {
        if let Ok(mut shown) = self.shown.lock() {
            let line = shown.line(done, total, message);
            let _ = write!(io::stderr(), "\r\u{1b}[2K{line}");
            shown.is_visible = true;
        }
        Box::pin(std::future::ready(()))
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.shown.get_mut().is_ok_and(|shown| shown.is_visible) {
            let _ = write!(io::stderr(), "\r\u{1b}[2K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_bar_never_goes_backwards_and_fits_a_terminal() {
        let mut shown = ShownProgress::default();
        assert_eq!(shown.line(1.0, None, Some("starting")), "starting");
        assert_eq!(
            shown.line(50.0, Some(100.0), Some("indexing")),
            "████████████░░░░░░░░░░░░  50 %  indexing"
        );
        assert_eq!(shown.line(40.0, Some(100.0), Some("late")), "████████████░░░░░░░░░░░░  50 %  late");
        let line = shown.line(200.0, Some(100.0), Some(&"x".repeat(100)));
        assert!(line.starts_with(&"█".repeat(24)) && line.chars().count() <= 80, "{line}");
    }

    #[test]
    fn control_characters_and_direction_marks_are_escaped() {
        let text = "a\u{1b}[2J\u{9b}31m\u{85}\tb\r\nc\u{202e}d\u{2028}\u{2029}\u{2066}\u{61c}\r表";
        assert_eq!(
            plain(text),
            "a\\u{1b}[2J\\u{9b}31m\\u{85}\tb\nc\\u{202e}d\\u{2028}\\u{2029}\\u{2066}\\u{61c}\\u{d}表"
        );
        assert_eq!(
            cell(text),
            "a\\u{1b}[2J\\u{9b}31m\\u{85}\\u{9}b\\u{d}\\u{a}c\\u{202e}d\\u{2028}\\u{2029}\\u{2066}\\u{61c}\\u{d}表"
        );
        assert_eq!(Colors::Off.paint(31, "a\nb"), "a\\u{a}b");
    }
}
