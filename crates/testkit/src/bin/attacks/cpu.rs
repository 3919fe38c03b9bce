//! Attacks on the processor.

use annai_testkit::mcp::{Framing, frame};
use serde_json::json;

use crate::Figures;
use crate::place::{Place, cpu_after_cancelling, timed_call, timed_reply};

/// Work that was cancelled may use at most so many seconds in the three seconds after the first 200 ms.
const MAX_CPU_AFTER: f64 = 0.05;

/// 30 MB of zeros and ones, in one line and in many.
fn zeros_and_ones(place: &Place) {
    let mut state = 0x2545_f491_u32;
    let mut digit = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        if state & 1 == 0 { '0' } else { '1' }
    };
    place.write("vault/one.txt", (0..15_000_000).map(|_| digit()).collect::<String>());
    let many: String =
        (0..150_000).flat_map(|_| (0..99).map(|_| digit()).chain(['\n']).collect::<Vec<_>>()).collect();
    place.write("vault/many.txt", many);
}

pub fn slow_regex(place: &Place) -> Figures {
    zeros_and_ones(place);
    let mut server = place.library();
    let (reply, seconds) = timed_call(&mut server, "vault_search", json!({ "query": "1[01]{500}2" }));
    Figures::default().check("a reply", reply.is_some()).add("reply", seconds, "s", 25.0)
}

pub fn slow_regex_cancelled(place: &Place) -> Figures {
    zeros_and_ones(place);
    let mut server = place.library();
    let mut figures = Figures::default();
    for query in ["1[01]{500}2", "(?s)1.{400}2", "(?s).*1.{300}2"] {
        let seconds = cpu_after_cancelling(&mut server, "vault_search", json!({ "query": query }));
        figures = figures.add(
            &format!("`{query}`: processor time after cancellation"),
            seconds,
            "s",
            MAX_CPU_AFTER,
        );
    }
    figures
}

/// An artifact of 2 MB that consists of headings and links to them.
fn links(place: &Place) {
    let sections: String = (0..40_000)
        .map(|number| format!("# Heading {number}\n[to](#heading-{}) source_lines: 1\n", number + 1))
        .collect();
    place.write("vault/artifacts/links.md", sections);
    place.write("vault/source.md", "one\ntwo\n");
}

fn audit() -> serde_json::Value {
    json!({ "artifact_path": "artifacts/links.md", "source_path": "source.md" })
}

pub fn audit_of_links(place: &Place) -> Figures {
    links(place);
    let mut server = place.library();
    let (reply, seconds) = timed_call(&mut server, "artifact_audit", audit());
    let is_complete =
        reply.is_some_and(|reply| reply["result"]["structuredContent"]["one_way_refs"] == 40_000);
    Figures::default().check("all links are reported", is_complete).add("reply", seconds, "s", 10.0)
}

pub fn audit_cancelled(place: &Place) -> Figures {
    links(place);
    // Several times as much, so that it takes long enough to be cancelled.
    let text = std::fs::read_to_string(place.folder.join("vault/artifacts/links.md")).unwrap();
    place.write("vault/artifacts/links.md", text.repeat(12));
    let mut server = place.library();
    let seconds = cpu_after_cancelling(&mut server, "artifact_audit", audit());
    Figures::default().add("processor time after cancellation", seconds, "s", MAX_CPU_AFTER)
}

pub fn framed_array(place: &Place) -> Figures {
    let mut server = place.library();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" }).to_string();
    let array = format!("[\n{}\n]", vec![ping; 20_000].join("\n,\n"));
    let started = std::time::Instant::now();
    server.write(&frame(&array, Framing::Headers));
    let id = server.start_request("ping", json!({}));
    let (reply, _) = timed_reply(&server, id);
    let seconds = started.elapsed().as_secs_f64();
    Figures::default().check("a reply", reply.is_some()).add("reply to the ping behind it", seconds, "s", 3.0)
}

pub fn nested_braces(place: &Place) -> Figures {
    place.write("vault/a.md", "x\n");
    let mut server = place.library();
    let glob = format!("{}a{}", "{".repeat(250), "}".repeat(250));
    let (reply, seconds) = timed_call(&mut server, "vault_search", json!({ "query": "x", "glob": glob }));
    let code = reply.map(|reply| reply["result"]["_meta"]["annai/error"]["code"].clone()).unwrap_or_default();
    Figures::default()
        .check(&format!("refused as invalid_parameter ({code})"), code == "invalid_parameter")
        .check("no panic", !server.finish().contains("panic"))
        .add("reply", seconds, "s", 2.0)
}

pub fn growing_text(place: &Place) -> Figures {
    // In long lines, and in lines of one character each.
    let long = format!("# A\n{}\n", "\u{fdfa}".repeat(8_000_000));
    place.write("manuals/m/long.md", long);
    place.write("manuals/m/short.md", format!("# B\n{}", "\u{fdfa}\n".repeat(2_000_000)));
    let mut server = place.library();
    let (reply, seconds) = timed_call(&mut server, "manual_find", json!({ "query": "heading" }));
    Figures::default().check("a reply", reply.is_some()).add("reply", seconds, "s", 90.0).add(
        "peak memory for 32 MB of U+FDFA",
        server.process.peak_mib(),
        "MiB",
        400.0,
    )
}

/// Larger than what is read at once: the vault refuses it with a sentence, and a find reads it for the index.
pub fn a_hundred_megabytes(place: &Place) -> Figures {
    place.write("vault/long.md", "\u{fdfa}".repeat(33_400_000));
    let mut server = place.library();
    let mut figures = Figures::default();
    for (tool, arguments) in [
        ("vault_read", json!({ "path": "long.md", "full": true })),
        ("vault_search", json!({ "query": "heading" })),
        ("vault_find", json!({ "query": "heading" })),
    ] {
        let (reply, seconds) = timed_call(&mut server, tool, arguments);
        figures = figures.check(&format!("{tool}: a reply"), reply.is_some()).add(tool, seconds, "s", 90.0);
    }
    figures.add("peak memory for 100 MB of U+FDFA", server.process.peak_mib(), "MiB", 1_000.0)
}

/// The first find of a large manual, whose index nobody else waits for.
pub fn indexing_cancelled(place: &Place) -> Figures {
    let paragraph =
        "The valve must not exceed 12.5 bar, see [limits](#limits) and `table 4`. 弁の圧力は別表による。\n\n";
    let section = format!("# Heading\n\n{}", paragraph.repeat(20));
    place.write("manuals/m/prose.md", section.repeat(20_000));
    place.write("manuals/n/page.html", format!("<p>{}</p><h2>x</h2>", paragraph.repeat(10)).repeat(20_000));
    place.write("vault/prose.md", section.repeat(20_000));
    let mut figures = Figures::default();
    for (tool, arguments) in [
        ("manual_find", json!({ "query": "valve", "manual_id": "m" })),
        ("manual_find", json!({ "query": "valve", "manual_id": "n" })),
        ("vault_find", json!({ "query": "valve" })),
    ] {
        let mut server = place.library();
        let seconds = cpu_after_cancelling(&mut server, tool, arguments.clone());
        let name = format!("{tool} {arguments}: processor time after cancellation");
        figures = figures.add(&name, seconds, "s", MAX_CPU_AFTER);
    }
    figures
}
