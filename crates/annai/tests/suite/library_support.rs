//! The audit of support: the values of an artifact must occur in the lines that it cites, or in the manual that its text was
//! copied from.

use serde_json::{Value, json};

use crate::{Home, Shelf, annai};

const RULES: &str = "# 就業規則\n\n第3条 定年は満六十歳とし、定年に達した日の属する月の末日に退職する。\n退職の申出は三十日前までに行う。\n年次有給休暇は二十日とし、二年間に限り繰り越すことができる。\n退職金は勤続三年以上の者に支給し、上限は二千万円とする。\n本規則は令和8年4月1日から施行する。始業は午前9時、終業は午後5時30分とする。\n休憩は一時間とする。欠勤は給与の一割を控除する。\nThe probation period is fourteen days; a notice of one hundred and eighty days applies.\nBackups are kept for 2 GB or 1,500 ms; set `retry_limit` to five attempts.\n";

fn audit(shelf: &mut Shelf, artifact: &str) -> Value {
    shelf.write("vault/source.md", RULES);
    shelf.write("vault/artifacts/a.md", artifact);
    shelf.call("artifact_audit", json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md" }))
}

fn values(found: &Value) -> Vec<&str> {
    let findings = found["findings"].as_array().unwrap().iter();
    findings
        .filter(|finding| finding["kind"] == "unsupported")
        .map(|finding| finding["value"].as_str().unwrap())
        .collect()
}

#[test]
fn a_false_statement_with_a_citation_is_found() {
    let mut shelf = Shelf::new(&[]);
    let found = audit(&mut shelf, "# 定年は99歳で退職金は1億円である\nsource_lines: 1-10\n");
    assert_eq!(values(&found), ["99歳", "1億円"], "{found:#}");
    assert_eq!((&found["unsupported_values"], &found["rootless_nodes"]), (&json!(2), &json!(0)));
    assert_eq!(found["findings"][0]["checked"], json!(["source.md#L1-10"]));
    assert_eq!(
        found["findings"][0]["message"],
        "line 1, 定年は99歳で退職金は1億円である: 99歳 does not occur in the cited lines (source.md#L1-10); cite the lines that state it, correct it, or write `derived:` into the element if it follows from them"
    );
    // An audit with findings leads on: to the source, which was not read yet, and then to the place.
    assert_eq!(
        (&found["needs_forced_full_scan"], &found["next_actions"][0]["type"]),
        (&json!(true), &json!("vault_scan"))
    );
    shelf.call("vault_scan", found["next_actions"][0]["params"].clone());
    let again = audit(&mut shelf, "# 定年は99歳で退職金は1億円である\nsource_lines: 1-10\n");
    let action = &again["next_actions"][0];
    assert_eq!(
        (&action["type"], &action["params"]["range"]["start_line"]),
        (&json!("vault_read"), &json!(1))
    );
    // The values stand elsewhere in the source, but not on the cited lines.
    let found = audit(&mut shelf, "# A\n定年は60歳である。\nsource_lines: 4-5\n");
    assert_eq!(
        (values(&found), &found["findings"][0]["checked"]),
        (vec!["60歳"], &json!(["source.md#L4-5"]))
    );
}

#[test]
fn true_statements_in_other_words_and_notations_pass() {
    let mut shelf = Shelf::new(&[]);
    let statements = [
        "定年は60歳です",
        "社員は６０才で定年を迎える",
        "Employees retire at the age of 60",
        "退職したい人は30日前までに申し出る",
        "Give notice 30 days before leaving",
        "有休は年20日",
        "繰越は2年（24か月）まで",
        "Unused leave carries over for two years",
        "退職金は3年以上勤めた人だけ",
        "退職金の上限は20,000,000円",
        "The cap is ¥20,000,000",
        "上限2,000万円",
        "2026年4月1日施行",
        "In force since April 1st, 2026",
        "施行日: 2026-04-01",
        "9:00に始まり17:30に終わる",
        "Work ends at 5:30 p.m.",
        "休憩60分",
        "欠勤すると10%引かれる",
        "試用期間は2週間",
        "予告期間は180日",
        "保存は2,000 MBまで",
        "待ち時間は1.5秒",
        "`retry_limit` は5回",
        "規則には「定年に達した日」とある",
        "The text says \"a notice of one hundred\"",
    ];
    let text: String =
        statements.iter().map(|statement| format!("# {statement}\nsource_lines: 1-10\n\n")).collect();
    let found = audit(&mut shelf, &text);
    assert_eq!((values(&found), &found["unsupported_values"]), (vec![], &json!(0)), "{found:#}");
    assert_eq!(
        (&found["findings"], &found["next_actions"][0]["type"]),
        (&json!([]), &json!("stop")),
        "{found:#}"
    );
    // The same statements with other values are all found.
    for (statement, wrong) in [
        ("定年は61歳です", "61歳"),
        ("Employees retire at the age of 65", "65"),
        ("Give notice 31 days before leaving", "31 days"),
        ("上限2,000円", "2,000円"),
        ("2025年4月1日施行", "2025年4月1日"),
        ("In force since May 1st, 2026", "May 1st, 2026"),
        ("18:30に終わる", "18:30"),
        ("欠勤すると1%引かれる", "1%"),
        ("試用期間は2か月", "2か月"),
        ("保存は2 GiBまで", "2 GiB"),
        ("`retry_count` を使う", "retry_count"),
        ("「定年に達した年」とある", "「定年に達した年」"),
        ("The text says 'a notice of one thousand'", "'a notice of one thousand'"),
        ("本社は3階建てで7棟ある", "7"),
        ("<div>\n77 days\n</div>", "77 days"),
        ("- **7**7 days", "77 days"),
        ("| a | b |\n|---|---|\n| 1 | 77 days |", "77 days"),
        ("```sh\nretry_limit --force\n```", "retry_limit --force"),
    ] {
        let found = audit(&mut shelf, &format!("# A\n{statement}\nsource_lines: 1-10\n"));
        assert!(values(&found).contains(&wrong), "{statement}: {found:#}");
    }
}

#[test]
fn numbers_of_lists_sections_and_identifiers_are_no_values() {
    let mut shelf = Shelf::new(&[]);
    let artifact = "---\ntitle: 77\n---\n# 1. 概要\nsource_lines: 1-10\n\n1. first\n2. second\n3. third\n\n第77条と表77、[77]、(77)、[^77]、v7.7、sha256、see section 77, page 78.\n[link](https://example.com/77) <!-- 77 -->\n\n<!--\n77 days\n-->\n\n## 2.1 Scope\n（source_lines: 2-9, 10）\n① a ② b\n\n## 十分な説明\n一般に一部の人が一緒に。\nsource_lines: 3\n";
    let found = audit(&mut shelf, artifact);
    assert_eq!(found["findings"], json!([]), "{found:#}");
}

#[test]
fn derived_elements_are_counted_and_not_flagged() {
    let mut shelf = Shelf::new(&[]);
    let artifact = "# 合計は80日\nderived: 30日と50日の和\nsource_lines: 4-5\n\n# 90日 <!-- derived: sum -->\nsource_lines: 4\n\n# 70日\nsource_lines: 4\n";
    let found = audit(&mut shelf, artifact);
    assert_eq!((values(&found), &found["derived_count"]), (vec!["70日"], &json!(2)), "{found:#}");
    // An element without a citation is rootless, and nothing else.
    let found = audit(&mut shelf, "# 99歳\n\n# B\nsource_lines: 1-10\n");
    assert_eq!((&found["rootless_nodes"], &found["unsupported_values"]), (&json!(1), &json!(0)), "{found:#}");
}

#[test]
fn nodes_of_flowcharts_and_json_are_checked() {
    let mut shelf = Shelf::new(&[]);
    let chart = "# Flow\nsource_lines: 1-10\n\n```mermaid\nflowchart TD\n  A[\"定年は60歳<br/>通知は30日前\"] --> B{\"3年以上?\"}\n  B -->|yes| C[退職金は3000万円]\n  B -->|no| D[\"合計 99 derived: sum\"]\n```\n\n- A source_lines: 3-4\n- B source_lines: 6\n- C source_lines: 6 上限\n- D source_lines: 6\n";
    let found = audit(&mut shelf, chart);
    assert_eq!((values(&found), &found["derived_count"]), (vec!["3000万円"], &json!(1)), "{found:#}");
    assert_eq!(
        (&found["findings"][0]["node_id"], &found["findings"][0]["checked"]),
        (&json!("C"), &json!(["source.md#L6-6"]))
    );
    let graph = json!({
        "nodes": [
            { "id": "1", "label": "定年は60歳", "source_lines": "3", "next": ["2"], "x": 480 },
            { "id": "2", "label": "定年は61歳", "data": { "note": "「末日」と「初日」" }, "source_lines": [3, 4], "next": "3" },
            { "id": "3", "label": "合計 99", "derived": true, "source_lines": "1-10" },
        ],
    });
    shelf.write("vault/artifacts/g.json", graph.to_string());
    let found = shelf
        .call("artifact_audit", json!({ "artifact_path": "artifacts/g.json", "source_path": "source.md" }));
    assert_eq!((values(&found), &found["derived_count"]), (vec!["61歳", "「初日」"], &json!(1)), "{found:#}");
}

#[test]
fn ten_thousand_numbers_are_audited_at_once_and_the_reply_stays_small() {
    let mut shelf = Shelf::new(&[]);
    let source: String = (0..5000).map(|number| format!("item {number} costs {}円\n", number * 10)).collect();
    shelf.write("vault/source.md", &source);
    let right: String = (0..10_000).map(|number| format!("{}円、", (number % 5000) * 10)).collect();
    let wrong: String = (0..10_000).map(|number| format!("{}歳 ", number + 100_000)).collect();
    let many: String = (0..10_000)
        .map(|number| format!("## {number}\n{}円\nsource_lines: 1-5000\n", number + 60_000))
        .collect();
    for (text, expected) in [(right, 0), (wrong, 10_000), (many, 10_000)] {
        shelf.write("vault/artifacts/a.md", format!("# A\nsource_lines: 1-5000\n\n{text}\n"));
        let before = shelf.server.process.cpu_time();
        let found = shelf
            .call("artifact_audit", json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md" }));
        // A build without optimisation takes many times as long as a release. Processor time is compared, because elapsed time
        // depends on what else the machine does.
        let used = shelf.server.process.cpu_time() - before;
        assert!(used.as_secs() < 10, "{used:?}");
        assert_eq!(found["unsupported_values"], expected, "{}", found["findings"][0]);
        assert_eq!(found["more"], expected > 0);
        assert!(found.to_string().chars().count() < 25_000);
    }
}

#[test]
fn numbers_in_every_script_and_era_dates_are_compared() {
    let mut shelf = Shelf::new(&[]);
    shelf.write(
        "vault/source.md",
        "期限は三十日、上限は壱百弐拾万円、施行は平成元年一月八日。\n٣٠ يوم, ३० दिन, ๓๐ วัน, ３０日。\n令和8年度の予算は1億2千万円、昭和64年1月7日まで。\n",
    );
    for (text, wrong) in [
        ("30 days, 1,200,000円, 1989-01-08", None),
        ("３０日、¥1,200,000、H1.1.8、1989年", None),
        ("30", None),
        ("٣٠ and ३०", None),
        ("2026年度に120,000,000円、S64.1.7", None),
        ("40日", Some("40日")),
        ("٤٠", Some("٤٠")),
        ("平成2年1月8日", Some("平成2年1月8日")),
        ("壱百参拾万円", Some("壱百参拾万円")),
        ("R9年度", Some("R9年度")),
        ("1兆2千億円", Some("1兆2千億円")),
        ("99999999999999999999", None),
    ] {
        shelf.write("vault/artifacts/a.md", format!("# A\n{text}\nsource_lines: 1-3\n"));
        let found = shelf
            .call("artifact_audit", json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md" }));
        assert_eq!(values(&found), wrong.into_iter().collect::<Vec<_>>(), "{text}: {found:#}");
    }
}

const MANUAL: &str = "# Leave\n\nIntro.\n\n## Paid\n\nThere are 20 days of `paid_leave`.\n\n### Carry\n\nIt carries over for 2 years.\n\n## Sick\n\nUp to 90 days.\n";

fn copy(shelf: &mut Shelf, line: u64, mode: &str) -> Value {
    let from = json!({ "target": "manual", "manual_id": "hr", "path": "rules/leave.md", "start_line": line });
    shelf.call(
        "bridge_copy_section",
        json!({ "from_ref": from, "to_path": "artifacts/a.md", "mode": mode, "cite": true }),
    )
}

#[test]
fn copied_text_carries_its_source_and_is_checked_against_it() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/hr/rules/leave.md", MANUAL);
    shelf.write("vault/source.md", "nothing\n");
    let copied = copy(&mut shelf, 5, "overwrite");
    let text = shelf.file("artifacts/a.md");
    let (comment, rest) = text.split_once('\n').unwrap();
    assert!(
        comment.starts_with("<!-- source: hr/rules/leave.md#L5-11 ") && comment.ends_with(" -->"),
        "{comment}"
    );
    let found = shelf.call("manual_find", json!({ "query": "carries over", "manual_id": "hr" }));
    let rev = found["top"][0]["ref"]["rev"].as_str().unwrap();
    assert_eq!((rev.len(), comment.contains(rev)), (12, true), "{comment}");
    assert!(rest.starts_with("## Paid\n") && copied["written_bytes"] == text.len(), "{text}");
    copy(&mut shelf, 13, "append");
    let audit = json!({ "artifact_path": "artifacts/a.md", "source_path": "source.md" });
    let found = shelf.call("artifact_audit", audit.clone());
    assert_eq!((&found["rootless_nodes"], &found["findings"]), (&json!(0), &json!([])), "{found:#}");
    // Changed text, and own text below the copied sections.
    let text = shelf.file("artifacts/a.md");
    let changed = text.replace("20 days", "25 days").replace("90 days", "2 years") + "\n## Own\n\n90 days\n";
    shelf.write("vault/artifacts/a.md", &changed);
    let found = shelf.call("artifact_audit", audit.clone());
    assert_eq!(values(&found), ["25 days", "2 years"], "{found:#}");
    assert_eq!(found["findings"][0]["checked"], json!(["hr/rules/leave.md#L5-11"]));
    assert_eq!(found["rootless_nodes"], 1, "the own section has no source: {found:#}");
    // A comment says nothing about the section above it.
    shelf.write("vault/artifacts/a.md", format!("# Above\n\n20 days\n\n{text}"));
    let found = shelf.call("artifact_audit", audit.clone());
    assert_eq!(
        (&found["rootless_nodes"], &found["findings"][0]["node_id"]),
        (&json!(1), &json!("Above")),
        "{found:#}"
    );
    // Below its text, the rest of the section may rely on what was copied, and on its own marks.
    let inside = text.replace("## Paid\n", "").replace("### Carry\n", "");
    shelf.write("vault/artifacts/a.md", format!("# Above\n\n20 days, 21 days\n\n{inside}"));
    let found = shelf.call("artifact_audit", audit.clone());
    assert_eq!((&found["rootless_nodes"], values(&found)), (&json!(0), vec!["21 days"]), "{found:#}");
    // The manual changes.
    shelf.write("vault/artifacts/a.md", &text);
    shelf.write("manuals/hr/rules/leave.md", MANUAL.replace("90", "80"));
    let found = shelf.call("artifact_audit", audit.clone());
    assert_eq!(
        (&found["stale_sources"], &found["unsupported_values"], &found["rootless_nodes"]),
        (&json!(2), &json!(0), &json!(0)),
        "{found:#}"
    );
    let message = found["findings"][0]["message"].as_str().unwrap();
    assert!(message.contains(&format!("at rev {rev}")) && message.contains("copy it again"), "{message}");
    assert_eq!(found["needs_forced_full_scan"], true);
    // Comments that lead nowhere are findings, never errors.
    for (comment, part) in [
        ("<!-- source: none/a.md#L1-2 0123456789ab -->", "no manual is named"),
        ("<!-- source: hr/none.md#L1-2 0123456789ab -->", "none.md"),
        ("<!-- source: hr/rules/leave.md#L1-99 -->", "that file has 15 lines"),
        ("<!-- source: hr/rules/leave.md#L9-3 -->", "that file has 15 lines"),
        ("<!-- source: hr/../../vault/source.md#L1-1 -->", ".."),
        ("<!-- source: ../vault/source.md#L1-1 -->", "manual_id"),
        ("<!-- source: hr//etc/passwd.md#L1-1 -->", "absolute"),
        ("<!-- source: hr/.hidden.md#L1-1 -->", "hidden"),
    ] {
        shelf.write("vault/artifacts/a.md", format!("{comment}\n# A\n\n77 days\n"));
        let found = shelf.call("artifact_audit", audit.clone());
        assert_eq!(
            (&found["stale_sources"], &found["unsupported_values"]),
            (&json!(1), &json!(0)),
            "{comment}: {found:#}"
        );
        assert!(found["findings"][0]["message"].as_str().unwrap().contains(part), "{comment}: {found:#}");
    }
}

#[test]
fn cite_is_for_markdown_only() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/hr/rules/leave.md", MANUAL);
    let from = json!({ "target": "manual", "manual_id": "hr", "path": "rules/leave.md", "start_line": 5 });
    let error = shelf.fail(
        "bridge_copy_section",
        json!({ "from_ref": from, "to_path": "a.txt", "mode": "append", "cite": true }),
    );
    assert_eq!(error["code"], "invalid_parameter");
    assert!(
        error["message"].as_str().unwrap().starts_with("cite: expected a to_path that ends in .md"),
        "{error}"
    );
    shelf.call("bridge_copy_section", json!({ "from_ref": from, "to_path": "a.txt", "mode": "append" }));
    assert!(shelf.file("a.txt").starts_with("## Paid"));
    // A part that a limit cut names the lines that were copied.
    shelf.call("bridge_copy_section", json!({ "from_ref": from, "to_path": "a.md", "mode": "append", "cite": true, "limits": { "max_chars": 9 } }));
    assert!(shelf.file("a.md").starts_with("<!-- source: hr/rules/leave.md#L5-6 "), "{}", shelf.file("a.md"));
}

#[test]
fn manuals_are_sources_of_coverage_and_audits_too() {
    let mut shelf = Shelf::new(&[]);
    shelf.write("manuals/hr/rules/leave.md", MANUAL);
    let source = json!({ "target": "manual", "manual_id": "hr", "path": "rules/leave.md" });
    let ranges = json!([{ "start_line": 1, "end_line": 12 }, { "start_line": 10, "end_line": 40 }]);
    let found = shelf.call("vault_coverage", json!({ "source": source, "cited_ranges": ranges }));
    assert_eq!(
        (&found["covered_lines"], &found["total_lines"], &found["coverage_ratio"]),
        (&json!(15), &json!(15), &json!(1.0))
    );
    // Copied lines count as cited, with and without marks.
    copy(&mut shelf, 5, "overwrite");
    let audit = json!({ "artifact_path": "artifacts/a.md", "source": source });
    let found = shelf.call("artifact_audit", audit.clone());
    assert_eq!(
        (&found["coverage_ratio"], &found["uncovered_ranges_count"]),
        (&json!(0.4666), &json!(2)),
        "{found:#}"
    );
    let text = shelf.file("artifacts/a.md") + "\n# Rest: 90 days, 91 days\nsource_lines: 1-4, 12-15\n";
    shelf.write("vault/artifacts/a.md", text);
    let found = shelf.call("artifact_audit", audit.clone());
    assert_eq!((&found["coverage_ratio"], values(&found)), (&json!(1.0), vec!["91 days"]), "{found:#}");
    assert_eq!(
        found["findings"][0]["checked"],
        json!(["hr/rules/leave.md#L1-4", "hr/rules/leave.md#L12-15"])
    );
    // Stale copies count for nothing.
    shelf.write("manuals/hr/rules/leave.md", MANUAL.replace("Intro", "Begin"));
    let found = shelf.call("artifact_audit", audit);
    assert_eq!((&found["stale_sources"], &found["coverage_ratio"]), (&json!(1), &json!(0.5333)), "{found:#}");
}

#[test]
fn the_command_line_names_values_and_lines() {
    let home = Home::new();
    home.write("vault/source.md", RULES);
    home.write(
        "vault/artifacts/a.md",
        "# 定年は99歳\nsource_lines: 1-10\n\n# 80日\nderived: sum\nsource_lines: 1\n",
    );
    let done = annai(&home).args(["audit", "artifacts/a.md", "source.md"]).output().unwrap();
    let text = String::from_utf8(done.stdout).unwrap();
    assert!(
        text.contains(
            "a.md:1  unsupported  定年は99歳: 99歳 does not occur in the cited lines (source.md#L1-10)"
        ),
        "{text}"
    );
    assert!(text.contains("1 element is marked as derived") && text.contains("1 problem found"), "{text}");
    assert_eq!(done.status.code(), Some(1));
}
