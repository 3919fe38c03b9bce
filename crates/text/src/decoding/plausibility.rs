//! Whether a decoded text reads like Japanese. Bytes in another encoding often decode without an error, into characters
//! that no text combines in this way.

use annai_core::cancellation::Ticks;

/// What kinds of characters a decoded text has.
#[derive(Debug, Default)]
pub struct Plausibility {
    /// Hiragana and full-width katakana.
    kana: usize,
    /// Chinese characters.
    kanji: usize,
    /// Japanese punctuation and symbols, and full-width letters and digits.
    marks: usize,
    /// Half-width katakana.
    half_width: usize,
    /// Half-width punctuation: it is rare in texts, and frequent where EUC-JP is read as Shift_JIS.
    half_width_marks: usize,
    /// All other characters that are not ASCII, such as Greek and Cyrillic letters.
    others: usize,
    /// Control characters and characters for private use, which texts do not have.
    foreign: usize,
    /// The characters that hiragana and katakana in UTF-8 become when they are read as Shift_JIS.
    misread_utf8: usize,
    /// Single characters between Latin letters, as where accented letters were decoded: `M舅ner`.
    isolated: usize,
}

impl Plausibility {
    /// Counts the characters of a text that follows a character.
    pub fn of(text: &str, mut before: char) -> Self {
        let mut counts = Self::default();
        // `before` is the character before the current run of characters that are not ASCII; and the length of the run.
        let (mut run, mut last) = (0_usize, before);
        let mut ticks = Ticks::default();
        for ch in text.chars().chain([' ']) {
            ticks.tick();
            if ch.is_ascii() {
                counts.foreign += usize::from(is_foreign_control(ch));
                let is_half_width = matches!(last, '\u{ff61}'..='\u{ff9f}');
                let is_between = before.is_ascii_alphabetic() && ch.is_ascii_alphabetic();
                let is_beside = before.is_ascii_alphabetic() || ch.is_ascii_alphabetic();
                if run == 1 && (is_between || (is_half_width && is_beside)) {
                    counts.isolated += 1;
                }
                (before, run) = (ch, 0);
            } else {
                counts.add(ch);
                run += 1;
            }
            last = ch;
        }
        counts
    }

    fn add(&mut self, ch: char) {
        self.misread_utf8 += usize::from(matches!(ch, '縺' | '繧' | '繝'));
        let count = match ch {
            '\u{3041}'..='\u{3096}' | '\u{30a1}'..='\u{30fa}' | 'ー' | '々' => &mut self.kana,
            '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' => &mut self.kanji,
            '\u{2010}'..='\u{266f}'
            | '\u{3000}'..='\u{303f}'
            | '\u{3220}'..='\u{33ff}'
            | '・'
            | '\u{ff01}'..='\u{ff5e}' => &mut self.marks,
            '\u{ff66}'..='\u{ff9f}' => &mut self.half_width,
            '\u{ff61}'..='\u{ff65}' => &mut self.half_width_marks,
            '\u{80}'..='\u{9f}' | '\u{e000}'..='\u{f8ff}' => &mut self.foreign,
            _ => &mut self.others,
        };
        *count += 1;
    }

    /// The number of characters that are not ASCII.
    const fn total(&self) -> usize {
        self.kana
            + self.kanji
            + self.marks
            + self.half_width
            + self.half_width_marks
            + self.others
            + self.foreign
    }

    /// Whether the text can be Japanese at all.
    pub const fn is_text(&self) -> bool {
        let half_width = self.half_width + self.half_width_marks;
        let is_misread_euc = half_width * 2 > self.total() && self.half_width_marks * 6 > half_width;
        let is_latin = self.isolated * 4 > self.total();
        let is_other_script = self.others * 2 > self.total();
        let is_misread_utf8 = self.misread_utf8 * 6 > self.total();
        self.foreign == 0 && !is_misread_utf8 && !is_misread_euc && !is_latin && !is_other_script
    }

    /// Whether a notable part of it is kana, which nothing but Japanese has.
    pub const fn has_kana(&self) -> bool {
        (self.kana + self.half_width) * 8 >= self.total() && self.kana + self.half_width > 0
    }

    /// How much it reads like Japanese, up to 1, where each half-width character counts `half_width`.
    pub fn score(&self, half_width: f64) -> f64 {
        let good = self.kana as f64 * 1.0 + self.kanji as f64 * 0.6 + self.marks as f64 * 0.8;
        let good = good + (self.half_width + self.half_width_marks) as f64 * half_width;
        (good - self.others as f64 * 0.5) / (self.total().max(1) as f64)
    }
}

/// A control character that no text has. Old files end with SUB, and a form feed separates pages.
pub const fn is_foreign_control(ch: char) -> bool {
    ch.is_ascii_control() && !matches!(ch, '\t' | '\n' | '\r' | '\x0b' | '\x0c' | '\x1a')
}
