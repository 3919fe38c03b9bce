//! The words that decide between two sentences of the same wording: negations and pairs of opposites, the marks of examples,
//! and the nouns that name an edition.

/// English words that deny. `n't` at the end of a word does, too.
pub const NEGATIONS: &[&str] = &["not", "no", "never"];

/// What a Japanese sentence ends in that denies. しなければならない has two of them, and two cancel each other out.
pub const NEGATIVE_ENDINGS: &[&str] = &["ない", "なく", "なけれ", "ません"];

/// Japanese endings that look like denials and are none.
pub const AFFIRMATIVE_ENDINGS: &[&str] = &["かまいません", "かまわない", "かもしれません", "かもしれない"];

/// A pair of opposites: the words of each side.
pub type Opposites = (&'static [&'static str], &'static [&'static str]);

/// Pairs of opposites. They change what a sentence states wherever they stand in it.
pub const OPPOSITES: &[Opposites] = &[
    // Of these two, `must not` and `may not` mean the same.
    OBLIGATION,
    (&["before", "前"], &["after", "後"]),
    (&["required", "mandatory"], &["optional"]),
    (&["必要", "必須"], &["不要", "任意"]),
    (&["allowed", "permitted"], &["forbidden", "prohibited"]),
    (&["許可", "可能"], &["禁止", "不可能", "不可"]),
    (&["included"], &["excluded"]),
    (&["対象"], &["対象外"]),
    (&["enabled"], &["disabled"]),
    (&["有効"], &["無効"]),
    (&["possible"], &["impossible"]),
    (&["無料", "無償"], &["有料", "有償"]),
];

/// The pair whose sides mean the same where both are denied.
pub const OBLIGATION: Opposites = (&["must", "shall"], &["may"]);

/// Pairs of bounds. They contradict each other only beside the same value.
pub const BOUNDS: &[Opposites] = &[
    (&["least"], &["most"]),
    (&["more"], &["less", "fewer"]),
    (&["above", "over"], &["below", "under"]),
    (&["以上", "超"], &["以下", "未満", "以内"]),
];

/// Words that English grammar adds or changes beside a negation or a plural, and that state nothing.
pub const GRAMMAR: &[&str] = &["a", "an", "the", "do", "does", "is", "are", "always"];

/// Japanese particles that change with a negation: 撮影ができます and 撮影はできません.
pub const PARTICLES: &[char] = &['は', 'が', 'も', 'を', 'の'];

/// Sentences and headings with one of these words give an example, which states nothing.
pub const EXAMPLES: &[&str] =
    &["example", "e.g", "for instance", "sample", "例えば", "たとえば", "例:", "サンプル"];

/// Sentences with one of these words are about what stands beside them, which the words do not tell.
pub const POINTERS: &[&str] = &["the above", "the following", "上の", "上記", "下記", "次の"];

/// Nouns that name an edition together with the word beside them.
pub const EDITIONS: &[&str] = &["edition", "plan", "tier"];

/// Words before the number of a version.
pub const VERSIONS: &[&str] = &["version", "release"];

/// The same in Japanese, where the noun ends the word or stands before a letter.
pub const JAPANESE_EDITIONS: &[&str] = &["プラン", "エディション", "コース", "バージョン", "版", "年度"];
