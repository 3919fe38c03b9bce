// One suite of cases against a local backend and against a front of another annai: a caller cannot tell them apart. And a
// backend that is away, slow or talks nonsense.
import { after, before, describe, test } from "node:test";
import http from "node:http";
import { Stdio } from "./stdio.mjs";
import { assert, booksBalance, consent, failure, fakeOpenai, freePort, keys, newApi, newCampaign, pause, people, sponsoredService, shared, start, within } from "./parts.mjs";

const t = shared();
let issuer;
before(async () => (issuer = await people()));
after(() => t.close());

const api = { OPENAI_API_KEY: undefined };

/** The two ways to have services. `tools` is what is called, `back` is where the sponsors are. */
const ways = {
  local: async (t, settings = {}) => {
    const annai = await start(t, { settings: { ...issuer.settings, ...api, ...settings } });
    return { tools: annai, back: annai };
  },
  remote: async (t, settings = {}) => {
    const back = await start(t, { settings: { ...api, PUBLIC_URL: "https://backend.example.test", ...settings } });
    const front = { RUST_BACKEND_URL: back.base, MCP_INTERNAL_API_KEY: keys.internal, GPT_ACTIONS_API_KEY: undefined, SPONSOR_API_KEY: undefined };
    const tools = await start(t, { settings: { ...issuer.settings, ...api, ...front, ...settings } });
    return { tools, back };
  },
};

/** Ids, hashes, tokens and times by the order of their appearance. */
function normalized(values) {
  const names = new Map();
  const name = (kind) => (value) => {
    if (!names.has(value)) names.set(value, `${kind}-${names.size}`);
    return names.get(value);
  };
  const text = JSON.stringify(values)
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "TIME")
    .replace(/0x[0-9a-f]{64}/g, name("tx"))
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, name("id"))
    .replace(/127\.0\.0\.1:\d+/g, "HOST");
  return JSON.parse(text);
}

/** Everything that a person can do, right and wrong: what was answered. */
async function conversation(t, { tools, back }) {
  const service = await sponsoredService(t);
  const said = [];
  const [hana, taro, second] = [issuer.person("hana"), issuer.person("taro"), issuer.person("hana-2", { email: "hana@example.com" })];
  const say = async (name, args = {}, token = hana, meta) => {
    const { status, result, error, headers } = await tools.call(name, args, { token, meta });
    said.push({ name, args, status, challenge: headers["www-authenticate"], result, error });
    return result;
  };
  const tea = await newCampaign(back, { target_tools: ["echo", "later"], tags: ["お茶", "tea"], task_schema: { task_type: "survey", required_fields: ["email", "age"], instructions: "Fill in <all>", description: "お茶のアンケート" } });
  await newCampaign(back, { name: "Only developers", required_task: "registration", target_roles: ["developer"], target_tools: ["dev"] });
  await newCampaign(back, { name: "Answers", required_task: "watch", target_tools: ["answer"] });
  await newApi(back, service);
  await newApi(back, service, { name: "Dev", service_key: "dev", price_cents: 5 });
  await newApi(back, service, { name: "Dear", service_key: "dear", price_cents: 5000 });
  await newApi(back, service, { name: "Own money", service_key: "own", price_cents: 3, budget_cents: 6 });

  for (const token of [undefined, hana]) {
    for (const args of [{}, { q: "tea" }, { category: "ECHO" }, { max_budget_cents: 20 }, { intent: "お茶を飲みたい" }, { intent: "zzz" }, { q: "zzz", category: "echo", max_budget_cents: 0 }, { q: " " }, { q: "x".repeat(501) }, { nonsense: 1 }, { q: "a&b=c#d%20" }]) {
      await say("search_services", args, token);
    }
  }
  await say("get_user_status", {}, null);
  await say("authenticate_user", { email: "taro@example.com", region: "JP" });
  await say("authenticate_user", { email: "Hana@Example.com", region: "JP", roles: ["writer"], tools_used: ["vim"] });
  await say("authenticate_user", { email: "hana@example.com", region: "US" });
  for (const name of ["get_user_status", "get_preferences"]) await say(name, {}, second);
  await say("authenticate_user", { email: "hana@example.com", region: "JP" }, second);
  for (const campaign_id of [tea.id, "00000000-0000-4000-8000-000000000000", "x"]) await say("get_task_details", { campaign_id });
  await say("run_service", { service: "echo", input: "early" });
  const task = { campaign_id: tea.id, task_name: "survey" };
  await say("complete_task", { ...task, task_name: "registration", consent });
  await say("complete_task", { ...task, campaign_id: "00000000-0000-4000-8000-000000000000", consent });
  await say("complete_task", { ...task, consent: { ...consent, data_sharing_agreed: false, purpose_acknowledged: false } });
  await say("get_task_details", { campaign_id: tea.id });
  await say("complete_task", { ...task, details: '{"email":"h","age":"7"}', consent });
  await say("complete_task", { ...task, details: "d".repeat(10_001), consent });
  await say("complete_task", { ...task, consent: { ...consent, contact_permission: "yes" } });
  await say("get_task_details", { campaign_id: tea.id });
  for (const name of ["echo", "dev", "dear", "later", "answer", "unknown", "a/../b ?#", "", "x".repeat(501), "エコー"]) await say("run_service", { service: name, input: "こんにちは <b>" });
  for (let times = 0; times < 3; times++) await say("run_service", { service: "own", input: String(times) });
  await say("authenticate_user", { email: "taro@example.com", region: "JP", roles: ["developer"] }, taro);
  await say("run_service", { service: "dev", input: "x" }, taro);
  for (const key of ["k1", "k1", "", "x".repeat(256), "ü"]) await say("run_service", { service: "echo", input: "keyed" }, hana, { "annai/idempotencyKey": key });
  await say("run_service", { service: "echo", input: "another" }, hana, { "annai/idempotencyKey": "k1" });
  await say("run_service", { service: "echo", input: "あ".repeat(9000) });
  await say("run_service", { service: "echo", input: "x".repeat(200_001) });
  service.reply = (_, response) => response.writeHead(503).end("inner secret");
  await say("run_service", { service: "echo", input: "x" });
  service.reply = (_, response) => response.writeHead(302, { location: "/" }).end();
  await say("run_service", { service: "echo", input: "x" });
  service.reply = (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>\u202e");
  await say("run_service", { service: "echo", input: "x" });
  service.reply = undefined;
  await say("set_preferences", { preferences: [{ task_type: "survey", level: "preferred" }, { task_type: "registration", level: "avoided" }] });
  await say("set_preferences", { preferences: [{ task_type: "a", level: "avoided" }, { task_type: "a", level: "neutral" }] });
  await say("set_preferences", { preferences: [{ task_type: "a", level: "loved" }] });
  await say("get_preferences");
  await say("search_services", {});
  await say("search_services", { intent: "tea", max_budget_cents: 60 });
  await say("get_user_status");
  await say("get_user_status", {}, issuer.person("nobody", { email: undefined, email_verified: undefined }));
  await say("get_user_status", {}, issuer.person("hana", { scope: "tasks.read" }));
  // Binding an account that GPT Actions made, which ends its sessions.
  const made = await back.rest("POST", "/gpt/auth", { email: "actions@example.com", region: "JP" });
  await say("get_user_status", {}, issuer.person("actions"));
  const ended = await back.rest("GET", `/gpt/user/status?session_token=${made.json.session_token}`);
  said.push({ name: "the older session", status: ended.status });
  for (const key of [keys.gpt, keys.internal]) said.push({ name: "/gpt/auth", status: (await back.rest("POST", "/gpt/auth", { email: "hana@example.com", region: "JP" }, { key })).status });
  said.push({ name: "the sponsor", dashboard: await back.sponsor("GET", `/dashboard/sponsor/${tea.id}`), calls: service.calls.length });
  return said;
}

test("a local and a remote backend give the same results", async (t) => {
  const servers = { local: await ways.local(t), remote: await ways.remote(t) };
  const both = [await conversation(t, servers.local), await conversation(t, servers.remote)];
  const tokens = both.flat().map(({ result }) => result?._meta?.session_token).filter(Boolean);
  assert.ok(tokens.length >= 4);
  for (const server of [servers.local.tools, servers.remote.tools, servers.remote.back]) {
    await server.stop();
    for (const token of tokens) assert.ok(!server.log().includes(token), "a session token is in a log");
  }
  const [local, remote] = both.map(normalized);
  assert.equal(local.length, remote.length);
  const differences = local.flatMap((expected, index) => {
    try {
      assert.deepEqual(remote[index], expected);
      return [];
    } catch {
      const { name, args } = expected;
      const brief = (value) => JSON.stringify(value).slice(0, 700);
      return [`${name} ${JSON.stringify(args)?.slice(0, 150)}\n    local:  ${brief(expected.result ?? expected)}\n    remote: ${brief(remote[index].result ?? remote[index])}`];
    }
  });
  assert.equal(differences.length, 0, `${differences.length} of ${local.length} differ:\n${differences.join("\n")}`);
});

test("prompts, completion and lists are the same", async (t) => {
  const said = [];
  for (const way of Object.values(ways)) {
    const { tools, back } = await way(t);
    await newCampaign(back, { target_tools: ["echo"] });
    await newApi(back, await sponsoredService(t), { budget_cents: 100 });
    const all = {};
    for (const [name, value] of [["service", ""], ["service", "E"], ["campaign_id", ""], ["other", ""]]) {
      const { result } = await tools.mcp("completion/complete", { ref: { type: "ref/prompt", name: "find_sponsored_service" }, argument: { name, value } });
      all[`${name}=${value}`] = result.completion;
    }
    all.tools = (await tools.mcp("tools/list")).result;
    all.prompts = (await tools.mcp("prompts/list")).result;
    all.resources = (await tools.mcp("resources/list")).result;
    said.push(normalized(all));
  }
  assert.deepEqual(said[0]["service=E"].values, ["echo"]);
  assert.equal(said[0]["campaign_id="].values.length, 1);
  assert.deepEqual(said[1], said[0]);
});

test("the rate limit of one person is the same", async (t) => {
  for (const [name, way] of Object.entries(ways)) {
    const { tools } = await way(t, { RATE_LIMIT_PER_MIN: "10" });
    const token = issuer.person("eager");
    const codes = [];
    for (let times = 0; times < 15; times++) {
      const { result } = await tools.call("get_preferences", {}, { token });
      codes.push(result.isError ? failure(result).code : "ok");
    }
    assert.deepEqual(codes, [...Array(10).fill("ok"), ...Array(5).fill("rate_limited")], name);
  }
});

test("the development user is the same person on both, and cannot enter a bound account", async (t) => {
  for (const way of ["local", "remote"]) {
    const noIssuer = { OAUTH_ISSUER: undefined, PUBLIC_URL: undefined };
    const { tools, back } = await ways[way](t, noIssuer);
    const settings = way === "local" ? {} : { RUST_BACKEND_URL: back.base, MCP_INTERNAL_API_KEY: keys.internal };
    const stdio = await Stdio.start(t, { home: tools.home, settings: { ANNAI_DEV_USER: "dev@example.com", ...settings } });
    assert.equal((await stdio.call("get_user_status")).structuredContent.email, "dev@example.com", way);
    const taken = { email: "dev2@example.com", region: "JP", issuer: "https://other.example", subject: "7" };
    assert.equal((await back.rest("POST", "/gpt/auth", taken, { key: keys.internal })).status, 200);
    const thief = await Stdio.start(t, { home: tools.home, settings: { ANNAI_DEV_USER: "dev2@example.com", ...settings } });
    assert.equal(failure(await thief.call("get_user_status")).code, "forbidden", way);
  }
});

test("a session that ended at the backend is renewed, once", async (t) => {
  const { tools, back } = await ways.remote(t);
  const token = issuer.person("renewed");
  await tools.done("get_user_status", {}, { token });
  // Without the database the session is unknown; with a new one the person is registered again.
  const port = back.port;
  await back.stop();
  const fresh = await start(t, { port, settings: { ...api, PUBLIC_URL: "https://backend.example.test" } });
  assert.equal((await tools.done("get_user_status", {}, { token })).email, "renewed@example.com");
  await fresh.logged((event) => JSON.stringify(event).includes("/gpt/auth"), "the new registration");
});

test("runs through a front: always a key, waiting while it is in progress, one payment", async (t) => {
  const { tools, back } = await ways.remote(t);
  const service = await sponsoredService(t);
  const campaign = await newCampaign(back, { target_tools: ["echo"] });
  await newApi(back, service);
  const token = issuer.person("runner");
  await tools.done("complete_task", { campaign_id: campaign.id, task_name: "survey", consent }, { token });
  const release = service.hold();
  const call = () => tools.call("run_service", { service: "echo", input: "x" }, { token, meta: { "annai/idempotencyKey": "same" } });
  const first = call();
  await service.called(1);
  const second = call();
  // Several tries of the second call, each of which hears that the first is in progress.
  await pause(700);
  release();
  const [one, two] = await within(60_000, "both", Promise.all([first, second]));
  assert.deepEqual(one.result, two.result);
  assert.equal(service.calls.length, 1);
  const { spend_cents, reserved_cents } = await back.sponsor("GET", `/dashboard/sponsor/${campaign.id}`);
  assert.deepEqual([spend_cents, reserved_cents], [10, 0]);
  // A client of the front that goes away leaves the run to its own result.
  const [abort, hold] = [new AbortController(), service.hold()];
  const gone = tools.call("run_service", { service: "echo", input: "y" }, { token, signal: abort.signal }).catch(() => "gone");
  await service.called(2);
  abort.abort();
  assert.equal(await gone, "gone");
  // That the run goes on can only be tested by giving it time to end.
  await pause(100);
  hold();
  for (let tries = 0; tries < 3000 && (await back.sponsor("GET", `/dashboard/sponsor/${campaign.id}`)).reserved_cents; tries++) await pause(20);
  assert.equal((await back.sponsor("GET", `/dashboard/sponsor/${campaign.id}`)).spend_cents, 20);
  await booksBalance(back);
});

test("settings of a front: what is missing or wrong is named, and it has no routes of its own", async (t) => {
  const settings = { ...issuer.settings, GPT_ACTIONS_API_KEY: undefined, SPONSOR_API_KEY: undefined };
  const noKey = await start(t, { settings: { ...settings, RUST_BACKEND_URL: "http://127.0.0.1:9", MCP_INTERNAL_API_KEY: undefined } });
  const reply = await noKey.call("search_services");
  assert.match(failure(reply.result).message, /MCP_INTERNAL_API_KEY/);
  const { tools, back } = await ways.remote(t);
  for (const path of ["/gpt/services", "/campaigns"]) {
    const reply = await tools.rest("GET", path, undefined, { key: keys.internal });
    assert.ok(reply.status >= 400, `${path}: ${reply.status}`);
    assert.ok(reply.json.error.code, reply.text);
  }
  // A key that the backend refuses is the operator's fault, not the user's: one that is simply wrong, and that of the GPT
  // actions, which may search, but not name people.
  for (const [key, name, token] of [["wrong", "search_services"], ["wrong", "get_user_status", "a"], [keys.gpt, "get_user_status", "a"]]) {
    const front = await start(t, { settings: { ...settings, RUST_BACKEND_URL: back.base, MCP_INTERNAL_API_KEY: key } });
    const { code, message } = failure((await front.call(name, {}, { token: token && issuer.person(token) })).result);
    assert.equal(code, "not_configured", `${key} ${name}: ${message}`);
    assert.match(message, /MCP_INTERNAL_API_KEY/);
  }
  // A person whom the backend refuses is not mistaken for a refused key.
  const taken = { email: "taken@example.com", region: "JP", issuer: "https://other.example", subject: "7" };
  assert.equal((await back.rest("POST", "/gpt/auth", taken, { key: keys.internal })).status, 200);
  assert.equal((await tools.failed("get_user_status", {}, { token: issuer.person("taken") })).code, "forbidden");
});

describe("a backend that misbehaves", { concurrency: true }, () => {
  /** A front of a server that answers as it is told; `asked` counts requests. */
  async function frontOf(t, answer) {
    const asked = [];
    const server = http.createServer((request, response) => {
      asked.push(`${request.method} ${request.url.split("?")[0]}`);
      answer(request, response, asked.length);
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    t.after(() => (server.closeAllConnections(), server.close()));
    const settings = { ...issuer.settings, RUST_BACKEND_URL: `http://127.0.0.1:${server.address().port}`, GPT_ACTIONS_API_KEY: undefined };
    return { front: await start(t, { settings }), asked };
  }
  const json = (body) => (_, response) => response.writeHead(200, { "content-type": "application/json" }).end(typeof body === "string" ? body : JSON.stringify(body));
  const calls = [["search_services", {}], ["get_user_status", {}], ["get_task_details", { campaign_id: "00000000-0000-4000-8000-000000000000" }], ["run_service", { service: "echo", input: "x" }], ["set_preferences", { preferences: [] }]];
  async function unavailable(front, list = calls) {
    for (const [name, args] of list) {
      const reply = await front.call(name, args, { token: issuer.person("x"), timeout: 90_000 });
      const error = failure(reply.result, reply.text);
      assert.equal(error.code, "backend_unavailable", `${name}: ${reply.text.slice(0, 300)}`);
      assert.ok(!/secret|127\.0\.0\.1|<html/.test(reply.text), reply.text);
    }
  }

  const session = { session_token: "00000000-0000-4000-8000-000000000001", user_id: "00000000-0000-4000-8000-000000000002", email: "x@example.com", is_new_user: true, message: "m" };
  for (const [name, answer] of Object.entries({
    "HTML with status 200": (_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>secret</html>"),
    "HTML with status 502": (_, response) => response.writeHead(502, { "content-type": "text/html" }).end("<html>secret</html>"),
    "HTML with status 404": (_, response) => response.writeHead(404, { "content-type": "text/html" }).end("<html>secret</html>"),
    "wrong JSON": json({ secret: true }),
    "JSON of another shape": json({ services: "secret", total_count: -1 }),
    "a JSON array": json([]),
    "half a JSON": json('{"services":['),
    "nothing": json(""),
    "an error of another shape": (_, response) => response.writeHead(400, { "content-type": "application/json" }).end('{"error":"secret"}'),
    "a redirect": (_, response) => response.writeHead(302, { location: "http://127.0.0.1:1/secret" }).end(),
    "status 204": (_, response) => response.writeHead(204).end(),
    "a reset": (request) => request.socket.destroy(),
    "a cut body": (_, response) => response.writeHead(200, { "content-length": 1000 }).write("{", () => response.destroy()),
    "a body without end": (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65536, " ")));
        if (!response.destroyed) response.once("drain", more);
      };
      more();
    },
    "wrong JSON after the sign-in": (request, response) => json(request.url.startsWith("/gpt/auth") ? session : { secret: 1 })(request, response),
  })) {
    test(name, async (t) => {
      const { front } = await frontOf(t, answer);
      const begin = performance.now();
      await unavailable(front);
      assert.ok(performance.now() - begin < 30_000, `${performance.now() - begin} ms`);
      await front.stop();
      assert.ok(!front.log().includes(session.session_token), "the session token is in the log");
    });
  }

  test("a tool that takes longer than a request to the backend may", { timeout: 240_000 }, async (t) => {
    const fake = await fakeOpenai(t);
    const target = new URL(fake.OPENAI_BASE_URL);
    let asked = 0;
    const slow = http.createServer((request, response) => {
      asked += 1;
      const chunks = [];
      request.on("data", (chunk) => chunks.push(chunk)).on("end", () => setTimeout(() => {
        const onward = http.request({ host: target.hostname, port: target.port, path: request.url, method: request.method, headers: request.headers }, (reply) => {
          response.writeHead(reply.statusCode, reply.headers);
          reply.pipe(response);
        });
        onward.on("error", () => response.destroy()).end(Buffer.concat(chunks));
      }, 33_000));
    });
    await new Promise((resolve) => slow.listen(0, "127.0.0.1", resolve));
    t.after(() => (slow.closeAllConnections(), slow.close()));
    const { tools, back } = await ways.remote(t, { ...fake, OPENAI_BASE_URL: `http://127.0.0.1:${slow.address().port}${target.pathname}` });
    const campaign = await newCampaign(back);
    const token = issuer.person("patient");
    await tools.done("complete_task", { campaign_id: campaign.id, task_name: "survey", consent }, { token });
    const reply = await tools.call("run_service", { service: "answer", input: "weather in Tokyo" }, { token, timeout: 70_000 });
    assert.ok(!reply.result?.isError, reply.text.slice(0, 300));
    assert.equal(JSON.parse(reply.result.structuredContent.output).used_search, true);
    assert.equal(asked, 1, "it was asked once");
    const { spend_cents, reserved_cents } = await back.sponsor("GET", `/dashboard/sponsor/${campaign.id}`);
    assert.deepEqual([spend_cents, reserved_cents], [50, 0]);
  });

  test("away, and back again", async (t) => {
    const port = await freePort();
    const front = await start(t, { settings: { ...issuer.settings, RUST_BACKEND_URL: `http://127.0.0.1:${port}`, GPT_ACTIONS_API_KEY: undefined } });
    const begin = performance.now();
    await unavailable(front);
    assert.ok(performance.now() - begin < 20_000);
    await start(t, { port, settings: { PUBLIC_URL: "https://backend.example.test" } });
    assert.equal((await front.done("get_user_status", {}, { token: issuer.person("back") })).email, "back@example.com");
  });

  test("a read that fails once is repeated, a refusal is not", async (t) => {
    const empty = { services: [], total_count: 0, message: "m" };
    const { front, asked } = await frontOf(t, (request, response, count) => (count === 1 ? request.socket.destroy() : json(empty)(request, response)));
    assert.equal((await front.done("search_services")).total_count, 0);
    assert.equal(asked.length, 2);
    const refusing = await frontOf(t, (_, response) => response.writeHead(503, { "content-type": "application/json" }).end('{"error":{"code":"unavailable","message":"the database is away"}}'));
    const error = failure((await refusing.front.call("search_services")).result);
    assert.deepEqual([error.code, error.message], ["unavailable", "the database is away"]);
    assert.equal(refusing.asked.length, 1);
  });

  test("slow: 30 seconds for each try, reads twice", { timeout: 240_000 }, async (t) => {
    const { front, asked } = await frontOf(t, () => {});
    const timed = async (name, args, token) => {
      const begin = performance.now();
      const reply = await front.call(name, args, { token, timeout: 90_000 });
      return { error: failure(reply.result), seconds: (performance.now() - begin) / 1000 };
    };
    const all = await Promise.all([timed("search_services", {}), timed("get_user_status", {}, issuer.person("x")), timed("search_services", {}, issuer.person("y"))]);
    for (const { error, seconds } of all) {
      assert.equal(error.code, "backend_unavailable");
      assert.ok(seconds > 29 && seconds < 63, `${seconds} s`);
    }
    assert.equal(asked.length, 6);
  });
});
