use proptest::prelude::*;

use super::*;

const PROSE: &str = "第1条　この規程は、従業員の休職及び復職について定める。\n休職中の給付金は支給しない。ただし、会社が認めた場合はこの限りでない。\n";

/// The bytes of a text in an encoding.
pub fn encoded(text: &str, encoding: Encoding) -> Vec<u8> {
    let utf16 = |bom: u16, bytes: fn(u16) -> [u8; 2]| {
        std::iter::once(bom).chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf16Le => utf16(0xfeff, u16::to_le_bytes),
        Encoding::Utf16Be => utf16(0xfeff, u16::to_be_bytes),
        Encoding::ShiftJis => SHIFT_JIS.encode(text).0.into_owned(),
        Encoding::EucJp => EUC_JP.encode(text).0.into_owned(),
        Encoding::Iso2022Jp => ISO_2022_JP.encode(text).0.into_owned(),
    }
}

fn decoded(bytes: &[u8]) -> Option<(String, Encoding)> {
    decode(bytes.to_vec()).map(|decoded| (decoded.text, decoded.encoding))
}

#[test]
fn prose_is_decoded_in_every_encoding() {
    for encoding in Encoding::ALL {
        assert_eq!(decoded(&encoded(PROSE, encoding)), Some((PROSE.to_owned(), encoding)));
    }
}

#[test]
fn short_texts_are_not_garbled() {
    let texts = [
        "東京都",
        "給付金",
        "休職",
        "対象外",
        "休職とは",
        "あ",
        "ア",
        "保険金額は100万円",
        "# 概要\n",
        "A社とB社",
        "カタカナ",
        "日本",
        "表1",
        "― 別表 ―",
        "①②③ 髙﨑",
        "ﾊﾝｶｸｶﾅ ﾃﾞ ｶｸ ﾌｧｲﾙ ﾃﾞｽ",
        "氏名 ﾔﾏﾀﾞ ﾀﾛｳ",
        "料金表\tＡ\n",
        "漢字kanji",
    ];
    for text in texts {
        for encoding in [Encoding::ShiftJis, Encoding::EucJp, Encoding::Iso2022Jp] {
            let bytes = encoded(text, encoding);
            // These characters are not in ISO-2022-JP, and the bytes of one kanji may also be UTF-8.
            let is_lost = encoding == Encoding::Iso2022Jp && text.contains(['ﾊ', 'ﾔ', '髙']);
            if is_lost || (encoding != Encoding::Iso2022Jp && std::str::from_utf8(&bytes).is_ok()) {
                continue;
            }
            if let Some((found, as_encoding)) = decoded(&bytes) {
                assert_eq!((found.as_str(), as_encoding), (text, encoding), "{bytes:x?}");
            } else {
                panic!("{text} in {encoding:?} is not decoded");
            }
        }
    }
}

#[test]
fn a_byte_order_mark_is_not_part_of_the_text() {
    let with_bom = decode("\u{feff}# A".as_bytes().to_vec()).unwrap();
    assert_eq!(with_bom, DecodedText { text: "# A".into(), encoding: Encoding::Utf8, has_bom: true });
    assert!(!decode(b"a".to_vec()).unwrap().has_bom);
}

#[test]
fn other_bytes_are_not_text() {
    let sjis = encoded(PROSE, Encoding::ShiftJis);
    let utf16_without_bom: Vec<u8> = PROSE.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let png = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR".to_vec();
    let gbk = encoding_rs::GBK
        .encode("本合同自双方签字盖章之日起生效。甲方应当在三十日内支付全部款项，逾期支付违约金。")
        .0
        .into_owned();
    let korean = encoding_rs::EUC_KR
        .encode("이 규정은 직원의 휴직과 복직에 관하여 정한다. 급여는 지급하지 아니한다.")
        .0
        .into_owned();
    let latin = |text: &str| encoding_rs::WINDOWS_1252.encode(text).0.into_owned();
    for (name, bytes) in [
        ("half a character", sjis[..sjis.len() - 2].to_vec()),
        ("a lead byte at the end", [sjis.as_slice(), b"\x82"].concat()),
        ("UTF-16 without a mark", utf16_without_bom),
        ("half of UTF-16", b"\xff\xfea\0b".to_vec()),
        ("UTF-32", b"\xff\xfe\0\0a\0\0\0".to_vec()),
        ("a lone surrogate", b"\xff\xfe\x00\xd8a\0".to_vec()),
        ("a picture", png),
        ("NUL", b"a\0b".to_vec()),
        ("NUL after a mark", b"\xef\xbb\xbfa\0b".to_vec()),
        ("Latin-1 French", latin("Le café est fermé à midi. Où êtes-vous ? Une résumé détaillé.")),
        ("Latin-1 German", latin("Männer kaufen Käse. Ärger über große Bäume und Wälder.")),
        ("Latin-1 capitals", latin("Ärger und Öl; Übel macht Spaß.\nÄpfel.")),
        ("a single accent", latin("caf\u{e9}")),
        ("one accent", latin("Die Hände")),
        ("Chinese", gbk),
        ("Korean", korean),
        ("broken UTF-8", b"abc \xe3\x81 def".to_vec()),
        ("mixed", [PROSE.as_bytes(), &sjis].concat()),
    ] {
        assert_eq!(decoded(&bytes), None, "{name}");
    }
}

#[test]
fn escape_sequences_of_terminals_are_plain_text() {
    let log = "\u{1b}[31merror\u{1b}(B\u{1b}[m done\n";
    assert_eq!(decoded(log.as_bytes()), Some((log.to_owned(), Encoding::Utf8)));
    // Two texts that were joined: the escape sequences at the joint are redundant.
    let joined = [encoded("一つ目", Encoding::Iso2022Jp), encoded("二つ目", Encoding::Iso2022Jp)].concat();
    assert_eq!(decoded(&joined), Some(("一つ目二つ目".to_owned(), Encoding::Iso2022Jp)));
    assert_eq!(decoded(b"\x1b$B$"), None, "half a character");
}

#[test]
fn a_quick_look_tells_other_encodings_apart() {
    assert!(looks_like_utf8(b"plain", true) && looks_like_utf8(PROSE.as_bytes(), true));
    assert!(looks_like_utf8(b"a\xe3\x81", false), "the last character may be cut");
    assert!(!looks_like_utf8(b"a\xe3\x81", true), "a character of Shift_JIS");
    for encoding in Encoding::ALL.into_iter().filter(|encoding| *encoding != Encoding::Utf8) {
        assert!(!looks_like_utf8(&encoded(PROSE, encoding), true), "{encoding:?}");
    }
}

proptest! {
    #[test]
    fn japanese_text_is_decoded_in_every_encoding(
        text in "([ぁ-んァ-ヶ、。「」ー]{3,8}[規程従業員休職復定支給付金会社認場合限条約款保険対象除外申請書類提出期]{1,4}[ a-zA-Z0-9\n]{0,3}){2,12}",
        encoding in proptest::sample::select(Encoding::ALL.to_vec()),
    ) {
        let bytes = encoded(&text, encoding);
        prop_assert_eq!(decoded(&bytes), Some((text, encoding)));
    }

    #[test]
    fn whatever_is_decoded_can_be_encoded_again(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        if let Some(found) = decode(bytes.clone()) {
            let text = if found.has_bom && found.encoding == Encoding::Utf8 {
                format!("\u{feff}{}", found.text)
            } else {
                found.text
            };
            match found.encoding {
                Encoding::Iso2022Jp => {}
                // Characters that CP932 has twice are written in one of their forms, of the same length and meaning.
                Encoding::ShiftJis => {
                    let again = encoded(&text, found.encoding);
                    prop_assert!(is_shift_jis_of(&bytes, &again), "{bytes:?} {again:?}");
                    prop_assert_eq!(SHIFT_JIS.decode(&again).0, SHIFT_JIS.decode(&bytes).0);
                }
                _ => prop_assert_eq!(encoded(&text, found.encoding), bytes),
            }
        }
    }
}

#[test]
fn characters_that_cp932_has_twice_are_read() {
    // 髙 and 﨑 as Windows writes them, 髙 in its other form, and ① of NEC's row.
    let before = SHIFT_JIS.encode("担当者は次のとおりです。").0.into_owned();
    for (bytes, letter) in
        [(&[0xee_u8, 0xe0][..], '髙'), (&[0xfb, 0xfc], '髙'), (&[0xed, 0x95], '﨑'), (&[0x87, 0x40], '①')]
    {
        let text = decode([&before, bytes, b"\n"].concat()).unwrap();
        assert_eq!((text.text.chars().rev().nth(1), text.encoding), (Some(letter), Encoding::ShiftJis));
    }
    assert!(!is_shift_jis_of(&[0x82, 0xa0], &[0x82, 0xa2]) && !is_shift_jis_of(b"a", b"ab"));
}
