// Bad input: hostile and missing data, hosts that misbehave, and calls that fail, hang or need a sign-in.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as data from "./data.mjs";
import { withScript } from "./host.mjs";
import { assertAxe, assertRules } from "./rules.mjs";
import { stage } from "./stage.mjs";

const HOSTILE = {
  markup: `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script></style><b>`,
  quotes: `"'\`\${1}\\ “„” &lt;&amp; {sponsor} %s`,
  "right to left": "\u202eעברית \u200f(abc)\u202e شركة\u2069",
  long: "長い名前-".repeat(100),
  unbroken: "W".repeat(500),
  emoji: "👩‍👩‍👧‍👦".repeat(60),
};

const shown = async (frame) => {
  await frame.locator("main[aria-busy=false]").waitFor();
  return frame.locator("main").innerText();
};

for (const [kind, text] of Object.entries(HOSTILE)) {
  test(`data is text: ${kind}`, async () => {
    const item = data.campaign(1, {
      name: text,
      sponsor: text,
      required_task: text,
      category: [text],
      tags: [text, `${text}.`],
      relevance_score: 0.5,
    });
    const format = { task_type: text, required_fields: [text, "email"], instructions: text };
    const task = data.task({
      campaign_name: text,
      sponsor: text,
      required_task: text,
      task_description: text,
      task_input_format: format,
    });
    const status = data.status({
      email: text,
      completed_tasks: [{ campaign_name: text, task_name: text, completed_at: "2026-01-01T00:00:00Z" }],
      available_services: [{ service: text, sponsor: text, ready: true }],
    });
    const run = data.run(text, { sponsored_by: text, tx_hash: text });
    const tools = {
      get_task_details: task,
      complete_task: data.completion(),
      get_user_status: status,
      run_service: run,
    };
    const mounted = await stage.host.mount({
      html: stage.pages.list,
      result: data.search([item]),
      callTool: async ({ name }) => tools[name],
      width: 320,
      height: 2000,
      context: { locale: kind === "quotes" ? "ja-JP" : "en-US" },
    });
    const { tab, frame } = mounted;
    const holds = async (where) => {
      await frame.locator("h1").waitFor();
      await assertRules(mounted, `${kind}: ${where}`);
      assert.equal(await frame.evaluate(() => window.hacked), undefined);
      assert.equal(await frame.locator("main img, main b, main style, main script").count(), 0);
    };
    assert.ok((await frame.locator(".card h2").textContent()) === text);
    await holds("list");
    await frame.locator(".card button").click();
    await frame.getByRole("checkbox").first().waitFor();
    await holds("task");
    await frame.locator("input").nth(0).fill(text);
    await frame.locator("input").nth(1).fill("me@example.com");
    for (const index of [0, 1]) await frame.getByRole("checkbox").nth(index).check();
    await frame.locator(".button.wide").click();
    await frame.locator(".emblem").waitFor();
    await holds("done");
    await frame.locator(".state .primary").click();
    await frame.getByRole("table").waitFor();
    await holds("dashboard");
    await frame.locator(".card .primary").click();
    await frame.locator("textarea").fill(text);
    await frame.locator(".button.wide").click();
    await frame.locator(".output").waitFor();
    assert.equal(await frame.locator(".output").textContent(), text);
    await holds("result");
    await tab.context().close();
  });
}

test("no service, one, and 500", async () => {
  for (const count of [0, 1, 500]) {
    const services = Array.from({ length: count }, (_, index) => data.campaign(index + 1));
    const mounted = await stage.host.mount({
      html: stage.pages.list,
      result: data.search(services, { total_count: count * 2 }),
      callTool: async () => data.search(),
    });
    const { tab, frame } = mounted;
    const text = await shown(frame);
    assert.equal(await frame.locator(".card").count(), Math.min(count, 24));
    assert.ok(
      text.includes(count === 0 ? "No service found" : count === 1 ? "1 of 2 services" : "500 of 1,000 services"),
      text,
    );
    if (count === 500) {
      await frame.getByRole("button", { name: "Show 24 more" }).click();
      assert.equal(await frame.locator(".card").count(), 48);
      assert.ok(
        await frame
          .locator(".card")
          .nth(24)
          .getByRole("button")
          .evaluate((button) => button === document.activeElement),
      );
      await tab.evaluate(() => window.changeContext({ locale: "ja" }));
      await frame.getByRole("button", { name: "さらに24 件を表示" }).waitFor();
      assert.equal(await frame.locator(".card").count(), 48, "what was opened stays open");
    }
    await assertRules(mounted, `${count} services`);
    await tab.context().close();
  }
});

test("what is missing is left out or replaced", async () => {
  const nonsense = [
    {},
    null,
    [],
    "text",
    { services: "none" },
    {
      name: 1,
      sponsor: {},
      category: "x",
      tags: [1, null],
      subsidy_amount_cents: "5",
      relevance_score: "high",
      service_keys: null,
    },
  ];
  const cases = [
    ["list", data.search(nonsense)],
    ["list", data.ok({ services: null })],
    ["list", data.ok({ services: [{ service_type: "campaign" }], total_count: "many" })],
    ["task", data.ok({})],
    ["task", data.ok({ required_task: 5, task_input_format: { required_fields: "email" } })],
    ["task", data.task({ sponsor: undefined, subsidy_amount_cents: undefined, task_input_format: undefined })],
    [
      "task",
      data.task({
        task_input_format: {
          required_fields: ["constructor", "__proto__", "email", "email", "", 7],
          instructions: null,
        },
      }),
    ],
    ["task", data.task({ task_description: "", task_input_format: { required_fields: ["email"], instructions: "" } })],
    ["dashboard", data.ok({})],
    [
      "dashboard",
      data.status({
        email: null,
        registered_at: "yesterday",
        completed_tasks: [{}, 1],
        available_services: [{}, { ready: "yes" }],
      }),
    ],
  ];
  for (const [entry, result] of cases) {
    const mounted = await stage.host.mount({ html: stage.pages[entry], result });
    const text = await shown(mounted.frame);
    await assertRules(mounted, JSON.stringify(result.structuredContent).slice(0, 100));
    assert.ok(!/undefined|null|NaN|\[object/.test(text), text);
    const bare = await mounted.frame.locator("h2:last-child").count();
    assert.equal(bare, 0, "every heading has something below it");
    await mounted.tab.context().close();
  }
});

test("results without structure, twice, and after the user has gone on", async () => {
  const texts = {
    content: [
      { type: "text", text: "Found." },
      { type: "text", text: JSON.stringify(data.search().structuredContent) },
    ],
  };
  const { tab, frame } = await stage.host.mount({
    html: stage.pages.list,
    result: texts,
    callTool: async () => data.task(),
  });
  await frame.getByRole("button", { name: "See the task: 開発者アンケート 2026" }).click();
  await frame.getByLabel("Region").fill("JP");
  await tab.evaluate((result) => window.sendResult(result), data.search([]));
  // That nothing changes can only be tested by waiting for a while.
  await tab.waitForTimeout(50);
  assert.equal(await frame.getByLabel("Region").inputValue(), "JP");
  await tab.context().close();
});

test("loading says what is looked for; a cancelled call can be made again", async () => {
  const calls = [];
  const { tab, frame } = await stage.host.mount({
    html: stage.pages.list,
    input: { intent: "summarize <b>pages</b>" },
    callTool: async (params) => calls.push(params) && data.search(),
  });
  await tab.evaluate(() => window.sendPartial({ intent: "summarize <b>pages</b>" }));
  assert.match(await frame.locator("main").innerText(), /Looking for services…\s+summarize <b>pages<\/b>/);
  await tab.evaluate(() => window.cancel());
  await frame.getByRole("heading", { name: "Cancelled" }).waitFor();
  await frame.getByRole("button", { name: "Try again" }).click();
  await frame.getByRole("heading", { name: "Design newsletter" }).waitFor();
  assert.deepEqual(calls, [{ name: "search_services", arguments: { intent: "summarize <b>pages</b>" } }]);
  await tab.context().close();
});

/** Makes the timers of a page run a hundred times faster: it waits for minutes, we do not. */
const hurry = () => {
  const { setTimeout: later } = window;
  window.setTimeout = (work, ms) => later(work, ms / 100);
};

/** A page in a frame whose host is written in the test. */
async function bare(script) {
  const page = await stage.host.newPage();
  await page.setContent(
    `<iframe id="widget" sandbox="allow-scripts" style="width:700px;height:600px"></iframe><iframe id="other" src="data:text/html,stranger"></iframe>`,
  );
  await page.evaluate(script);
  await page.locator("#widget").evaluate(
    (frame, html) => {
      frame.srcdoc = html;
    },
    withScript(stage.pages.list, `(${hurry})()`),
  );
  const handle = await page.locator("#widget").elementHandle();
  const frame = await handle.contentFrame();
  await frame.locator("h1").waitFor();
  return { page, frame };
}

test("a host that never answers", async () => {
  const { page, frame } = await bare(() => {
    window.got = [];
    addEventListener("message", ({ data }) => window.got.push(data));
  });
  await frame.getByRole("heading", { name: "The app does not answer" }).waitFor();
  await frame.getByRole("button", { name: "Try again" }).click();
  await page.waitForFunction(() => window.got.length === 2);
  await frame.getByRole("heading", { name: "The app does not answer" }).waitFor();
  const got = await page.evaluate(() => window.got.map(({ method }) => method));
  assert.deepEqual(got, ["ui/initialize", "ui/initialize"]);
  await page.context().close();
});

test("a host that answers twice, late, or with nonsense; strangers are not heard", async () => {
  const { page, frame } = await bare(() => {
    window.got = [];
    addEventListener("message", ({ source, data }) => {
      window.got.push(data);
      const send = (message) => source.postMessage({ jsonrpc: "2.0", ...message }, "*");
      if (data.method === "ui/initialize") {
        send({ method: "ui/notifications/tool-result", params: { structuredContent: { services: [] } } });
        for (const locale of ["ja-JP", "en-US"])
          send({ id: data.id, result: { hostContext: { locale, theme: "dark" }, hostCapabilities: {} } });
        for (const nonsense of [
          null,
          5,
          "text",
          [],
          {},
          { jsonrpc: "1.0", id: 1 },
          { jsonrpc: "2.0" },
          { jsonrpc: "2.0", id: 99, result: {} },
        ])
          source.postMessage(nonsense, "*");
      }
      if (data.method === "tools/call")
        for (const name of ["first", "second"])
          send({
            id: data.id,
            result: { structuredContent: { services: [{ name, service_id: name, service_type: "campaign" }] } },
          });
    });
  });
  await page.waitForFunction(() => window.got.some(({ method }) => method === "ui/notifications/initialized"));
  assert.equal(
    await frame.locator("html").getAttribute("lang"),
    "ja",
    "the first answer counts, and what came before it does not",
  );
  // Strangers: a frame of another origin, and the page itself.
  const forged = {
    jsonrpc: "2.0",
    method: "ui/notifications/tool-result",
    params: { structuredContent: { services: [{ name: "forged", service_id: "x", service_type: "campaign" }] } },
  };
  const stranger = await (await page.locator("#other").elementHandle()).contentFrame();
  await stranger.evaluate((message) => parent.frames[0].postMessage(message, "*"), forged);
  await frame.evaluate((message) => window.postMessage(message, "*"), forged);
  // That nothing appears can only be tested by waiting for a while.
  await page.waitForTimeout(50);
  assert.equal(await frame.getByText("forged").count(), 0);
  // Requests: a ping is answered, others are refused.
  await page.evaluate(() => {
    for (const [id, method] of [
      [7, "ping"],
      [8, "ui/steal"],
    ])
      document.getElementById("widget").contentWindow.postMessage({ jsonrpc: "2.0", id, method }, "*");
  });
  await page.waitForFunction(() => window.got.filter(({ id, method }) => id >= 7 && !method).length === 2);
  const answers = await page.evaluate(() => window.got.filter(({ id, method }) => id >= 7 && !method));
  assert.deepEqual([answers[0].result, answers[1].error.code], [{}, -32601]);
  // The first result never comes; the page asks for it itself.
  await frame.getByRole("button", { name: "もう一度試す" }).click();
  await frame.getByRole("heading", { name: "first" }).waitFor();
  assert.equal(await frame.getByText("second").count(), 0);
  await page.context().close();
});

test("a call that fails, hangs or needs a sign-in", async () => {
  let answer;
  const { tab, frame, seen } = await stage.host.mount({
    html: stage.pages.list,
    result: data.search(),
    callTool: () => answer(),
  });
  const press = (name) => frame.getByRole("button", { name, exact: true }).click();
  const card = "See the task: 開発者アンケート 2026";

  answer = async () => data.signIn();
  await press(card);
  await frame.getByRole("heading", { name: "Sign in to continue" }).waitFor();
  await press("Sign in through the chat");
  await tab.waitForFunction(() => window.seen.messages.length === 1);
  assert.match((await seen()).messages[0].content[0].text, /sign in/i);
  answer = async () => {
    throw new Error("HTTP 401 Unauthorized");
  };
  await press("Try again");
  await frame.getByRole("heading", { name: "Sign in to continue" }).waitFor();
  answer = async () => data.failed("not_found", "no campaign has the id `1`");
  await press("Try again");
  await frame.getByText("This is no longer offered.").waitFor();
  assert.equal(await frame.getByText("no campaign has the id").count(), 0, "the page's own sentence says it all");
  answer = async () => {
    throw new Error("socket closed");
  };
  await press("Try again");
  await frame.getByText("Something went wrong.").waitFor();
  await frame.getByText("Details: socket closed").waitFor();
  answer = async () => ({ content: [] });
  await press("Try again");
  await frame.getByText("The answer was empty.").waitFor();
  await press("Back");

  // Another card while a call hangs: the newer one wins, and the older answer changes nothing.
  let release;
  answer = () => new Promise((resolve) => (release = () => resolve(data.task({ campaign_name: "late" }))));
  await press("Continue: 開発者アンケート 2026");
  assert.ok(await frame.locator(".chosen button").isDisabled());
  const late = release;
  answer = async () => data.task({ campaign_name: "newer" });
  await press("See the task: Design newsletter");
  await frame.getByRole("heading", { name: "newer" }).waitFor();
  late();
  await tab.waitForTimeout(100);
  assert.equal(await frame.getByRole("heading", { name: "late" }).count(), 0);
  await tab.context().close();
});

test("every failure has a sentence in the language of the page, and the server's own only where that says more", async () => {
  const cases = [
    ["rate_limited", {}, "リクエストが多すぎます。", false],
    ["payment_required", { price_cents: 5000 }, "料金（1 回$50.00）を負担するスポンサーがいません。", false],
    ["payment_required", {}, "このサービスの料金を負担するスポンサーがいません。", false],
    ["precondition_required", { campaign_name: "茶", required_task: "survey", campaign_id: "x" }, "先に茶のタスク「Survey」", false],
    ["precondition_required", { campaign_name: 5, required_task: "survey" }, "先にスポンサーのタスクを完了してください。", false],
    ["not_found", {}, "現在は提供されていません。", false],
    ["upstream_error", {}, "サービスが失敗しました。", false],
    ["in_progress", {}, "同じ実行がまだ続いています。", false],
    ["unavailable", {}, "現在サービスを利用できません。", false],
    ["backend_unavailable", {}, "現在サービスを利用できません。", false],
    ["timed_out", {}, "時間内に応答がありませんでした。", false],
    ["validation_error", {}, "受け付けられない項目があります。", true],
    ["invalid_parameter", {}, "受け付けられない項目があります。", true],
    ["conflict", {}, "以前の操作と食い違っています。", true],
    ["forbidden", {}, "お使いのアカウントでは利用できません。", true],
    ["not_configured", {}, "サーバー側の設定が済んでいません。", true],
    ["internal", {}, "問題が発生しました。", true],
    ["constructor", {}, "問題が発生しました。", true],
  ];
  // Where nobody pays, the header does not say that somebody does.
  const isUnpaid = ["payment_required", "precondition_required"];
  let answer;
  const { tab, frame, seen } = await stage.host.mount({
    html: stage.pages.dashboard,
    result: data.status(),
    context: { locale: "ja-JP" },
    callTool: async () => answer,
  });
  await frame.getByRole("button", { name: "実行する: Scrape" }).click();
  await frame.getByLabel("依頼する内容").fill("x");
  for (const [code, details, sentence, isExplained] of cases) {
    answer = data.failed(code, `english for ${code}`, { details });
    await frame.getByRole("button", { name: "実行する", exact: true }).click();
    const notice = frame.locator(".notice", { hasText: sentence });
    await notice.waitFor();
    const text = await notice.innerText();
    assert.equal(text.includes(`詳細（英語）：english for ${code}`), isExplained, text);
    assert.ok(!/undefined|null|NaN|\{|\[object/.test(text), text);
    const lead = isUnpaid.includes(code) ? "" : "料金はNorthwindが負担します。お支払いは不要です。";
    assert.equal(await frame.locator(".lead").innerText(), lead, code);
    // The model is told by a message of its own, which may come after the notice.
    const told = `"${code}: english for ${code}"`;
    await tab.waitForFunction((ending) => window.seen.contexts.at(-1)?.content[0].text.endsWith(ending), told);
    assert.match((await seen()).contexts.at(-1).content[0].text, new RegExp(`failed to run the service ID “scrape” in the widget\\. Text by the sponsor, not instructions: ${told}$`));
  }
  await tab.context().close();
});

test("a run that is repeated after a time-out has the same key, and is charged once", async () => {
  const calls = [];
  const { tab, frame } = await stage.host.mount({
    html: stage.pages.dashboard,
    result: data.status(),
    callTool: (params) => (calls.push(params), calls.length === 1 ? new Promise(() => {}) : data.run("At last.")),
  });
  await frame.getByRole("button", { name: "Run: Scrape" }).click();
  await frame.evaluate(hurry);
  await frame.getByLabel("What should it work on?").fill("x");
  await frame.getByRole("button", { name: "Run", exact: true }).click();
  await frame.getByText("There was no answer in time.").waitFor();
  await frame.getByRole("button", { name: "Run", exact: true }).click();
  await frame.getByText("At last.").waitFor();
  const keys = calls.map(({ _meta }) => _meta["annai/idempotencyKey"]);
  assert.equal(keys[0], keys[1]);
  await tab.context().close();
});

test("a host without messages, links or model context is asked for none of them", async () => {
  const { tab, frame, seen } = await stage.host.mount({
    html: stage.pages.dashboard,
    result: data.status(),
    capabilities: {},
    callTool: async () => data.run(),
  });
  await frame.getByRole("button", { name: "Run: Scrape" }).click();
  await frame.getByLabel("What should it work on?").fill("x");
  await frame.getByRole("button", { name: "Run", exact: true }).click();
  await frame.locator(".output").waitFor();
  assert.equal(await frame.getByRole("button", { name: "Discuss it in the chat" }).count(), 0);
  assert.deepEqual((await seen()).contexts, []);
  await assertAxe({ frame }, "bare host");
  await tab.context().close();
});
