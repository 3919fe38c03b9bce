// The same pages in a host that has only `window.openai`, and in one that has both.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as data from "./data.mjs";
import { assertRules } from "./rules.mjs";
import { stage } from "./stage.mjs";

const callTool = ({ name, arguments: args }) => stage.annai.client.callTool({ name, arguments: args });
const globalsOf = ({ structuredContent, _meta }) => ({
  toolOutput: structuredContent,
  toolResponseMetadata: _meta ?? null,
});

test("the journey, and the choice after a reload", async () => {
  const result = await callTool({ name: "search_services", arguments: {} });
  const mounted = await stage.host.mountOpenai({ html: stage.pages.list, globals: globalsOf(result), callTool });
  const { tab, frame } = mounted;
  const press = (name) => frame.getByRole("button", { name }).click();
  await press("See the task: 開発者アンケート 2026");
  for (const [label, value] of [
    ["E-mail address", "me@example.com"],
    ["Region", "JP"],
    ["Team size", "3"],
    ["Website", "https://example.com"],
    ["Your feedback", "Good."],
  ])
    await frame.getByLabel(label).fill(value);
  for (const index of [0, 1]) await frame.getByRole("checkbox").nth(index).check();
  await press("Privacy policy");
  await press("Send");
  await frame.getByRole("heading", { name: "All set" }).waitFor();
  await press("Use my services");
  await press("Run: Page scraping");
  await frame.getByLabel("What should it work on?").fill("https://example.com");
  await press("Run");
  await frame.getByText("Answer to: https://example.com").waitFor();
  await press("Discuss it in the chat");
  await assertRules(mounted, "window.openai");
  const made = (name) => tab.calls.filter(([method]) => method === name).map(([, ...args]) => args);
  assert.deepEqual(
    made("callTool").map(([name]) => name),
    ["get_task_details", "complete_task", "get_user_status", "run_service"],
  );
  assert.deepEqual(made("openExternal"), [[{ href: "https://annai.example.test/privacy" }]]);
  assert.match(made("sendFollowUpMessage")[0][0].prompt, /the service ID “scrape”/);
  assert.ok(
    made("notifyIntrinsicHeight").every(([height]) => height > 100 && height <= 900),
    "no more than the host can give",
  );
  const [state] = made("setWidgetState").at(-1);
  assert.equal(state.selectedServiceId, stage.annai.campaign.id);
  assert.match(state.lastAction, /ran the service ID “scrape”/);

  const again = await stage.host.mountOpenai({
    html: stage.pages.list,
    globals: { ...globalsOf(result), widgetState: state },
    callTool,
    page: tab,
  });
  const chosen = again.frame.locator(".chosen");
  assert.equal(await chosen.getAttribute("data-service"), stage.annai.campaign.id);
  await chosen.getByRole("button", { name: "Continue: 開発者アンケート 2026" }).click();
  await again.frame.getByRole("heading", { name: "You have done this task" }).waitFor();
  await tab.context().close();
});

test("values that come later, a theme and a language that change", async () => {
  const mounted = await stage.host.mountOpenai({ html: stage.pages.dashboard, globals: { locale: "ja" } });
  const { tab, frame } = mounted;
  await frame.getByRole("heading", { name: "マイページを準備中…" }).waitFor();
  await frame.evaluate(
    (toolOutput) =>
      window.openai.setGlobals({
        toolOutput,
        theme: "dark",
        safeArea: { insets: { top: 4, right: 0, bottom: 0, left: 0 } },
      }),
    data.status().structuredContent,
  );
  await frame.getByRole("heading", { name: "マイページ" }).waitFor();
  assert.equal(await frame.locator("html").getAttribute("data-theme"), "dark");
  await frame.evaluate(() => window.openai.setGlobals({ locale: "en-US" }));
  await frame.getByRole("heading", { name: "My page" }).waitFor();
  await assertRules(mounted, "globals");
  await tab.context().close();
});

test("other changes leave alone what somebody is typing", async () => {
  const { tab, frame } = await stage.host.mountOpenai({ html: stage.pages.task, globals: globalsOf(data.task()) });
  const region = await frame.getByLabel("Region").elementHandle();
  await region.type("JP");
  await frame.evaluate(() => window.openai.setGlobals({ maxHeight: 500, theme: "dark", widgetState: {} }));
  await region.type("N");
  assert.equal(await frame.getByLabel("Region").inputValue(), "JPN");
  assert.ok(await region.evaluate((input) => input.isConnected && input === document.activeElement));
  await tab.context().close();
});

test("a result is found wherever the host puts it", async () => {
  const { structuredContent } = data.search();
  for (const globals of [
    { toolOutput: structuredContent },
    { toolOutput: { content: [], structuredContent } },
    { toolResponseMetadata: { mcp_tool_result: { content: [], structuredContent } } },
    { toolOutput: {}, toolResponseMetadata: { mcp_tool_result: { structuredContent } } },
    {
      toolResponseMetadata: {
        mcp_tool_result: {
          content: [
            { type: "text", text: "Found." },
            { type: "text", text: JSON.stringify(structuredContent) },
          ],
        },
      },
    },
  ]) {
    const { tab, frame } = await stage.host.mountOpenai({ html: stage.pages.list, globals });
    await frame.getByRole("heading", { name: "Design newsletter" }).waitFor();
    await tab.context().close();
  }
  const { tab, frame } = await stage.host.mountOpenai({
    html: stage.pages.list,
    globals: { toolResponseMetadata: { mcp_tool_result: data.signIn() } },
  });
  await frame.getByRole("heading", { name: "Sign in to continue" }).waitFor();
  await tab.context().close();
});

test("an older callTool that answers with a string, and a host with few methods", async () => {
  const { structuredContent } = data.task();
  const callTool = () => ({ result: JSON.stringify(structuredContent) });
  const { tab, frame } = await stage.host.mountOpenai({
    html: stage.pages.list,
    globals: globalsOf(data.search()),
    methods: ["callTool"],
    callTool,
  });
  await frame.getByRole("button", { name: "See the task: 開発者アンケート 2026" }).click();
  await frame.getByRole("checkbox").first().waitFor();
  await frame.getByRole("button", { name: "Privacy policy" }).click();
  await frame.getByText("https://annai.example.test/privacy").waitFor();
  assert.deepEqual(tab.problems, []);
  await tab.context().close();
});

test("a host that has both keeps the state in window.openai and speaks MCP Apps", async () => {
  const id = data.search().structuredContent.services[1].service_id;
  const openai = `<head><script>window.openai = { widgetState: { selectedServiceId: ${JSON.stringify(id)} }, setWidgetState(state) { window.saved = state; }, theme: "light", toolOutput: null };</script>`;
  const calls = [];
  const { tab, frame, seen } = await stage.host.mount({
    html: stage.pages.list.replace("<head>", openai),
    result: data.search(),
    callTool: async (params) => calls.push(params) && data.task(),
  });
  assert.equal(await frame.locator(".chosen").getAttribute("data-service"), id);
  await frame.getByRole("button", { name: "See the task: 開発者アンケート 2026" }).click();
  await frame.getByRole("checkbox").first().waitFor();
  assert.equal(calls[0].name, "get_task_details");
  assert.equal(
    await frame.evaluate(() => window.saved.selectedServiceId),
    data.search().structuredContent.services[0].service_id,
  );
  await tab.waitForFunction(() => window.seen.contexts.length > 0);
  assert.equal((await seen()).contexts.length, 1);
  await tab.context().close();
});
