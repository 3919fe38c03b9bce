//! Word lists of Japanese and English: stop words, function words, and the words that reveal intent and units.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::terms::{Goal, Intent};

static STOP_WORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_WORDS.split(' ').collect());
static STOP_NOUN_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| STOP_NOUNS.split(' ').collect());
static WEAK_WORD_SET: LazyLock<HashSet<&str>> = LazyLock::new(|| WEAK_WORDS.split(' ').collect());
static FUNCTION_WORD_LIST: LazyLock<Vec<Vec<char>>> =
    LazyLock::new(|| FUNCTION_WORDS.split(' ').map(|word| word.chars().collect()).collect());

/// English stop words: a question is not about them.
const STOP_WORDS: &str = "\
    a about after all also am an and any anything are as at be been being but by can could did do does \
    doing done don each either else ever every for from get give given got had happen happens has have \
    having he her here his how i if in into is isn it its just let like make may me might mine more most \
    much must my need needed of off on one only or other our out own please s same shall she should so \
    some something somebody someone such t than that the their them then there these they this those \
    through to too under up us very was way we were what whatever when where whether which while who whom \
    whose why will with within would you your want tell exactly actually everything between ll re ve \
    d m";

/// Japanese function words in Hiragana: particles, auxiliaries, question words. A run of Hiragana that is made of them
/// alone separates terms.
const FUNCTION_WORDS: &str = "\
    の に は を が で と へ も や か ね よ な から まで より など とか だけ しか ほど くらい ぐらい ずつ こそ \
    さえ について における において によって により による にて として という といった ような ように よう \
    とき ところ こと ため ので のに なら ならば たら れば ば する します した して しない しなければ すれば \
    しまう できる できます できない できません できれば される されます された されて されない されません \
    なる なります なった なって なければ なりません ならない ある あります あった ない なく なかった \
    ありません いる います いて いない いた いません れる られる られます られない られません られた れます \
    れない れません れた れて せる させる です ます ました ません ましょう でした だ だった である であれば \
    であり でしょう ください たい たく ほしい いい よい よろしい どう どの どんな どこ いつ だれ なに なん \
    なぜ どうして どれ どちら いくら いくつ もらう もらえる もらえます もらえない くれる くれます おく みる \
    それ これ あれ その この あの そこ ここ また および または もし た て お ご さん ちゃん すぐ ても ては たり \
    つつ ながら まま わけ はず べき すべて ぜんぶ とも にも しく おり おける っけ のか って し そう そうな \
    っぽい もう まだ ずっと ちょっと かも しれない わかる わからない わかりません しりたい おしえて いう \
    いった いえば あと まえ うち ごろ たち なお ただ";

/// Hiragana that can be okurigana: they inflect the Kanji before them.
const OKURIGANA: &str =
    "いうえるたてっくけきしりれらさせみめべちつずむぶぐすげびぎじねえわそとめなまこよゆろ";

/// Japanese stop nouns: a question is not about them.
const STOP_NOUNS: &str = "\
    もの 何 誰 時 事 物 点 為 際 方 教 知 出来 下 全部 全 一覧 見 言 内 上 中 後 前 次 人 分 思 良 行 他 \
    関 対 係 応じ 伴う 伴い";

/// Words that say little next to the other words of a question.
const WEAK_WORDS: &str = "\
    名前 場合 方法 必要 可能 自分 本人 場所 理由 種類 内容 情報 一番 相手 以内 以上 以下 最初 最後 普通 通常 \
    時間 期間 注意 大丈夫 絶対 間違 使え 使う 使い 利用 存在 現在 以外 使用 関係 状態 thing things kind work works use \
    used using different specific possible time name called case without before new old first best \
    easiest correct right able user set project code value support supported";

/// The weight of a word: a weak word counts half as much as any other.
pub fn strength(word: &str) -> f32 {
    if WEAK_WORD_SET.contains(word) { 0.5 } else { 1.0 }
}

/// Words that state a comparison, and say nothing else.
const COMPARING_WORDS: &[&str] = &[
    "vs",
    "versus",
    "difference",
    "differences",
    "between",
    "compare",
    "compared",
    "comparing",
    "comparison",
    "differ",
    "differs",
    "different",
    "better",
    "違い",
    "違う",
    "違っ",
    "違",
    "相違",
    "相違点",
    "差",
    "差異",
    "比較",
    "比べ",
    "使い分",
    "使い分け",
    "どちら",
    "どっち",
];

/// Whether a word states a comparison.
pub fn is_comparing_word(word: &str) -> bool {
    COMPARING_WORDS.contains(&word)
}

/// Words that ask for everything about a subject. They are never terms.
const EVERYTHING_WORDS: &[&str] = &[
    "網羅的に",
    "網羅的な",
    "網羅的",
    "網羅して",
    "漏れなく",
    "もれなく",
    "余すところなく",
    "余さず",
    "全ての",
    "全て",
    "すべての",
    "すべて",
    "全部",
    "洗い出して",
    "exhaustively",
    "exhaustive",
    "everything",
    "without omission",
];

/// Compounds that contain such a word and do not ask for everything.
const OTHER_COMPOUNDS: &[&str] = &[
    "安全部",
    "保全部",
    "健全部",
    "全部門",
    "全部署",
    "全部局",
    "全部品",
    "全部材",
    "全部位",
    "全部員",
    "全部長",
    "全部数",
];

/// Phrases that ask for everything, whose words may also be terms.
const EVERYTHING_PHRASES: &[&str] = &[
    "all exceptions",
    "all mentions",
    "all occurrences",
    "all places",
    "all sections",
    "all cases",
    "all rules",
    "all the exceptions",
    "all details",
    "all the details",
    "find all",
    "list all",
    "show all",
    "name all",
    "every exception",
    "every mention",
    "every occurrence",
    "every place",
    "every section",
    "every case",
    "every rule",
];

/// The goal that a normalized question states in words.
pub fn goal_of(question: &str) -> Goal {
    let mut words = EVERYTHING_WORDS.iter().chain(EVERYTHING_PHRASES);
    if words.any(|word| find_word(question, word).is_some()) { Goal::Everything } else { Goal::Answer }
}

/// A normalized question without the words that ask for everything.
pub fn without_goal_words(question: &str) -> String {
    let mut question = question.to_owned();
    for word in EVERYTHING_WORDS {
        while let Some(start) = find_word(&question, word) {
            question.replace_range(start..start + word.len(), " ");
        }
    }
    question
}

/// The position of a word that is not a part of a longer one. Japanese words have no boundary, so the compounds that
/// contain one by accident are listed.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_letter = |character: Option<char>| character.is_some_and(|letter| letter.is_ascii_alphanumeric());
    let is_in_compound = |start: usize, word: &str| {
        let starts_here = |compound: &str, at: usize| {
            let start = start.checked_sub(at).and_then(|start| text.get(start..));
            start.is_some_and(|rest| rest.starts_with(compound))
        };
        OTHER_COMPOUNDS
            .iter()
            .any(|compound| compound.match_indices(word).any(|(at, _)| starts_here(compound, at)))
    };
    let found = text.match_indices(word).find(|(start, word)| {
        let before = text.get(..*start).and_then(|before| before.chars().next_back());
        let after = text.get(start + word.len()..).and_then(|after| after.chars().next());
        match word.is_ascii() {
            true => !is_letter(before) && !is_letter(after),
            false => !is_in_compound(*start, word),
        }
    });
    found.map(|(start, _)| start)
}

/// Whether an English word is a stop word.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORD_SET.contains(word)
}

/// Whether a Japanese noun is a stop noun.
pub fn is_stop_noun(word: &str) -> bool {
    STOP_NOUN_SET.contains(word)
}

/// Whether a character can inflect the Kanji before it.
pub fn is_okurigana(character: char) -> bool {
    OKURIGANA.contains(character)
}

/// For each position of a run of Hiragana, the end included: whether the rest from there is made of function words
/// alone.
pub fn function_word_suffixes(run: &[char]) -> Vec<bool> {
    let mut tails = vec![false; run.len() + 1];
    if let Some(end) = tails.last_mut() {
        *end = true;
    }
    for start in (0..run.len()).rev() {
        let fits = FUNCTION_WORD_LIST.iter().any(|word| {
            let length = word.len();
            run.get(start..start + length).is_some_and(|part| part == word.as_slice())
                && tails.get(start + length).copied().unwrap_or_default()
        });
        if let Some(tail) = tails.get_mut(start) {
            *tail = fits;
        }
    }
    tails
}

/// For each position of a run of Hiragana, the start included: whether the part up to there is made of function words
/// alone.
pub fn function_word_prefixes(run: &[char]) -> Vec<bool> {
    let mut heads = vec![false; run.len() + 1];
    if let Some(start) = heads.first_mut() {
        *start = true;
    }
    for end in 1..=run.len() {
        let fits = FUNCTION_WORD_LIST.iter().any(|word| {
            let length = word.len();
            end.checked_sub(length).is_some_and(|start| {
                run.get(start..end).is_some_and(|part| part == word.as_slice())
                    && heads.get(start).copied().unwrap_or_default()
            })
        });
        if let Some(head) = heads.get_mut(end) {
            *head = fits;
        }
    }
    heads
}

/// The words that reveal the intent of a question, the more specific intents first.
const INTENTS: &[(Intent, &str)] = &[
    (
        Intent::Exceptions,
        "対象外|除外|例外|免責|不適用|適用されない|支払われない|支払われません|もらえない|出ない|できない|認められない|受け取れない|except|exclu|not covered|not apply|unless|not allowed|ineligible|limitation",
    ),
    (Intent::Compare, "違い|比較|どちら|違う|difference|compare| vs|versus|differ"),
    (
        Intent::Eligibility,
        "条件|資格|対象|要件|できますか|もらえますか|受けられ|eligible|qualif|who can|am i allowed|can i|requirement",
    ),
    (
        Intent::Procedure,
        "手順|方法|手続|やり方|どうやって|どうすれば|仕方|どのように|申請|設定|how to|how do|how can|steps|procedure|set up|configure|install",
    ),
    (Intent::Definition, "とは|意味|定義|何ですか|what is|what are|what does|definition|meaning|define"),
];

/// The intent of a normalized question.
pub fn intent_of(question: &str) -> Intent {
    let asks = |words: &str| words.split('|').any(|word| question.contains(word));
    INTENTS.iter().find(|(_, words)| asks(words)).map_or(Intent::Unknown, |(intent, _)| *intent)
}

#[cfg(test)]
#[path = "words_tests.rs"]
mod tests;
