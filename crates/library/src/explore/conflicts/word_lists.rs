//! The words that decide what a sentence states: whether it states anything, under which condition, and about whom.

/// Sentences with one of these words give an example, tell of the past or of plans, or speak of others. They state
/// nothing that another sentence could contradict.
pub const NO_STATEMENT: &[&str] = &[
    // Examples.
    "例えば", "たとえば", "例:", "例として", "例)", "(例", "仮に", "e.g", "for example", "for instance", "example",
    "suppose", "assume", "imagine", "such as",
    // The past, changes and plans.
    "以前は", "かつて", "従来", "改正前", "変更前", "これまで", "旧", "昨年", "去年", "でした", "だった", "ました",
    "から変更", "引き上げ", "引き下げ", "に改め", "短縮し", "延長し", "予定", "来年度", "今後", "formerly",
    "previously", "used to be", "earlier version", "older version", "increased", "reduced", "raised", "lowered",
    "shortened", "extended from", "changed from", "was changed", "until then", "in the past", "until last",
    "last year", " was ", " were ", "has decided", "planned", "proposed", "from 20",
    // What may happen.
    "ことがあり", "ことがある", "場合があり", "場合がある", "かもしれ", "might ",
    // Others, and what stands elsewhere on the page.
    "他社", "一般的に", "法律では", "elsewhere", "other compan", "the law ", "上のコード", "このコード",
    "次のコード", "上の例", "この例", "the above", "shown above", "shown below", "following code",
];

/// Sentences that begin with one of these words are about something that another sentence names.
pub const POINTERS: &[&str] = &[
    "これ", "この", "それ", "その", "上の", "上記", "下の", "以下の", "同じ", "もう", "こうして", "したがって",
    "this ", "these ", "that ", "those ", "it ", "they ", "its ", "such ", "here ", "there ",
];

/// Sentences with one of these words name an exception to a rule.
pub const EXCEPTIONS: &[&str] = &[
    "ただし", "但し", "除き", "除く", "除いて", "以外", "例外", "特例", "特に", "特別", "に限", "にかかわらず",
    "できるものとする", "承認", "許可", "except", "unless", "however", "otherwise", "other than", "excluding",
    "but ", "instead", "only ", "override", "regardless", "even if", "even when", "approval",
];

/// Words that end a condition in Japanese.
pub const JAPANESE_CONDITIONS: &[&str] = &[
    "場合", "とき", "時は", "時に", "際は", "際に", "であれば", "ならば", "なら", "と、", "たら", "のみ", "者の", "方の", "以下の方", "以上の方", "未満の方",
    "以下は", "以上は", "未満は",
];
/// Words that begin a condition in English.
pub const ENGLISH_CONDITIONS: &[&str] =
    &["if ", "when ", "in case ", "where ", "while ", "once ", "during ", "for ", "after "];

/// The verbs that follow the subject of an English rule.
pub const AUXILIARIES: &[&str] =
    &[" is ", " are ", " may ", " must ", " can ", " cannot ", " shall ", " will ", " should ", " has ", " have "];

/// Words that set a sentence against another one: the situation that it is about. A sentence with a word of one side and a
/// sentence with a word of the other apply under different conditions. Where the other side is empty, so do sentences with
/// and without the word.
pub const SITUATIONS: &[(&[&str], &[&str])] = &[
    (&["with "], &["without"]),
    (&["inside", "indoor"], &["outside", "outdoor"]),
    (&["weekday"], &["weekend", "holiday"]),
    (&["summer"], &["winter"]),
    (&["new "], &["existing", "old "]),
    (&["per year", "a year", "annual"], &["per month", "a month", "monthly"]),
    (&["月額", "毎月", "月間"], &["日額", "一日", "1日", "毎日"]),
    (&["default"], &[]),
    (&["recommend", "average", "typically"], &[]),
    (&["total", "altogether"], &[]),
    (&["平日"], &["休日", "土日", "祝日"]),
    (&["国内"], &["海外", "国外"]),
    (&["毎年", "年額", "年間"], &["毎月", "月額", "1か月", "一か月", "1ヶ月", "月間"]),
    (&["ない方", "ない者", "以外"], &[]),
    (&["初期設定", "既定", "デフォルト", "標準では"], &[]),
    (&["推奨", "望まし", "目安", "平均"], &[]),
    (&["合計", "通算", "累計"], &[]),
];

/// Words that set a value against another one: its place before or after something, and its bounds. In sentences of nearly
/// the same words they tell two rules apart; in two answers in other words they may belong to something else.
pub const ORDERS: &[(&[&str], &[&str])] = &[
    (&["before"], &["after", "once "]),
    (&["above", "more than", "over "], &["below", "up to", "under ", "less than"]),
    (&["minimum", "at least"], &["maximum", "at most"]),
    (&["未満"], &["以上"]),
    (&["以下", "まで"], &["超え", "以降", "超"]),
    (&["前"], &["後"]),
    (&["最大", "上限"], &["最小", "最低", "下限"]),
];

/// Words that say nothing about the subject of a sentence.
pub const GENERAL: &[&str] = &[
    "場合", "必要", "可能", "対象", "対象外", "不要", "不可", "当社", "会社", "以内", "以上", "以下", "未満", "次",
    "等", "者", "方", "時", "際", "中", "上", "為", "事", "物", "行", "当", "同", "本", "各", "上限", "最大",
    "限度", "最低", "必須", "禁止", "満", "毎", "内", "原則", "無料", "有料", "定", "達", "認", "許可", "取扱",
    "内容", "説明", "項目", "備考", "区分", "月額", "毎月", "年額", "毎年", "per", "over", "since", "many",
    "because", "therefore", "thus", "cannot", "maximum", "minimum", "limit", "limited", "least", "required",
    "allowed", "optional", "mandatory", "remember", "note", "always", "normally", "usually", "generally", "now",
    "until", "up", "no", "not",
];

/// Words for the persons that a rule is about, which tell nothing about its subject.
pub const PERSONS: &[&str] = &[
    "社員", "従業員", "職員", "会社", "当社", "本人", "利用者", "客様", "皆", "人", "user", "employe", "custom",
    "you", "staff", "member", "passeng", "tenant", "student",
];

/// The stems of words that affirm or deny, which tell nothing about the subject.
pub const DECIDING: &[&str] = &[
    "accept", "allow", "permit", "possibl", "support", "welcom", "prohibit", "forbidden", "includ", "cover",
    "need", "requir", "must", "ye", "fine", "認", "許", "禁", "可能", "要", "負担", "自己負担", "自己", "当店",
    "弊社", "借主", "貸主", "bear", "pay", "expens", "compani", "landlord",
];

/// Topics of a sentence that do not say what it is about: 最初の半年は.
pub const VAGUE_TOPICS: &[&str] = &[
    "最初", "原則", "通常", "基本", "現在", "普段", "期間", "上限", "場合", "時間",
    "指定", "所定", "規定", "一般", "標準",
];

/// Words in headings and file names under which nothing is stated: examples, exercises and histories.
pub const NO_STATEMENT_HEADINGS: &[&str] = &[
    "例", "記入例", "計算例", "サンプル", "演習", "チュートリアル", "変更履歴", "更新履歴", "改訂履歴",
    "リリースノート", "exampl", "sampl", "tutori", "walkthrough", "changelog", "releas",
];
/// The beginnings of folder and file names under which nothing is stated.
pub const NO_STATEMENT_FILES: &[&str] = &["changelog", "release-notes", "releases", "whats-new", "history"];

/// Words that tell groups of people, editions, plans, places and platforms apart.
pub const GROUPS: &[&str] = &[
    "正社員", "社員", "契約社員", "嘱託", "嘱託社員", "パート", "パートタイム", "アルバイト", "管理職", "一般職",
    "総合職", "派遣", "役員", "学生", "一般", "会員", "非会員", "法人", "個人", "国内", "海外", "平日", "休日",
    "夏期", "冬期", "夏季", "冬季", "大人", "小人", "子ども", "小児", "成人", "高齢者", "初級", "上級", "旧", "新",
    "旧版", "新版", "改訂", "本番", "検証", "ライト", "スタンダード", "プレミアム", "ベーシック", "エコノミー",
    "ビジネス", "ゴールド", "シルバー", "東京", "大阪", "北海道", "九州", "関東", "関西", "本社", "支社", "工場",
    "本館", "別館", "日本", "米国", "アメリカ", "中国", "韓国", "台湾", "英国", "イギリス", "ドイツ", "フランス",
    "欧州", "北米", "アジア", "basic", "standard", "premium", "pro", "professional", "free", "team", "business",
    "enterprise", "community", "lite", "plus", "personal", "starter", "gold", "silver", "bronze", "platinum",
    "student", "staff", "adult", "child", "children", "full-time", "part-time", "domestic", "international",
    "overseas", "weekday", "weekend", "linux", "windows", "mac", "macos", "ubuntu", "debian", "fedora", "rhel",
    "centos", "ios", "android", "cloud", "desktop", "engine", "swarm", "compose", "staging", "production",
    "development", "europe", "asia", "africa", "america", "eu", "us", "uk", "japan", "germany", "france",
    "switzerland", "austria", "italy", "spain", "portugal", "netherlands", "belgium", "poland", "sweden", "norway",
    "denmark", "finland", "ireland", "britain", "england", "scotland", "china", "korea", "taiwan", "india",
    "singapore", "thailand", "vietnam", "indonesia", "australia", "canada", "mexico", "brazil",
];

/// The ends of titles that name a member of a group: a plan, an edition, an area, a kind of person.
pub const MEMBERS: &[&str] = &[
    "生", "員", "職", "級", "地区", "区", "県", "市", "店", "館", "棟", "エディション", "プラン", "コース", "版",
    "型", "モデル", "シリーズ", "crew", "staff", "student", "member", "employe", "edit", "plan", "tier", "model",
    "seri", "worker", "visitor", "resid", "guest", "driver", "teacher", "contractor",
];

/// The ends of titles that say what kind of document it is, which tells nothing about its subject.
pub const DOCUMENTS: &[&str] = &[
    "規程", "規則", "手引", "案内", "説明書", "マニュアル", "ガイド", "ハンドブック", "基準", "要領", "細則",
    "質問", "guid", "manual", "handbook", "polici", "rule", "faq", "term", "overview", "refer", "instruct",
    "question", "note", "summari",
];

/// Words beside a single letter that names a plan or a class: プランA, class B.
pub const LETTERED: &[&str] = &[
    "プラン", "コース", "タイプ", "グループ", "クラス", "型", "種", "級", "棟", "館", "plan", "class", "type",
    "option", "grade", "tier", "group", "rank", "category", "model",
];

/// Names before a number that only count the parts of a document.
pub const NUMBERED: &[&str] = &[
    "module", "step", "chapter", "part", "section", "lesson", "unit", "page", "appendix", "week", "day", "phase",
    "no", "article", "annex", "table", "figure", "q", "l",
];
