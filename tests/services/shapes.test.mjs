// The shapes that clients know: the requests and responses of seed 004 and of the REST routes, and what the eight tools say
// about themselves, on both transports.
import { after, before, describe, test } from "node:test";
import { Stdio } from "./stdio.mjs";
import { UUID, allScopes, assert, bothChannels, consent, fakeOpenai, failure, keys, newApi, newCampaign, people, shared, sponsoredService, start } from "./parts.mjs";

const t = shared();
let annai, issuer, service, stdio, tea, echo;
before(async () => {
  const api = await fakeOpenai(t);
  [issuer, service] = [await people(), await sponsoredService(t)];
  annai = await start(t, { settings: { ...issuer.settings, ...api } });
  stdio = await Stdio.start(t, { home: annai.home, settings: { ...api, ANNAI_DEV_USER: "dev@example.com" } });
  tea = await newCampaign(annai, { target_tools: ["echo", "answer"], task_schema: { task_type: "survey", required_fields: ["email"], instructions: "All of it" } });
  echo = await newApi(annai, service);
});
after(() => t.close());

// --- shapes

const string = (value) => typeof value === "string";
const integer = Number.isSafeInteger;
const boolean = (value) => typeof value === "boolean";
const uuid = (value) => UUID.test(value);
const time = (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
const oneOf = (...values) => (value) => values.includes(value);
const orNull = (shape) => (value) => value === null || fits(value, shape);
const list = (shape) => (value) => Array.isArray(value) && value.every((entry) => fits(entry, shape));
const optional = (shape) => Object.assign((value) => fits(value, shape), { isOptional: true });
const tx = (value) => /^0x[0-9a-f]{64}$/.test(value);

/** Whether a value has exactly the members of a shape; `problems` collects what is wrong. */
function fits(value, shape, path = "reply", problems = []) {
  const before = problems.length;
  if (typeof shape === "function") {
    if (!shape(value)) problems.push(`${path}: ${JSON.stringify(value)?.slice(0, 100)}`);
  } else if (typeof value !== "object" || value === null) {
    problems.push(`${path}: not an object`);
  } else {
    for (const [name, inner] of Object.entries(shape)) {
      if (value[name] === undefined) {
        if (!inner.isOptional) problems.push(`${path}.${name} is missing`);
      } else fits(value[name], inner, `${path}.${name}`, problems);
    }
    for (const name of Object.keys(value)) if (!(name in shape)) problems.push(`${path}.${name} is not in the contract`);
  }
  return problems.length === before;
}
function assertShape(value, shape, what) {
  const problems = [];
  fits(value, shape, what, problems);
  assert.deepEqual(problems, []);
}

const serviceItem = {
  service_type: oneOf("campaign", "sponsored_api"), service_id: uuid, name: string, sponsor: string, required_task: orNull(string), subsidy_amount_cents: integer,
  category: list(string), service_keys: list(string), active: boolean, tags: list(string), relevance_score: orNull((value) => value >= 0 && value <= 1),
};
const appliedFilters = { budget: optional(integer), intent: optional(string), category: optional(string), keyword: optional(string), preferences_applied: boolean };
const shapes = {
  search: { services: list(serviceItem), total_count: integer, message: string, applied_filters: optional(appliedFilters), available_categories: optional(list(string)) },
  auth: { session_token: string, user_id: uuid, email: string, is_new_user: boolean, message: string },
  task: {
    campaign_id: uuid, campaign_name: string, sponsor: string, required_task: string, task_description: string,
    task_input_format: { task_type: string, required_fields: list(string), instructions: string }, already_completed: boolean, subsidy_amount_cents: integer, message: string,
  },
  completed: { task_completion_id: uuid, campaign_id: uuid, consent_recorded: boolean, can_use_service: boolean, message: string },
  run: { service: string, output: string, payment_mode: oneOf("sponsored", "user_direct"), sponsored_by: string, tx_hash: tx, message: string },
  status: {
    user_id: uuid, email: string, registered_at: time, completed_tasks: list({ campaign_id: uuid, campaign_name: string, task_name: string, completed_at: time }),
    available_services: list({ service: string, sponsor: string, ready: boolean }), message: string,
  },
  preferences: { user_id: uuid, preferences: list({ task_type: string, level: oneOf("preferred", "neutral", "avoided") }), updated_at: optional(time), message: string },
  saved: { user_id: uuid, preferences_count: integer, updated_at: time, message: string },
  error: { error: { code: string, message: string, details: optional(() => true) } },
  campaign: {
    id: uuid, name: string, sponsor: string, target_roles: list(string), target_tools: list(string), required_task: string, subsidy_per_call_cents: integer, budget_total_cents: integer,
    budget_remaining_cents: integer, query_urls: list(string), active: boolean, created_at: time, tags: list(string), task_schema: optional(() => true),
  },
};

describe("REST, as GPT Actions ask", () => {
  const get = (path, options) => annai.rest("GET", path, undefined, options);
  const post = (path, body, options) => annai.rest("POST", path, body, options);
  let token;
  before(async () => {
    const reply = await post("/gpt/auth", { email: "actions@example.com", region: "JP", roles: ["developer"], tools_used: ["vscode"] });
    assert.equal(reply.status, 200);
    assertShape(reply.json, shapes.auth, "auth");
    assert.equal(reply.json.is_new_user, true);
    token = reply.json.session_token;
  });

  test("search", async () => {
    for (const query of ["", "?q=tea", "?category=ECHO", "?max_budget_cents=50", "?intent=tea", "?intent=zzz", `?session_token=${token}`, "?limit=1", "?q=&category=&intent="]) {
      const reply = await get(`/gpt/services${query}`);
      assert.equal(reply.status, 200, reply.text);
      assertShape(reply.json, shapes.search, `search ${query}`);
      const isScored = /max_budget|intent=[a-z]|session/.test(query);
      assert.equal(reply.json.applied_filters !== undefined, isScored, query);
      assert.equal(reply.json.available_categories !== undefined, query === "?intent=zzz", query);
    }
    const [first] = (await get("/gpt/services?limit=1")).json.services;
    assert.ok(first);
    assert.equal((await get("/gpt/services?limit=1")).json.total_count, 2);
  });

  test("task, consent, run, status, preferences", async () => {
    const details = await get(`/gpt/tasks/${tea.id}?session_token=${token}`);
    assertShape(details.json, shapes.task, "task");
    const early = await post("/gpt/services/echo/run", { session_token: token, input: "x" });
    assert.equal(early.status, 428);
    assertShape(early.json, shapes.error, "428");
    assert.equal(early.json.error.code, "precondition_required");
    const done = await post(`/gpt/tasks/${tea.id}/complete`, { session_token: token, task_name: "survey", details: "{}", consent });
    assert.equal(done.status, 200, done.text);
    assertShape(done.json, shapes.completed, "completed");
    for (const name of ["echo", "answer"]) {
      const ran = await post(`/gpt/services/${name}/run`, { session_token: token, input: "weather" });
      assert.equal(ran.status, 200, ran.text);
      assertShape(ran.json, shapes.run, `run ${name}`);
    }
    const status = await get(`/gpt/user/status?session_token=${token}`);
    assertShape(status.json, shapes.status, "status");
    const none = await get(`/gpt/preferences?session_token=${token}`);
    assertShape(none.json, shapes.preferences, "preferences");
    const saved = await post("/gpt/preferences", { session_token: token, preferences: [{ task_type: "survey", level: "preferred" }] });
    assertShape(saved.json, shapes.saved, "saved");
    assertShape((await get(`/gpt/preferences?session_token=${token}`)).json, shapes.preferences, "preferences");
  });

  test("the older routes", async () => {
    const legacy = await post("/tasks/complete", { session_token: token, campaign_id: tea.id, task_name: "survey", consent });
    assert.ok([200, 201].includes(legacy.status), legacy.text);
    const proxy = await post("/proxy/echo/run", { session_token: token, input: "x" });
    assert.equal(proxy.status, 200, proxy.text);
    assert.equal(proxy.json.output, "echo: x");
    const direct = await post(`/sponsored-apis/${echo.id}/run`, { session_token: token, input: "x" });
    assert.equal(direct.status, 200, direct.text);
    for (const path of ["/tasks/complete", "/proxy/echo/run", `/sponsored-apis/${echo.id}/run`]) {
      assert.equal((await post(path, {}, { key: null })).status, 401, path);
      assert.equal((await post(path, {}, { key: "wrong" })).status, 403, path);
    }
    for (const path of ["/profiles", "/register", "/tool/echo/run", "/agent/discovery/services", "/creator/metrics", "/x402/webhook"]) {
      const reply = await get(path);
      assert.equal(reply.status, 404, path);
      assertShape(reply.json, shapes.error, path);
    }
  });

  test("sponsors, the public lists and pages", async () => {
    const created = await post("/campaigns", { name: "N", sponsor: "S", required_task: "t", subsidy_per_call_cents: 1, budget_cents: 0 }, { key: keys.sponsor });
    assert.equal(created.status, 201, created.text);
    assertShape(created.json, { campaign: shapes.campaign, campaign_url: string, dashboard_url: string }, "created");
    const dashboard = await get(`/dashboard/sponsor/${tea.id}`, { key: keys.sponsor });
    assertShape(dashboard.json, { campaign: shapes.campaign, tasks_completed: integer, sponsored_calls: integer, spend_cents: integer, reserved_cents: integer, remaining_budget_cents: integer }, "dashboard");
    for (const path of ["/campaigns", "/campaigns/discovery", `/campaigns/${tea.id}`, "/sponsored-apis", `/sponsored-apis/${echo.id}`]) {
      const reply = await get(path, { key: null });
      assert.equal(reply.status, 200, path);
      assert.ok(!/upstream|wallet|127\.0\.0\.1/.test(reply.text), `${path}: ${reply.text}`);
    }
    for (const [method, path] of [["POST", "/campaigns"], ["PATCH", `/campaigns/${tea.id}`], ["POST", "/sponsored-apis"], ["PATCH", `/sponsored-apis/${echo.id}`], ["GET", `/dashboard/sponsor/${tea.id}`]]) {
      const body = method === "GET" ? undefined : {};
      assert.equal((await annai.rest(method, path, body, { key: null })).status, 401, path);
      assert.equal((await annai.rest(method, path, body, { key: keys.gpt })).status, 403, path);
    }
    const health = await get("/health", { key: null });
    assertShape(health.json, { status: oneOf("ok"), version: string, uptime: (value) => value >= 0 }, "health");
    assert.equal((await get("/privacy", { key: null })).status, 200);
    await annai.sponsor("PATCH", `/campaigns/${created.json.campaign.id}`, { active: false });
  });

  test("GET /.well-known/openapi.yaml", async () => {
    const reply = await get("/.well-known/openapi.yaml", { key: null });
    assert.equal(reply.status, 200, reply.text.slice(0, 200));
    assert.match(reply.text, /openapi: ["']?3\.1/);
    const operations = reply.text.match(/operationId:/g) ?? [];
    assert.ok(operations.length > 0 && operations.length <= 30, String(operations.length));
  });

  test("errors have the body, whatever is wrong", async () => {
    const uuidOfNobody = "00000000-0000-4000-8000-000000000000";
    for (const [status, code, method, path, body, options] of [
      [401, "unauthorized", "GET", "/gpt/services", undefined, { key: null }],
      [403, "forbidden", "GET", "/gpt/services", undefined, { key: "wrong" }],
      [400, "validation_error", "GET", "/gpt/services?limit=0"],
      [400, "validation_error", "GET", "/gpt/services?limit=x"],
      [400, "validation_error", "GET", "/gpt/services?max_budget_cents=-1"],
      [400, "validation_error", "GET", "/gpt/services?q=%ff"],
      [400, "validation_error", "GET", "/gpt/user/status"],
      [401, "unauthorized", "GET", `/gpt/user/status?session_token=${uuidOfNobody}`],
      [400, "validation_error", "GET", `/gpt/tasks/x?session_token=${uuidOfNobody}`],
      [404, "not_found", "GET", () => `/gpt/tasks/${uuidOfNobody}?session_token=${token}`],
      [400, "validation_error", "POST", "/gpt/auth", {}],
      [400, "validation_error", "POST", "/gpt/auth", { email: "x", region: "JP" }],
      [400, "validation_error", "POST", "/gpt/auth", "{"],
      [400, "validation_error", "POST", "/gpt/auth", "[]"],
      [415, undefined, "POST", "/gpt/auth", "email=x", { headers: { "content-type": "application/x-www-form-urlencoded" } }],
      [404, "not_found", "POST", () => "/gpt/services/none/run", () => ({ session_token: token, input: "x" })],
      [405, undefined, "DELETE", "/gpt/auth"],
      [404, "not_found", "GET", "/gpt/nothing"],
      [404, "not_found", "GET", "/nothing"],
      [400, "validation_error", "POST", () => "/gpt/preferences", () => ({ session_token: token, preferences: [{ task_type: "a", level: "neutral" }, { task_type: "a", level: "avoided" }] })],
    ]) {
      const value = (given) => (typeof given === "function" ? given() : given);
      const reply = await annai.rest(method, value(path), value(body), options);
      const what = `${method} ${value(path)}: ${reply.status} ${reply.text.slice(0, 200)}`;
      assert.equal(reply.status, status, what);
      assertShape(reply.json, shapes.error, what);
      if (code) assert.equal(reply.json.error.code, code, what);
    }
  });
});

// --- the eight tools

const oauth2 = (scope) => [{ type: "oauth2", scopes: [scope] }];
/** name → [title, schemes, widget, [readOnly, destructive, openWorld], invoking, invoked, required, properties, description] */
const tools = {
  search_services: ["サービス検索", [{ type: "noauth" }, { type: "oauth2", scopes: ["user.read"] }], "services-list", [true, false, false], "サービスを検索中...", "サービスが見つかりました", [], ["q", "category", "max_budget_cents", "intent"], "利用可能なスポンサー付きサービスを検索する。ユーザーがサービスを探している時に呼び出す。"],
  authenticate_user: ["ユーザー認証", oauth2("user.write"), null, [false, false, false], "ユーザーを認証中...", "認証が完了しました", ["email", "region"], ["email", "region", "roles", "tools_used"], "ユーザーを登録または識別する。サービス利用前にメールアドレスとリージョンで登録する。"],
  get_task_details: ["タスク詳細取得", oauth2("tasks.read"), "task-form", [true, false, false], "タスク情報を取得中...", "タスク情報を取得しました", ["campaign_id"], ["campaign_id"], "キャンペーンの必要タスク詳細を取得する。ユーザーがサービスを選択した後に呼び出す。"],
  complete_task: ["タスク完了", oauth2("tasks.write"), null, [false, false, false], "タスクを記録中...", "タスクが完了しました", ["campaign_id", "task_name", "consent"], ["campaign_id", "task_name", "details", "consent"], "タスクを完了し同意を記録する。ユーザーがタスクに必要な情報を提供した後に呼び出す。"],
  run_service: ["サービス実行", oauth2("services.execute"), null, [false, false, true], "サービスを実行中...", "サービスの実行が完了しました", ["service", "input"], ["service", "input"], "スポンサー決済でサービスを実行する。タスク完了済みのユーザーがサービスを実行する際に呼び出す。"],
  get_user_status: ["ユーザー状態確認", oauth2("user.read"), "user-dashboard", [true, false, false], "ステータスを確認中...", "ステータスを取得しました", [], [], "ユーザーの登録状態、完了済みタスク、利用可能サービスを一括で確認する。"],
  get_preferences: ["設定取得", oauth2("user.read"), null, [true, false, false], "設定を取得中...", "設定を取得しました", [], [], "ユーザーのタスク設定（好み）を取得する。"],
  set_preferences: ["設定変更", oauth2("user.write"), null, [false, false, false], "設定を更新中...", "設定を更新しました", ["preferences"], ["preferences"], "ユーザーのタスク設定（好み）を更新する。preferred/neutral/avoided のレベルで設定。"],
};
/** The tools that the widgets of section 5 call. */
const calledByWidgets = ["get_task_details", "run_service", "complete_task"];

describe("the eight tools", () => {
  for (const transport of ["http", "http, 2026-07-28", "stdio"]) {
    test(`facts over ${transport}`, async () => {
      const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
      const meta = { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} } };
      const { result } = transport === "stdio" ? await stdio.request("tools/list") : await annai.mcp("tools/list", transport === "http" ? {} : meta, transport === "http" ? {} : { headers: modern });
      const listed = Object.fromEntries(result.tools.map((tool) => [tool.name, tool]));
      if (transport !== "stdio") assert.deepEqual(Object.keys(listed).sort(), Object.keys(tools).sort(), "anybody sees these eight");
      for (const [name, [title, schemes, widget, hints, invoking, invoked, required, properties, description]] of Object.entries(tools)) {
        const tool = listed[name];
        assert.ok(tool, `${name} is listed`);
        assert.equal(tool.title, title);
        assert.ok(tool.description.startsWith(description), `${name}: ${tool.description}`);
        assert.match(tool.description.slice(description.length), /^ [A-Z][^。]+\.$/, "and an English sentence");
        assert.deepEqual(tool.securitySchemes, schemes, name);
        assert.deepEqual(tool._meta.securitySchemes, schemes, name);
        const { readOnlyHint, destructiveHint, openWorldHint } = tool.annotations;
        // A destructive hint says nothing about a tool that only reads.
        assert.deepEqual([readOnlyHint, destructiveHint ?? false, openWorldHint], hints, name);
        assert.equal(tool._meta["openai/toolInvocation/invoking"], invoking);
        assert.equal(tool._meta["openai/toolInvocation/invoked"], invoked);
        const uri = widget ? `ui://widget/${widget}.html` : undefined;
        assert.equal(tool._meta.ui?.resourceUri, uri, name);
        assert.equal(tool._meta["openai/outputTemplate"], uri, name);
        if (calledByWidgets.includes(name)) assert.equal(tool._meta["openai/widgetAccessible"], true, name);
        assert.equal(tool.inputSchema.additionalProperties, false);
        assert.deepEqual(Object.keys(tool.inputSchema.properties ?? {}), properties, name);
        assert.deepEqual(tool.inputSchema.required ?? [], required, name);
        assert.equal(tool.outputSchema.type, "object");
        assert.ok(!/"null"/.test(JSON.stringify(tool.inputSchema)), `${name}: no null unions in inputs`);
      }
      const { properties } = listed.complete_task.inputSchema;
      assert.match(JSON.stringify(properties.campaign_id), /"format":"uuid"/);
      assert.deepEqual(properties.consent.required.toSorted(), Object.keys(consent).toSorted());
      assert.match(JSON.stringify(listed.authenticate_user.inputSchema.properties.email), /"format":"email"/);
      const levels = JSON.stringify(listed.set_preferences.inputSchema);
      for (const level of ["preferred", "neutral", "avoided"]) assert.ok(levels.includes(`"${level}"`), level);
    });
  }

  test("widgets are served", async () => {
    for (const name of ["services-list", "task-form", "user-dashboard"]) {
      const uri = `ui://widget/${name}.html`;
      const { result } = await annai.mcp("resources/read", { uri });
      const [page] = result.contents;
      assert.equal(page.mimeType, "text/html;profile=mcp-app");
      assert.equal(page._meta.ui.prefersBorder, true);
      assert.deepEqual(page._meta.ui.csp.connectDomains, []);
    }
  });

  const results = {
    search_services: [() => ({ intent: "tea" }), { services: list(serviceItem), total_count: integer, applied_filters: appliedFilters, message: string }],
    authenticate_user: [() => ({ email: "shapes@example.com", region: "JP" }), { user_id: uuid, email: string, is_new_user: boolean, message: string }],
    get_task_details: [() => ({ campaign_id: tea.id }), shapes.task],
    complete_task: [() => ({ campaign_id: tea.id, task_name: "survey", consent }), shapes.completed],
    run_service: [() => ({ service: "echo", input: "x" }), { ...shapes.run, output_truncated: boolean }],
    get_user_status: [() => ({}), shapes.status],
    set_preferences: [() => ({ preferences: [{ task_type: "registration", level: "avoided" }] }), shapes.saved],
    get_preferences: [() => ({}), shapes.preferences],
  };
  test("results have three parts, and both channels are complete", async () => {
    const token = issuer.person("shapes");
    for (const [name, [args, shape]] of Object.entries(results)) {
      const { result } = await annai.call(name, args(), { token });
      bothChannels(result);
      assertShape(result.structuredContent, shape, name);
      const meta = { authenticate_user: ["session_token"], run_service: ["output"] }[name] ?? [];
      for (const member of meta) assert.ok(result._meta?.[member], `${name}: _meta.${member}`);
    }
  });

  test("seed 4.1: the widget finds the whole response of a search in _meta.full_response", async () => {
    const { result } = await annai.call("search_services", { q: "tea" });
    assertShape(result._meta?.full_response ?? null, shapes.search, "_meta.full_response");
  });

  test("failures: the sentence as text, the rest in _meta", async () => {
    const token = issuer.person("failing");
    const error = failure((await annai.call("run_service", { service: "echo", input: "x" }, { token })).result);
    assert.equal(error.code, "precondition_required");
    assert.deepEqual([error.details.campaign_id, error.details.required_task], [tea.id, "survey"]);
  });
});

describe("guidance", () => {
  test("the prompt and its completion", async () => {
    const { result } = await annai.mcp("prompts/list");
    const prompt = result.prompts.find(({ name }) => name === "find_sponsored_service");
    assert.deepEqual(prompt.arguments.map(({ name }) => name), ["service", "campaign_id"]);
    assert.ok(prompt.title && prompt.description);
    const text = async (args) => (await annai.mcp("prompts/get", { name: "find_sponsored_service", arguments: args })).result.messages[0].content.text;
    assert.ok((await text({})).includes("search_services"));
    assert.ok((await text({ service: "web answers" })).includes("web answers"));
    assert.ok((await text({ campaign_id: tea.id })).includes(tea.id));
    const complete = async (name, value) => (await annai.mcp("completion/complete", { ref: { type: "ref/prompt", name: "find_sponsored_service" }, argument: { name, value } })).result.completion;
    assert.deepEqual((await complete("campaign_id", "")).values, [tea.id]);
    assert.deepEqual((await complete("campaign_id", tea.id.slice(0, 6).toUpperCase())).values, [tea.id]);
    assert.deepEqual((await complete("campaign_id", "zzz")).values, []);
    assert.deepEqual((await complete("service", "ec")).values, ["echo"], "each key once");
    assert.deepEqual((await complete("service", "answ")).values, ["answer"], "a tool that a campaign pays for");
    assert.deepEqual((await complete("service", "")).values.toSorted(), ["answer", "echo"]);
  });

  test("instructions and the guide know the services", async () => {
    const { result } = await annai.mcp("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } });
    assert.ok(Buffer.byteLength(result.instructions) < 2000);
    for (const name of ["search_services", "get_task_details", "complete_task", "run_service"]) assert.ok(result.instructions.includes(name), name);
    assert.ok(result.capabilities.extensions?.["io.modelcontextprotocol/ui"], "widgets are announced");
    const library = await Stdio.start(t, { settings: { ANNAI_DEV_USER: "dev@example.com" }, toolsets: ["services", "library"] });
    const guide = JSON.stringify(await library.call("get_tooling_guide", {}));
    for (const name of Object.keys(tools)) assert.ok(guide.includes(name), `get_tooling_guide: ${name}`);
    const alone = await Stdio.start(t, { toolsets: ["services"] });
    assert.equal(alone.initialized.serverInfo.name, "subsidypayment");
  });

  test("protected resource metadata lists the five scopes", async () => {
    const { json } = await annai.rest("GET", "/.well-known/oauth-protected-resource/mcp", undefined, { key: null });
    for (const scope of allScopes) assert.ok(json.scopes_supported.includes(scope), scope);
  });
});
