//! Words that carry no subject: what Japanese and English use to ask, to join and to inflect.

use super::query::Intent;

/// English words that a question is not about.
const STOP: &[&str] = &[
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "anything", "are", "as", "at", "be", "been", "being", "but", "by",
    "can", "could", "did", "do", "does", "doing", "done", "don", "each", "either", "else", "ever", "every", "for", "from",
    "get", "give", "given", "got", "had", "happen", "happens", "has", "have", "having", "he", "her", "here", "his", "how", "i", "if", "in",
    "into", "is", "isn", "it", "its", "just", "let", "like", "make", "may", "me", "might", "mine", "more", "most", "much", "must",
    "my", "need", "needed", "of", "off", "on", "one", "only", "or", "other", "our", "out", "own", "please", "s", "same", "shall", "she",
    "should", "so", "some", "something", "somebody", "someone", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "those", "through", "to", "too", "under", "up", "us", "very", "was", "way", "we", "were", "what",
    "whatever", "when", "where", "whether", "which", "while", "who", "whom", "whose", "why", "will", "with",
    "within", "would", "you", "your", "want", "tell", "explain", "show", "exactly", "actually", "everything", "ll", "re", "ve", "d", "m",
];

/// Japanese words that join, ask or inflect, in Hiragana.
const JOINING: &[&str] = &[
    "の", "に", "は", "を", "が", "で", "と", "へ", "も", "や", "か", "ね", "よ", "な", "から", "まで", "より", "など", "とか", "だけ", "しか",
    "ほど", "くらい", "ぐらい", "ずつ", "こそ", "さえ", "について", "における", "において", "によって", "により", "による", "にて", "として", "という",
    "といった", "ような", "ように", "よう", "とき", "ところ", "もの", "こと", "ため", "ので", "のに", "なら", "ならば", "たら", "れば", "ば", "する",
    "します", "した", "して", "しない", "しなければ", "すれば", "しまう", "できる", "できます", "できない", "できません", "できれば", "される", "されます", "された",
    "されて", "されない", "されません", "なる", "なります", "なった", "なって", "なければ", "なりません", "ならない", "ある", "あります", "あった", "ない", "なく", "なかった",
    "ありません", "いる", "います", "いて", "いない", "いた", "いません", "れる", "られる", "られます", "られない", "られません", "られた", "れます", "れない", "れません", "れた", "れて", "せる", "させる", "です",
    "ます", "ました", "ません", "ましょう", "でした", "だ", "だった", "である", "であれば", "であり", "でしょう", "ください", "たい", "たく", "ほしい",
    "いい", "よい", "よろしい", "どう", "どの", "どんな", "どこ", "いつ", "だれ", "なに", "なん", "なぜ", "どうして", "どれ", "どちら", "いくら", "いくつ",
    "もらう", "もらえる", "もらえます", "もらえない", "くれる", "くれます", "おく", "みる", "それ", "これ", "あれ", "その", "この", "あの", "そこ", "ここ",
    "また", "および", "または", "もし", "た", "て", "お", "ご", "さん", "ちゃん", "すぐ", "ても", "ては", "たり", "つつ", "ながら", "まま", "わけ",
    "はず", "べき", "すべて", "ぜんぶ", "とも", "にも", "しく", "ん", "おり", "おける", "っけ", "のか", "って", "や", "し", "そう", "そうな", "っぽい", "もう", "まだ", "ずっと", "ちょっと", "かも", "しれない", "わかる", "わからない", "わかりません", "しりたい", "おしえて", "いう", "いった", "いえば", "あと", "まえ", "うち", "ごろ", "たち", "など", "なお", "ただ",
];

/// Letters that inflect the Kanji before them.
const INFLECTING: &str = "いうえるたてっくけきしりれらさせみめべちつずむぶぐすげびぎじねえわそとめなまこよゆろ";

/// Japanese nouns that a question is not about.
const EMPTY_NOUNS: &[&str] = &["何", "誰", "時", "事", "物", "点", "為", "際", "方", "教", "知", "出来", "下", "全部", "全", "一覧", "見", "言", "内", "上", "中", "後", "前", "次", "人", "分", "思", "良", "行", "他", "際"];

/// Whether a question is not about this English word.
pub fn is_stop(word: &str) -> bool {
    STOP.contains(&word)
}

/// Whether a question is not about this Japanese noun.
pub fn is_empty_noun(word: &str) -> bool {
    EMPTY_NOUNS.contains(&word)
}

/// Whether a letter inflects the Kanji before it.
pub fn inflects(letter: char) -> bool {
    INFLECTING.contains(letter)
}

/// At which letters of a run of Hiragana the rest of it is made of joining words alone, the end included.
pub fn joining_tails(run: &[char]) -> Vec<bool> {
    let mut tails = vec![false; run.len() + 1];
    if let Some(end) = tails.last_mut() {
        *end = true;
    }
    for start in (0..run.len()).rev() {
        let fits = JOINING.iter().any(|word| {
            let length = word.chars().count();
            run.get(start..start + length).is_some_and(|part| word.chars().eq(part.iter().copied()))
                && tails.get(start + length).copied().unwrap_or_default()
        });
        if let Some(tail) = tails.get_mut(start) {
            *tail = fits;
        }
    }
    tails
}

/// Up to which letters a run of Hiragana is made of joining words alone.
pub fn joining_heads(run: &[char]) -> Vec<bool> {
    let mut heads = vec![false; run.len() + 1];
    if let Some(start) = heads.first_mut() {
        *start = true;
    }
    for end in 1..=run.len() {
        let fits = JOINING.iter().any(|word| {
            let length = word.chars().count();
            end.checked_sub(length).is_some_and(|start| {
                run.get(start..end).is_some_and(|part| word.chars().eq(part.iter().copied()))
                    && heads.get(start).copied().unwrap_or_default()
            })
        });
        if let Some(head) = heads.get_mut(end) {
            *head = fits;
        }
    }
    heads
}

/// Words by which a question tells what it wants, the more telling first.
const INTENTS: &[(Intent, &[&str])] = &[
    (
        Intent::Exceptions,
        &[
            "対象外", "除外", "例外", "免責", "不適用", "適用されない", "支払われない", "支払われません", "もらえない", "出ない", "できない", "認められない", "受け取れない", "except", "exclu", "not covered", "not apply", "unless",
            "not allowed", "ineligible", "limitation",
        ],
    ),
    (Intent::Compare, &["違い", "比較", "どちら", "違う", "difference", "compare", " vs", "versus", "differ"]),
    (
        Intent::Eligibility,
        &["条件", "資格", "対象", "要件", "できますか", "もらえますか", "受けられ", "eligible", "qualif", "who can", "am i allowed", "can i", "requirement"],
    ),
    (
        Intent::Procedure,
        &["手順", "方法", "手続", "やり方", "どうやって", "どうすれば", "仕方", "どのように", "申請", "設定", "how to", "how do", "how can", "steps", "procedure", "set up", "configure", "install"],
    ),
    (Intent::Definition, &["とは", "意味", "定義", "何ですか", "what is", "what are", "what does", "definition", "meaning", "define"]),
];

/// What a question wants, by its words in normal form.
pub fn intent_of(question: &str) -> Intent {
    let asks = |words: &[&str]| words.iter().any(|word| question.contains(word));
    INTENTS.iter().find(|(_, words)| asks(words)).map_or(Intent::Unknown, |(intent, _)| *intent)
}
