use super::super::cues::Cues;
use super::*;

#[test]
fn the_last_word_decides_what_is_affirmed_or_denied() {
    for (text, concept, is_affirmed) in [
        ("返品できます。", Possible, true),
        ("返品できません。", Possible, false),
        ("喫煙は禁止です。", Possible, false),
        ("申請が必要です。", Required, true),
        ("申請は必要ありません。", Required, false),
        ("申請しなければならない。", Required, true),
        ("送料は無料です。", Charged, false),
        ("送料は有料です。", Charged, true),
        ("地震は対象外です。", Included, false),
        ("地震は対象です。", Included, true),
        ("窓口で受け付ける。", Happens, true),
        ("窓口で受け付けない。", Happens, false),
        ("gift cards can be returned", Possible, true),
        ("gift cards cannot be returned", Possible, false),
        ("smoking is not allowed here", Possible, false),
        ("a signature is required", Required, true),
        ("a signature is not required", Required, false),
        ("no signature is required", Required, false),
        ("breakfast is included", Included, true),
        ("breakfast is not included", Included, false),
        ("parking is free of charge", Charged, false),
        ("the store takes returns", Happens, true),
        ("the store does not take returns", Happens, false),
        ("", Happens, true),
    ] {
        assert_eq!(Cues::of(text).polarity, Polarity { concept, is_affirmed }, "{text}");
    }
}

#[test]
fn a_japanese_word_in_the_middle_says_nothing_about_the_whole() {
    let text = "返品できない商品については別紙の一覧表に記載する。";
    assert_eq!(Cues::of(text).polarity, Polarity { concept: Happens, is_affirmed: true });
    // A word that contains `no` is no denial.
    assert!(!has_negated_subject("the piano is required"));
}
