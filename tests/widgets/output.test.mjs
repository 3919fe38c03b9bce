// The text of a result: its links open in the host, its marks are no letters, and nothing in it becomes markup.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as data from "./data.mjs";
import { assertAxe, assertRules } from "./rules.mjs";
import { stage } from "./stage.mjs";

/** A host in which a service has answered with a text. */
async function result(output, options = {}) {
  const mount = options.methods ? stage.host.mountOpenai : stage.host.mount;
  const mounted = await mount({
    html: stage.pages.dashboard,
    result: data.status(),
    globals: { toolOutput: data.status().structuredContent },
    callTool: async () => data.run(output),
    ...options,
  });
  await mounted.frame.getByRole("button", { name: "Run: Scrape" }).click();
  await mounted.frame.getByLabel("What should it work on?").fill("x");
  await mounted.frame.getByRole("button", { name: "Run", exact: true }).click();
  await mounted.frame.locator(".output").waitFor();
  return mounted;
}
const linksOf = (frame) =>
  frame.locator(".output a").evaluateAll((all) => all.map((link) => [link.textContent, link.getAttribute("href")]));

test("addresses and Markdown links are links that the host opens", async () => {
  const mounted = await result(
    [
      "## Weather in **Tokyo**",
      "**Sunny**, see [JMA](https://www.jma.go.jp/a_(b)?c=1#d) and ![a picture](http://example.com/p.png).",
      "詳細は「https://example.com/wiki/A_(b)」か、https://example.com/aをご覧ください。",
      "- https://example.com/b?c=d&e=%20 (2026-11-17), https://example.com/c.",
      "2 ** 3, a*b*c, #1 and [no](javascript:alert(1)), [x](data:text/html,y), ftp://example.com",
    ].join("\n"),
  );
  const { tab, frame, seen } = mounted;
  assert.deepEqual(await linksOf(frame), [
    ["JMA", "https://www.jma.go.jp/a_(b)?c=1#d"],
    ["a picture", "http://example.com/p.png"],
    ["https://example.com/wiki/A_(b)", "https://example.com/wiki/A_(b)"],
    ["https://example.com/a", "https://example.com/a"],
    ["https://example.com/b?c=d&e=%20", "https://example.com/b?c=d&e=%20"],
    ["https://example.com/c", "https://example.com/c"],
  ]);
  assert.equal(
    await frame.locator(".output").textContent(),
    [
      "Weather in Tokyo",
      "Sunny, see JMA and a picture.",
      "詳細は「https://example.com/wiki/A_(b)」か、https://example.com/aをご覧ください。",
      "- https://example.com/b?c=d&e=%20 (2026-11-17), https://example.com/c.",
      "2 ** 3, a*b*c, #1 and [no](javascript:alert(1)), [x](data:text/html,y), ftp://example.com",
    ].join("\n"),
  );
  assert.deepEqual(await frame.locator(".output strong").allTextContents(), ["Weather in Tokyo", "Sunny"]);
  await frame.getByRole("link", { name: "JMA" }).click();
  await tab.waitForFunction(() => window.seen.links.length === 1);
  await frame.getByRole("link", { name: "https://example.com/c" }).press("Enter");
  await tab.waitForFunction(() => window.seen.links.length === 2);
  assert.deepEqual((await seen()).links, ["https://www.jma.go.jp/a_(b)?c=1#d", "https://example.com/c"]);
  assert.ok(await frame.locator(".output").isVisible(), "the page itself goes nowhere");
  await assertRules(mounted, "links");
  await assertAxe(mounted, "links");
  await tab.context().close();
});

test("a host that opens no links leaves their addresses", async () => {
  const { tab, frame } = await result("See [this](https://example.com/a).", { methods: ["callTool"] });
  await frame.getByRole("link", { name: "this" }).click();
  await frame.getByRole("link", { name: "https://example.com/a" }).waitFor();
  await tab.context().close();
});

test("data and markup are shown as they are", async () => {
  for (const output of [
    '{"url": "https://example.com/a", "text": "**bold**"}',
    '["https://example.com/a"]',
    "<a href='https://example.com/a'>**x**</a>",
  ]) {
    const { tab, frame } = await result(output);
    assert.equal(await frame.locator(".output").textContent(), output);
    assert.deepEqual(await linksOf(frame), []);
    await tab.context().close();
  }
  const { tab, frame } = await result("[JMA](https://example.com/a) knows it.");
  assert.deepEqual(await linksOf(frame), [["JMA", "https://example.com/a"]]);
  await tab.context().close();
});

test("an address that the first part of a result cuts is no link; many marks and brackets are read at once", async () => {
  const address = `https://example.com/${"a".repeat(100)}`;
  const { tab, frame } = await result(`${"x".repeat(3950)} ${address} end`);
  assert.deepEqual(await linksOf(frame), []);
  await frame.getByRole("button", { name: /^Show all/ }).click();
  assert.deepEqual(await linksOf(frame), [[address, address]]);
  await tab.context().close();

  for (const part of ["[", "[a](", "**", "# ", "https://", "[a](https://x(", "https://e.example/a ", "!".repeat(9)]) {
    const text = `Text: ${part.repeat(Math.ceil(300_000 / part.length))}`;
    const mounted = await result(text);
    await mounted.frame.getByRole("button", { name: /^Show all/ }).click();
    await mounted.frame.locator(".output:focus").waitFor();
    assert.equal((await mounted.frame.locator(".output").textContent()).length, text.length);
    assert.ok((await linksOf(mounted.frame)).length <= 1000);
    await mounted.tab.context().close();
  }
});

test("texts have lines that can be read", async () => {
  const { tab, frame } = await result("word ".repeat(200), { width: 1200 });
  const [input, output] = await frame
    .locator("textarea, .output")
    .evaluateAll((all) => all.map((element) => element.getBoundingClientRect().width));
  assert.equal(input, output);
  assert.ok(output < 720, String(output));
  await tab.context().close();
});
