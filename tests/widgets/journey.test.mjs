// The whole journey by clicking, in a host of MCP Apps, with the real server behind it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { URIS } from "./pages.mjs";
import { assertRules } from "./rules.mjs";
import { forgetShifts } from "./screens.mjs";
import { stage } from "./stage.mjs";

/** Calls go to the server, as a host passes them on; they are kept for the test. */
function recorder() {
  const calls = [];
  const callTool = (params) => {
    calls.push(params);
    return stage.annai.client.callTool(params);
  };
  return { calls, callTool };
}
const call = (name, args = {}) => stage.annai.client.callTool({ name, arguments: args });
const text = (frame) => frame.locator("main").innerText();

test("the pages are resources that load nothing, below 60 kB", async () => {
  const { extensions } = stage.annai.client.getServerCapabilities();
  assert.deepEqual(extensions["io.modelcontextprotocol/ui"], { mimeTypes: ["text/html;profile=mcp-app"] });
  const { resources } = await stage.annai.client.listResources();
  const { tools } = await stage.annai.client.listTools();
  for (const uri of Object.values(URIS)) {
    const listed = resources.find((resource) => resource.uri === uri);
    assert.equal(listed.mimeType, "text/html;profile=mcp-app");
    const { contents } = await stage.annai.client.readResource({ uri });
    assert.deepEqual([contents[0].mimeType, contents[0].uri], ["text/html;profile=mcp-app", uri]);
    assert.deepEqual(contents[0]._meta.ui, { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true });
    assert.ok(contents[0]._meta["openai/widgetDescription"].length > 40);
    assert.ok(Buffer.byteLength(contents[0].text) < 60_000);
    assert.ok(
      tools.some((tool) => tool._meta?.ui?.resourceUri === uri),
      `a tool shows ${uri}`,
    );
  }
});

test("cards, task, consent, done, dashboard, run, result", async () => {
  const { calls, callTool } = recorder();
  const input = { intent: "scrape web pages" };
  const mounted = await stage.host.mount({
    html: stage.pages.list,
    input,
    result: await call("search_services", input),
    callTool,
  });
  const { tab, frame, seen } = mounted;
  const press = (name) => frame.getByRole("button", { name }).click();

  await frame.getByRole("heading", { name: "開発者アンケート 2026" }).waitFor();
  assert.match(await text(frame), /Northwind[\s\S]*Pays up to \$0\.50 a run/);
  await assertRules(mounted, "list");

  // The task, with inputs that fit their names, and nothing agreed to.
  await press("See the task: 開発者アンケート 2026");
  await frame.getByRole("heading", { level: 1, name: "開発者アンケート 2026" }).waitFor();
  assert.deepEqual(calls[0], { name: "get_task_details", arguments: { campaign_id: stage.annai.campaign.id } });
  assert.equal(await frame.evaluate(() => document.activeElement.tagName), "H1");
  const types = await frame
    .locator("input, textarea")
    .evaluateAll((inputs) => inputs.map(({ name, type }) => [name, type]));
  assert.deepEqual(types, [
    ["email", "email"],
    ["region", "text"],
    ["team_size", "text"],
    ["website", "url"],
    ["feedback", "textarea"],
    ["", "checkbox"],
    ["", "checkbox"],
    ["", "checkbox"],
  ]);
  const boxes = frame.getByRole("checkbox");
  assert.deepEqual(await boxes.evaluateAll((all) => all.map(({ checked }) => checked)), [false, false, false]);
  const consents = await frame.locator(".consents").innerText();
  assert.equal(consents.match(/Purpose/g).length, 3);
  assert.equal(consents.match(/365 days|until you withdraw it/g).length, 3);

  // Nothing is sent while something is missing or wrong.
  await press("Send");
  assert.equal(await frame.evaluate(() => document.activeElement.name), "email");
  assert.equal(await frame.getByText("Fill this in.").count(), 5);
  await frame.getByLabel("E-mail address").fill("not an address");
  await frame.getByLabel("Region").fill("JP");
  await frame.getByLabel("Team size").fill("12");
  await frame.getByLabel("Website").fill("example.com");
  await frame.getByLabel("Your feedback").fill("“Fast” <b>search</b> & 速い");
  await press("Send");
  assert.equal(await frame.getByText("Write it like this: name@example.com").count(), 1);
  await frame.getByLabel("E-mail address").fill("me@example.com");
  await frame.getByLabel("E-mail address").press("Enter");
  assert.equal(await frame.getByText("Tick this to use the service.").count(), 2);
  assert.equal(calls.length, 1);

  await press("Privacy policy");
  await tab.waitForFunction(() => window.seen.links.length === 1);
  assert.deepEqual((await seen()).links, ["https://annai.example.test/privacy"]);

  await boxes.nth(0).check();
  await frame.getByText("Keep my answers for this purpose").click();
  assert.deepEqual(await boxes.evaluateAll((all) => all.map(({ checked }) => checked)), [true, true, false]);
  await press("Send");
  await frame.getByRole("heading", { name: "All set" }).waitFor();
  assert.deepEqual(calls[1], {
    name: "complete_task",
    arguments: {
      campaign_id: stage.annai.campaign.id,
      task_name: "developer_survey",
      details: JSON.stringify({
        email: "me@example.com",
        region: "JP",
        team_size: "12",
        website: "https://example.com",
        feedback: "“Fast” <b>search</b> & 速い",
      }),
      consent: { data_sharing_agreed: true, purpose_acknowledged: true, contact_permission: false },
    },
  });
  await assertRules(mounted, "done");

  await press("Use my services");
  await frame.getByRole("heading", { name: "My page" }).waitFor();
  assert.match(await text(frame), /me@example\.com/);
  assert.match(await frame.getByRole("table").innerText(), /開発者アンケート 2026[\s\S]*Developer survey/);
  const ready = frame.locator(".card", { hasText: "Ready" });
  // A service has the name that the search gave it; one that the search did not find has its key.
  assert.deepEqual((await ready.getByRole("heading").allInnerTexts()).sort(), ["Page scraping", "Summarize"]);
  await assertRules(mounted, "dashboard");

  await press("Run: Page scraping");
  await frame.getByLabel("What should it work on?").fill("slow");
  await frame.getByRole("button", { name: "Run", exact: true }).click();
  const run = frame.locator(".button.wide");
  assert.ok(await run.isDisabled(), "the button is disabled while its call is pending");
  await frame.getByRole("heading", { name: "Result" }).waitFor();
  assert.equal(await frame.locator(".output").innerText(), "Answer to: slow");
  assert.match(await text(frame), /Paid by Northwind/);
  const sent = calls.at(-1);
  assert.deepEqual(sent.arguments, { service: "scrape", input: "slow" });
  assert.match(sent._meta["annai/idempotencyKey"], /^[0-9a-f]{32}$/);
  await assertRules(mounted, "result");

  // A second run is another one; a long result is shown in part first.
  await frame.getByLabel("What should it work on?").fill("long");
  await frame.getByRole("button", { name: "Run", exact: true }).click();
  await frame.getByRole("button", { name: "Show all 12,000 characters" }).click();
  assert.equal((await frame.locator(".output").textContent()).length, 12_000);
  assert.notEqual(calls.at(-1)._meta["annai/idempotencyKey"], sent._meta["annai/idempotencyKey"]);

  // The chat goes on with it, and the model knows what was done.
  await press("Discuss it in the chat");
  await tab.waitForFunction(() => window.seen.messages.length === 1);
  await frame.getByRole("button", { name: "Sent" }).waitFor();
  const { messages, contexts, sizes } = await seen();
  assert.match(messages[0].content[0].text, /the service ID “scrape”/);
  const told = contexts.at(-1);
  assert.match(
    told.content[0].text,
    /chose the service ID “[-\da-f]{36}”.*"開発者アンケート 2026"\n.*completed the task of the campaign ID “[-\da-f]{36}”[\s\S]*ran the service ID “scrape”/,
  );
  assert.equal(told.structuredContent.selectedServiceId, stage.annai.campaign.id);
  assert.ok(sizes.length > 3 && sizes.every((height) => height > 100));
  const { structuredContent } = await call("get_user_status");
  assert.equal(structuredContent.completed_tasks.length, 1);
  await tab.context().close();
});

test("a service that needs a task first leads to it, and consent can be reviewed", async () => {
  const { calls, callTool } = recorder();
  const { tab, frame } = await stage.host.mount({
    html: stage.pages.list,
    result: await call("search_services"),
    callTool,
  });
  const press = (name) => frame.getByRole("button", { name }).click();
  await press("Run: ロゴデザイン");
  await frame.getByLabel("What should it work on?").fill("a cloud");
  await press("Run");
  await frame.getByText(/First complete the task “/).waitFor();
  await press("Open the task");
  await frame.getByRole("heading", { name: "Design newsletter" }).waitFor();
  await frame.getByLabel("E-mail address").fill("me@example.com");
  await frame.getByLabel("Region").fill("JP");
  for (const index of [0, 1, 2]) await frame.getByRole("checkbox").nth(index).check();
  await press("Send");
  await frame.getByRole("heading", { name: "All set" }).waitFor();
  // Withdrawn: what is left unticked.
  await press("Review my consent");
  await frame.getByRole("heading", { name: "Review your consent" }).waitFor();
  assert.deepEqual(await frame.getByRole("checkbox").evaluateAll((all) => all.map(({ checked }) => checked)), [
    false,
    false,
    false,
  ]);
  await press("Save");
  await frame.getByRole("heading", { name: "Recorded, but not active" }).waitFor();
  assert.equal(calls.at(-1).arguments.details, undefined);
  const task = await call("get_task_details", { campaign_id: calls.at(-1).arguments.campaign_id });
  assert.equal(task.structuredContent.already_completed, false);
  await press("Back");
  await frame.getByRole("heading", { name: "ロゴデザイン" }).waitFor();
  assert.equal(await frame.getByLabel("What should it work on?").inputValue(), "a cloud");
  await tab.context().close();
});

test("theme, locale and width change while a form is filled in; then the page is torn down", async () => {
  const { callTool } = recorder();
  const mounted = await stage.host.mount({
    html: stage.pages.task,
    result: await call("get_task_details", { campaign_id: stage.annai.campaign.id }),
    callTool,
  });
  const { tab, frame, seen } = mounted;
  await frame.getByRole("button", { name: "Review my consent" }).click();
  await frame.getByRole("checkbox").first().check();
  const root = frame.locator("html");
  const background = () => root.evaluate(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await background(), "rgb(255, 255, 255)");
  await tab.evaluate(() =>
    window.changeContext({
      theme: "dark",
      locale: "ja-JP",
      timeZone: "America/New_York",
      displayMode: "fullscreen",
      safeAreaInsets: { top: 12, right: 0, bottom: 8, left: 0 },
      styles: { variables: { "--font-sans": "serif" } },
    }),
  );
  await frame.getByRole("heading", { name: "同意の見直し" }).waitFor();
  assert.equal(await background(), "rgb(23, 25, 28)");
  assert.equal(await root.getAttribute("lang"), "ja");
  assert.equal(await root.getAttribute("data-display"), "fullscreen");
  assert.equal(await frame.locator("main").evaluate((main) => getComputedStyle(main).paddingTop), "28px");
  assert.equal(await frame.locator("body").evaluate((body) => getComputedStyle(body).fontFamily), "serif");
  assert.ok(await frame.getByRole("checkbox").first().isChecked(), "what was ticked is kept");
  assert.ok(
    await frame
      .getByRole("checkbox")
      .first()
      .evaluate((box) => box === document.activeElement),
    "so is the focus",
  );
  const before = (await seen()).sizes.at(-1);
  await tab.setViewportSize({ width: 320, height: 900 });
  await tab.waitForFunction((height) => window.seen.sizes.at(-1) > height, before);
  await forgetShifts(frame);
  await assertRules(mounted, "narrow");
  await tab.evaluate(() => window.teardown());
  assert.ok(await frame.locator("main").evaluate((main) => main.inert));
  await tab.evaluate(() => window.changeContext({ locale: "en-US" }));
  await tab.waitForTimeout(100);
  assert.equal(await root.getAttribute("lang"), "ja", "a page that was torn down no longer listens");
  await tab.context().close();
});

test("dates follow the host's time zone, amounts its locale", async () => {
  const { status } = await import("./data.mjs");
  for (const [locale, timeZone, expected] of [
    ["en-US", "Asia/Tokyo", "Since Oct 1, 2026"],
    ["en-GB", "America/New_York", "Since 30 Sept 2026"],
    ["ja-JP", "Asia/Tokyo", "2026/10/01から利用"],
    ["xx-broken-", "Nowhere/City", "Since"],
  ]) {
    const { tab, frame } = await stage.host.mount({
      html: stage.pages.dashboard,
      result: status(),
      context: { locale, timeZone },
    });
    await frame.locator("main[aria-busy=false]").waitFor();
    assert.ok((await text(frame)).includes(expected), `${locale}: ${await text(frame)}`);
    await tab.context().close();
  }
});
