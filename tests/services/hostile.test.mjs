// What somebody may try who wants another person's account, a sponsor's money or the server's peace.
import { after, before, describe, test } from "node:test";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Stdio } from "./stdio.mjs";
import {
  ANNAI, PUBLIC, UUID, allScopes, assert, booksBalance, consent, dashboard, environment, failure, keys, newApi, newCampaign, pause, people, replies, run, session,
  shared, sponsoredService, start, temporary, within,
} from "./parts.mjs";

const t = shared();
let issuer, service, annai, tea, echo;
/** The session tokens that were handed out, and the servers whose logs they must not be in. */
const tokens = new Set();
const servers = [];

before(async () => {
  [issuer, service] = [await people(), await sponsoredService(t)];
  annai = await start(t, { settings: issuer.settings, args: ["--debug"] });
  servers.push(annai);
  tea = await newCampaign(annai, { target_tools: ["echo"] });
  echo = await newApi(annai, service);
});
after(() => t.close());

/** A person with a token who has completed the task of a campaign. */
async function ready(name, campaign = tea, on = annai) {
  const token = issuer.person(name);
  await on.done("complete_task", { campaign_id: campaign.id, task_name: campaign.required_task, consent }, { token });
  return token;
}
async function register(token, email, region = "auto") {
  const reply = await annai.call("authenticate_user", { email, region }, { token });
  assert.ok(!reply.result?.isError, reply.text);
  tokens.add(reply.result._meta.session_token);
  return reply.result;
}
async function restSession(email, more, options) {
  const made = await session(annai, email, more, options);
  tokens.add(made.session_token);
  return made;
}

describe("accounts", () => {
  test("another person's e-mail in authenticate_user", async () => {
    const victim = await register(issuer.person("victim"), "victim@example.com", "JP");
    const thief = issuer.person("thief");
    for (const email of ["victim@example.com", "VICTIM@EXAMPLE.COM", "nobody@example.com", "thief@example.com.example.org", "thief+x@example.com"]) {
      const error = await annai.failed("authenticate_user", { email, region: "JP" }, { token: thief });
      assert.equal(error.code, "forbidden", email);
      assert.ok(!JSON.stringify(error).includes(victim.structuredContent.user_id));
    }
    const own = await register(thief, "thief@example.com");
    assert.notEqual(own.structuredContent.user_id, victim.structuredContent.user_id);
    assert.equal(own.structuredContent.email, "thief@example.com");
    // Letters that only look alike, or that fold to ASCII, are other addresses.
    for (const email of ["ｔhief@example.com", "th\u0131ef@example.com", "thief@example.com\u202e", "\u200bthief@example.com", "thief@example\u3002com", "K\u212A@example.com"]) {
      const reply = await annai.call("authenticate_user", { email, region: "JP" }, { token: thief });
      assert.equal(reply.result.isError, true, `${JSON.stringify(email)}: ${reply.text}`);
    }
  });

  test("a token whose address is another person's, of another subject", async () => {
    await register(issuer.person("first", { email: "shared@example.com" }), "shared@example.com");
    const second = issuer.person("second", { email: "Shared@Example.com" });
    for (const [name, args] of [["authenticate_user", { email: "shared@example.com", region: "JP" }], ["get_user_status", {}], ["run_service", { service: "echo", input: "x" }]]) {
      const error = await annai.failed(name, args, { token: second });
      assert.equal(error.code, "forbidden", name);
    }
    // The same subject of another issuer would be another person too; the issuer's own word is its iss.
    const unverified = issuer.person("third", { email: "shared@example.com", email_verified: false });
    const reply = await annai.call("get_user_status", {}, { token: unverified });
    assert.ok(reply.status === 401 || failure(reply.result).code === "forbidden", reply.text);
  });

  test("subjects and addresses that only look alike are other people", async () => {
    const ids = [];
    for (const [index, sub] of ["alike", "alike ", " alike", "Alike", "alike\u200b", "alik\u0065\u0301", "alik\u00e9"].entries()) {
      ids.push((await annai.done("get_user_status", {}, { token: issuer.person(sub, { email: `alike-${index}@example.com` }) })).user_id);
    }
    assert.equal(new Set(ids).size, ids.length);
    // The Kelvin sign becomes a k, and the Angstrom sign an å, in Unicode's lower case: an issuer that verified one address
    // has not verified the other.
    for (const [victim, verified] of [["kim@example.com", "\u212Aim@example.com"], ["\u00e5sa@example.com", "\u212Bsa@example.com"], ["istanbul@example.com", "\u0130stanbul@example.com"]]) {
      const account = await restSession(victim);
      const reply = await annai.call("get_user_status", {}, { token: issuer.person(`fold-${victim}`, { email: verified }) });
      assert.notEqual(reply.result.structuredContent?.user_id, account.user_id, `${JSON.stringify(verified)} entered the account of ${victim}`);
    }
  });

  test("thirty subjects at once for one e-mail: one of them", async () => {
    const all = await Promise.all(Array.from({ length: 30 }, (_, index) => annai.call("get_user_status", {}, { token: issuer.person(`race-${index}`, { email: "race@example.com" }) })));
    assert.equal(all.filter(({ result }) => !result.isError).length, 1);
    for (const { result } of all.filter(({ result }) => result.isError)) assert.equal(failure(result).code, "forbidden");
    const same = await Promise.all(Array.from({ length: 30 }, () => annai.done("get_user_status", {}, { token: issuer.person("same") })));
    assert.equal(new Set(same.map(({ user_id }) => user_id)).size, 1);
  });

  test("searching needs no account, so a refused one does not end it", async () => {
    await annai.done("get_user_status", {}, { token: issuer.person("searcher") });
    const second = issuer.person("searcher-2", { email: "searcher@example.com" });
    assert.equal(failure((await annai.call("get_user_status", {}, { token: second })).result).code, "forbidden");
    assert.ok((await annai.done("search_services", {}, { token: second })).total_count > 0);
  });

  test("/gpt/auth on a bound user", async () => {
    const before = await restSession("bound@example.com");
    assert.equal((await annai.rest("GET", `/gpt/user/status?session_token=${before.session_token}`)).status, 200);
    const bound = await register(issuer.person("bound"), "bound@example.com");
    assert.equal(bound.structuredContent.user_id, before.user_id, "the account is adopted");
    const ended = await annai.rest("GET", `/gpt/user/status?session_token=${before.session_token}`);
    assert.equal(ended.status, 401, "binding ends older sessions");
    assert.equal(ended.json.error.code, "unauthorized");
    const auth = (body, key) => annai.rest("POST", "/gpt/auth", { email: "bound@example.com", region: "JP", ...body }, { key });
    for (const [what, body, key] of [
      ["the GPT key", {}, keys.gpt],
      ["other letters", { email: "BOUND@example.com" }, keys.gpt],
      ["the internal key", {}, keys.internal],
      ["another subject", { issuer: issuer.url, subject: "somebody" }, keys.internal],
      ["another issuer", { issuer: "https://other.example", subject: "bound" }, keys.internal],
      ["the GPT key with the right identity", { issuer: issuer.url, subject: "bound" }, keys.gpt],
      ["the development user", { issuer: "annai:dev", subject: "bound@example.com" }, keys.internal],
    ]) {
      const reply = await auth(body, key);
      assert.equal(reply.status, 403, `${what}: ${reply.text}`);
      assert.equal(reply.json.error.code, "forbidden");
    }
    for (const body of [{ issuer: issuer.url }, { subject: "bound" }]) assert.equal((await auth(body, keys.internal)).status, 400);
    const right = await restSession("bound@example.com", { issuer: issuer.url, subject: "bound" }, { key: keys.internal });
    assert.equal(right.user_id, bound.structuredContent.user_id);
  });

  test("a session token of another user", async () => {
    const [hana, taro] = [await restSession("rest-hana@example.com"), await restSession("rest-taro@example.com")];
    const status = (token) => annai.rest("GET", `/gpt/user/status?session_token=${token}`);
    assert.equal((await status(hana.session_token)).json.email, "rest-hana@example.com");
    assert.equal((await status(taro.session_token)).json.email, "rest-taro@example.com");
    // Completing a task in one's own session does nothing for the other's.
    const body = { session_token: hana.session_token, task_name: "survey", consent };
    assert.equal((await annai.rest("POST", `/gpt/tasks/${tea.id}/complete`, body)).status, 200);
    const ran = (token) => annai.rest("POST", "/gpt/services/echo/run", { session_token: token, input: "x" });
    assert.equal((await ran(taro.session_token)).status, 428);
    assert.equal((await ran(hana.session_token)).status, 200);
    // Not a token at all, one of nobody, and its neighbours.
    const changed = hana.session_token.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
    for (const token of [changed, "00000000-0000-0000-0000-000000000000", "00000000-0000-4000-8000-000000000000"]) {
      for (const reply of [await status(token), await ran(token), await annai.rest("GET", `/gpt/services?session_token=${token}`), await annai.rest("GET", `/gpt/preferences?session_token=${token}`)]) {
        assert.equal(reply.status, 401, reply.text);
      }
    }
    for (const token of ["", "x", `${hana.session_token}'--`, `{${hana.session_token}}0`, "%00"]) {
      const reply = await status(encodeURIComponent(token));
      assert.ok([400, 401].includes(reply.status), `${JSON.stringify(token)}: ${reply.status} ${reply.text}`);
      assert.ok(reply.json.error.code);
    }
    // Tools take no session token: who calls is who signed in.
    const token = issuer.person("tools");
    for (const name of ["get_user_status", "get_preferences", "search_services"]) {
      const error = await annai.failed(name, { session_token: hana.session_token }, { token });
      assert.match(error.message, /session_token/);
      assert.ok(!error.message.includes(hana.session_token));
    }
  });

  test("static tokens never get the scopes of services", async (t) => {
    const home = temporary();
    const env = environment(home);
    for (const scope of allScopes) {
      const made = await run(ANNAI, ["token", "new", `s-${scope}`, "--scope", scope], { env });
      assert.notEqual(made.status, 0, `annai token new --scope ${scope} made one`);
    }
    const made = await run(ANNAI, ["token", "new", "edited", "--scope", "library.read"], { env });
    assert.equal(made.status, 0, made.stderr);
    const token = made.stdout.trim();
    const file = join(home, "data/annai/tokens.json");
    await writeFile(file, (await readFile(file, "utf8")).replaceAll('"library.read"', [...allScopes, "answers.use"].map((scope) => JSON.stringify(scope)).join(", ")));
    // Whether an editor of the file gets a refused token or one without these scopes: no person, no services.
    for (const settings of [issuer.settings, { PUBLIC_URL: PUBLIC }, { PUBLIC_URL: PUBLIC, ANNAI_DEV_USER: "dev@example.com" }]) {
      const server = await start(t, { home, settings });
      for (const [name, args] of [["get_user_status", {}], ["authenticate_user", { email: "dev@example.com", region: "JP" }], ["run_service", { service: "answer", input: "x" }], ["set_preferences", { preferences: [] }]]) {
        const reply = await server.call(name, args, { token });
        assert.equal(reply.result?.isError, true, `${name}: ${reply.text}`);
        assert.ok([401, 403].includes(reply.status), `${name}: ${reply.status} ${reply.text}`);
      }
    }
  });
});

describe("the development user", () => {
  const email = "dev@example.com";
  const noKeys = { GPT_ACTIONS_API_KEY: undefined, MCP_INTERNAL_API_KEY: undefined, SPONSOR_API_KEY: undefined };

  test("over stdio and on loopback", async (t) => {
    const server = await start(t, { settings: { ...noKeys, ANNAI_DEV_USER: email } });
    assert.equal((await server.done("get_user_status")).email, email);
    // A page, a proxy or another host is not the owner.
    for (const headers of [{ origin: "https://chatgpt.com" }, { "x-forwarded-for": "127.0.0.1" }, { via: "1.1 x" }, { "sec-fetch-site": "cross-site" }]) {
      const reply = await server.call("get_user_status", {}, { headers });
      assert.equal(reply.status, 401, `${JSON.stringify(headers)}: ${reply.text}`);
      assert.equal(reply.result.isError, true);
    }
    const stdio = await Stdio.start(t, { home: server.home, settings: { ANNAI_DEV_USER: email } });
    assert.equal((await stdio.call("get_user_status")).structuredContent.email, email);
    const error = failure(await stdio.call("authenticate_user", { email: "other@example.com", region: "JP" }));
    assert.equal(error.code, "forbidden");
  });

  test("the start-up log says who it is", async (t) => {
    const server = await start(t, { settings: { ...noKeys, ANNAI_DEV_USER: email } });
    const said = await server.logged(({ msg }) => msg.includes("development user (ANNAI_DEV_USER)"));
    assert.equal(said.user, email);
  });

  test("not set: the error names the setting", async (t) => {
    const server = await start(t, { settings: noKeys });
    const stdio = await Stdio.start(t, { home: server.home });
    for (const result of [(await server.call("get_user_status")).result, await stdio.call("get_user_status"), await stdio.call("run_service", { service: "answer", input: "x" })]) {
      assert.match(failure(result).message, /ANNAI_DEV_USER/);
    }
    // Searching needs nobody.
    assert.equal((await stdio.call("search_services")).structuredContent.total_count, 0);
    assert.equal((await server.done("search_services")).total_count, 0);
  });

  test("not an address: the error names the setting", async (t) => {
    for (const wrong of ["not an address", "a@@example.com", "x".repeat(600)]) {
      const odd = await Stdio.start(t, { settings: { ANNAI_DEV_USER: wrong } });
      assert.match(failure(await odd.call("get_user_status")).message, /ANNAI_DEV_USER/, wrong.slice(0, 20));
    }
  });

  test("refused while an issuer is set, and the error names the setting", async (t) => {
    const settings = { ...noKeys, ANNAI_DEV_USER: email, OAUTH_ISSUER: issuer.url };
    const stdio = await Stdio.start(t, { settings });
    const error = failure(await stdio.call("get_user_status"));
    assert.match(error.message, /OAUTH_ISSUER|ANNAI_DEV_USER/);
    assert.ok(!error.message.includes(email));
    const server = await start(t, { settings: { ...settings, PUBLIC_URL: undefined } });
    const reply = await server.call("get_user_status");
    assert.equal(reply.result.isError, true, reply.text);
    assert.equal(reply.result.structuredContent, undefined);
  });

  test("an issuer under loopback trust: no token is a challenge, or nobody could ever sign in", async (t) => {
    const server = await start(t, { settings: { ...noKeys, OAUTH_ISSUER: issuer.url } });
    const reply = await server.call("get_user_status");
    assert.equal(reply.status, 401, `${reply.status} ${reply.text}`);
    assert.match(reply.headers["www-authenticate"] ?? "", /^Bearer resource_metadata="/);
    assert.ok(reply.result._meta["mcp/www_authenticate"]);
  });

  test("refused over HTTP with PUBLIC_URL, with and without trust", async (t) => {
    for (const settings of [{ PUBLIC_URL: PUBLIC }, { ANNAI_TRUST_LOOPBACK: "false" }]) {
      const server = await start(t, { settings: { ...noKeys, ANNAI_DEV_USER: email, ...settings } });
      for (const headers of [{}, { host: "annai.example.test" }]) {
        if (headers.host && !settings.PUBLIC_URL) continue;
        const reply = await server.call("get_user_status", {}, { headers });
        assert.equal(reply.status, 401, reply.text);
        assert.equal(reply.result.isError, true);
        assert.ok(!reply.text.includes(email));
      }
      assert.equal((await server.rest("POST", "/gpt/auth", { email: "x@example.com", region: "JP" }, { key: null })).status, 403);
      assert.equal((await server.rest("POST", "/campaigns", {}, { key: null })).status, 403);
    }
  });

  test("cannot enter a bound account", async (t) => {
    const home = temporary();
    const server = await start(t, { home, settings: issuer.settings });
    await server.done("get_user_status", {}, { token: issuer.person("dev") });
    await server.stop();
    const stdio = await Stdio.start(t, { home, settings: { ANNAI_DEV_USER: email } });
    assert.equal(failure(await stdio.call("get_user_status")).code, "forbidden");
  });
});

describe("tasks and money", () => {
  test("another campaign's task name", async () => {
    const coffee = await newCampaign(annai, { name: "Coffee", required_task: "registration", target_tools: ["echo"] });
    const token = issuer.person("tasks");
    const status = await annai.done("get_user_status", {}, { token });
    for (const task_name of ["registration", "Survey", "survey ", " survey", "", "s\u200burvey", "survey\u202e"]) {
      const error = await annai.failed("complete_task", { campaign_id: tea.id, task_name, consent }, { token });
      assert.ok(["validation_error", "invalid_parameter"].includes(error.code), `${task_name}: ${error.code}`);
      assert.match(error.message, /task_name/);
    }
    for (const campaign_id of [echo.id, "00000000-0000-4000-8000-000000000000", coffee.id]) {
      const error = await annai.failed("complete_task", { campaign_id, task_name: "survey", consent }, { token });
      assert.ok(["not_found", "validation_error"].includes(error.code), error.code);
    }
    assert.deepEqual((await annai.done("get_user_status", {}, { token })).completed_tasks, status.completed_tasks);
    assert.equal((await annai.failed("run_service", { service: "echo", input: "x" }, { token })).code, "precondition_required");
    // Its own task, and only then, pays; the other campaign keeps its money.
    await annai.done("complete_task", { campaign_id: coffee.id, task_name: "registration", consent }, { token });
    const ran = await annai.done("run_service", { service: "echo", input: "x" }, { token });
    assert.equal(ran.sponsored_by, "Sencha Co");
    assert.equal((await dashboard(annai, coffee)).spend_cents, 10);
    await annai.sponsor("PATCH", `/campaigns/${coffee.id}`, { active: false });
  });

  test("consent that is missing or withdrawn", async () => {
    const token = issuer.person("consents");
    const complete = (answers) => annai.done("complete_task", { campaign_id: tea.id, task_name: "survey", consent: { ...consent, ...answers } }, { token });
    const first = await complete({ data_sharing_agreed: false });
    assert.equal(first.can_use_service, false);
    assert.match(first.message, /data_sharing_agreed/);
    assert.equal((await annai.failed("run_service", { service: "echo", input: "x" }, { token })).code, "precondition_required");
    const second = await complete({});
    assert.deepEqual([second.can_use_service, second.task_completion_id], [true, first.task_completion_id]);
    await annai.done("run_service", { service: "echo", input: "x" }, { token });
    assert.equal((await complete({ purpose_acknowledged: false })).can_use_service, false);
    assert.equal((await annai.failed("run_service", { service: "echo", input: "x" }, { token })).code, "precondition_required");
    // A consent that is not an answer is no consent.
    for (const answers of [{ data_sharing_agreed: "true" }, { data_sharing_agreed: 1 }, { data_sharing_agreed: null }, { data_sharing_agreed: undefined }, { more: true }]) {
      const error = await annai.failed("complete_task", { campaign_id: tea.id, task_name: "survey", consent: { ...consent, ...answers } }, { token });
      assert.match(error.message, /consent|data_sharing_agreed|more/, JSON.stringify(answers));
    }
  });

  test("a service that no campaign pays for", async () => {
    await newApi(annai, service, { name: "Unpaid", service_key: "unpaid", price_cents: 77 });
    const token = await ready("unpaid");
    const calls = service.calls.length;
    const error = await annai.failed("run_service", { service: "unpaid", input: "x" }, { token });
    assert.equal(error.code, "payment_required");
    assert.equal(error.details.price_cents, 77);
    assert.match(error.message, /not enabled/);
    assert.equal((await annai.failed("run_service", { service: "nothing", input: "x" }, { token })).code, "not_found");
    for (const name of ["run_service", "tool:answer", "search_services", "tool:run_service", "manual_find", "../auth", "answer"]) {
      const { code } = await annai.failed("run_service", { service: name, input: "x" }, { token });
      assert.ok(["not_found"].includes(code), `${name}: ${code}`);
    }
    // A subsidy below the price pays nothing.
    const little = await newCampaign(annai, { name: "Little", subsidy_per_call_cents: 76, target_tools: ["unpaid"] });
    await annai.done("complete_task", { campaign_id: little.id, task_name: "survey", consent }, { token });
    assert.equal((await annai.failed("run_service", { service: "unpaid", input: "x" }, { token })).code, "payment_required");
    assert.equal(service.calls.length, calls, "the upstream was never called");
    assert.equal((await dashboard(annai, little)).remaining_budget_cents, 1000);
  });

  test("a tool that is not served, or lacks its key, reserves nothing and says so", async (t) => {
    for (const [toolsets, what] of [[["services"], /answer/], [["services", "answers"], /OPENAI_API_KEY/]]) {
      const server = await start(t, { toolsets, settings: issuer.settings });
      const campaign = await newCampaign(server);
      const token = await ready("unserved", campaign, server);
      const error = await server.failed("run_service", { service: "answer", input: "x" }, { token });
      assert.equal(error.code, "not_configured", `${toolsets}: ${error.code}: ${error.message}`);
      assert.match(error.message, what);
      const { spend_cents, reserved_cents, remaining_budget_cents } = await dashboard(server, campaign);
      assert.deepEqual([spend_cents, reserved_cents, remaining_budget_cents], [0, 0, 1000]);
      // REST says the same with 503.
      const { session_token } = await session(server, "unserved@example.com", { issuer: issuer.url, subject: "unserved" }, { key: keys.internal });
      tokens.add(session_token);
      assert.equal((await server.rest("POST", "/gpt/services/answer/run", { session_token, input: "x" })).status, 503);
    }
  });

  test("the last cents, asked for by many at once", async () => {
    const api = await newApi(annai, service, { name: "Scarce", service_key: "scarce", price_cents: 10 });
    const campaign = await newCampaign(annai, { name: "Scarce", budget_cents: 55, subsidy_per_call_cents: 10, target_tools: [api.service_key] });
    const token = await ready("scarce", campaign);
    const results = await Promise.all(Array.from({ length: 30 }, () => annai.call("run_service", { service: "scarce", input: "x" }, { token })));
    const paid = results.filter(({ result }) => !result.isError).length;
    assert.equal(paid, 5);
    for (const { result } of results.filter(({ result }) => result.isError)) assert.equal(failure(result).code, "payment_required");
    const { spend_cents, reserved_cents, remaining_budget_cents } = await dashboard(annai, campaign);
    assert.deepEqual({ spend_cents, reserved_cents, remaining_budget_cents }, { spend_cents: 50, reserved_cents: 0, remaining_budget_cents: 5 });
  });

  test("idempotency keys over MCP", async () => {
    const token = await ready("keys");
    const calls = service.calls.length;
    const call = (input, key, of = token) => annai.call("run_service", { service: "echo", input }, { token: of, meta: { "annai/idempotencyKey": key } });
    const first = await call("x", "key-1");
    const again = await call("x", "key-1");
    assert.deepEqual(again.result, first.result);
    assert.equal(service.calls.length, calls + 1);
    assert.equal(service.calls.at(-1).headers["idempotency-key"], first.result.structuredContent.tx_hash);
    assert.equal(failure((await call("y", "key-1")).result).code, "conflict");
    // Another person's key is another key.
    const other = await call("x", "key-1", await ready("keys-2"));
    assert.notEqual(other.result.structuredContent.tx_hash, first.result.structuredContent.tx_hash);
    for (const key of ["", "x".repeat(256), "é", "a\nb", 7, { a: 1 }]) {
      const reply = await call("z", key);
      assert.ok(reply.result?.isError || reply.error, `${JSON.stringify(key)}: ${reply.text.slice(0, 200)}`);
    }
  });
});

describe("arguments", () => {
  let token;
  before(async () => (token = await ready("arguments")));
  const megabyte = "あ".repeat(350_000);
  const fields = {
    search_services: [["q"], ["category"], ["intent"]],
    authenticate_user: [["email", { region: "JP" }], ["region", { email: "arguments@example.com" }]],
    get_task_details: [["campaign_id"]],
    complete_task: [["task_name", () => ({ campaign_id: tea.id, consent })], ["details", () => ({ campaign_id: tea.id, task_name: "survey", consent })], ["campaign_id", { task_name: "survey", consent }]],
    run_service: [["service", { input: "x" }], ["input", { service: "echo" }]],
  };

  test("one megabyte in each of them", async () => {
    const calls = service.calls.length;
    for (const [name, list] of Object.entries(fields)) {
      for (const [field, rest = {}] of list) {
        const others = typeof rest === "function" ? rest() : rest;
        const begin = performance.now();
        const reply = await annai.call(name, { ...others, [field]: megabyte }, { token });
        assert.equal(reply.status, 200, `${name}.${field}: ${reply.text.slice(0, 200)}`);
        const error = failure(reply.result, reply.text.slice(0, 300));
        assert.match(error.message, new RegExp(field), `${name}.${field}: ${error.message.slice(0, 200)}`);
        assert.ok(reply.text.length < 4000, `${name}.${field}: the reply repeats ${reply.text.length} characters`);
        assert.ok(performance.now() - begin < 20_000, `${name}.${field} took ${performance.now() - begin} ms`);
      }
    }
    for (const args of [{ preferences: Array(51).fill(0).map((_, index) => ({ task_type: `t${index}`, level: "neutral" })) }, { preferences: [{ task_type: megabyte, level: "avoided" }] }]) {
      assert.equal((await annai.call("set_preferences", args, { token })).result.isError, true);
    }
    const roles = await annai.call("authenticate_user", { email: "arguments@example.com", region: "JP", roles: Array(51).fill("r") }, { token });
    assert.equal(roles.result.isError, true);
    // Above the limit of a body.
    const huge = await annai.call("run_service", { service: "echo", input: "x".repeat(5 << 20) }, { token, fresh: true }).catch(({ code }) => ({ status: code }));
    // The server may close the connection while the rest is still being sent.
    assert.ok([413, "EPIPE", "ECONNRESET"].includes(huge.status), String(huge.status));
    await annai.mcp("tools/call", { name: megabyte, arguments: {} }, { token });
    assert.equal(service.calls.length, calls, "nothing was run");
    for (const line of annai.log().split("\n")) assert.ok(line.length < 5000, `a log line of ${line.length} characters`);
  });

  test("the limits themselves are accepted", async () => {
    const input = "あ".repeat(200_000);
    const reply = await annai.call("run_service", { service: "echo", input }, { token });
    assert.ok(!reply.result?.isError, reply.text.slice(0, 300));
    const { output, output_truncated } = reply.result.structuredContent;
    assert.equal([...output].length, 8000);
    assert.equal(output_truncated, true);
    assert.equal([...reply.result._meta.output].length, 200_006);
    assert.ok(reply.result.content.every((item) => [...item.text].length < 10_000), "the text is cut like the structure");
    await annai.done("complete_task", { campaign_id: tea.id, task_name: "survey", details: "d".repeat(10_000), consent }, { token });
    assert.equal((await annai.failed("complete_task", { campaign_id: tea.id, task_name: "survey", details: "d".repeat(10_001), consent }, { token })).code.length > 0, true);
  });

  test("markup and marks that turn text around are data", async () => {
    const odd = "<script>alert(1)</script>\u202eDcba\u2066\u200f&amp;\"'`${x}\\u0000";
    const campaign = await newCampaign(annai, { name: `N ${odd}`, sponsor: `S ${odd}`, required_task: `T ${odd}`, target_tools: ["echo"], tags: [odd], task_schema: { task_type: odd.slice(0, 20), required_fields: [odd], instructions: odd } });
    const details = await annai.done("get_task_details", { campaign_id: campaign.id }, { token });
    assert.equal(details.campaign_name, `N ${odd}`);
    assert.equal(details.required_task, `T ${odd}`);
    assert.deepEqual(details.task_input_format.required_fields, [odd]);
    const found = await annai.done("search_services", { q: odd }, { token });
    assert.equal(found.total_count, 1);
    await annai.done("complete_task", { campaign_id: campaign.id, task_name: `T ${odd}`, details: JSON.stringify({ [odd]: odd }), consent }, { token });
    const ran = await annai.call("run_service", { service: "echo", input: odd }, { token });
    assert.equal(ran.result.structuredContent.output, `echo: ${odd}`);
    assert.equal(service.calls.at(-1).body.input, odd);
    for (const name of [odd, "a/../../auth", "%2e%2e%2f", "'; drop table users; --", "\u0000"]) {
      const error = await annai.failed("run_service", { service: name, input: "x" }, { token });
      assert.ok(["not_found", "validation_error", "invalid_parameter"].includes(error.code), `${name}: ${error.code}`);
    }
    await annai.done("set_preferences", { preferences: [{ task_type: odd.slice(0, 20), level: "avoided" }] }, { token });
    assert.equal((await annai.done("search_services", { q: odd }, { token })).total_count, 0);
    // Every reply is one line of JSON, so nothing of it can pose as something else; the log likewise.
    for (const line of annai.log().trim().split("\n")) JSON.parse(line);
    await annai.sponsor("PATCH", `/campaigns/${campaign.id}`, { active: false });
  });

  test("NUL, lone surrogates and wrong types", async () => {
    for (const [name, args] of [
      ["run_service", { service: "echo", input: 7 }], ["run_service", { service: ["echo"], input: "x" }], ["run_service", { service: "echo" }], ["run_service", { service: "echo", input: null }],
      ["get_task_details", { campaign_id: 1 }], ["get_task_details", { campaign_id: tea?.id, more: 1 }], ["set_preferences", { preferences: [{ task_type: "a", level: "loved" }] }],
      ["set_preferences", { preferences: [{ task_type: "a", level: "avoided" }, { task_type: "a", level: "neutral" }] }], ["search_services", { max_budget_cents: -1 }], ["search_services", { max_budget_cents: 1.5 }],
      ["search_services", { max_budget_cents: 1e13 }], ["authenticate_user", { email: "no address", region: "JP" }], ["authenticate_user", { email: "arguments@example.com", region: "a\u0000b" }],
    ]) {
      const reply = await annai.call(name, args, { token });
      assert.equal(reply.result?.isError, true, `${name} ${JSON.stringify(args)}: ${reply.text}`);
    }
    const lone = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"run_service","arguments":{"service":"echo","input":"\\ud800"}}}`;
    const reply = await annai.raw({ method: "POST", path: "/mcp", body: lone, headers: { authorization: `Bearer ${token}` } });
    assert.ok(reply.json.error || reply.json.result.isError, reply.text);
  });
});

/** Waits until `actual()` has been what `expected()` says for a second, or for half a minute. */
async function agree(actual, expected) {
  for (let agreed = 0, tries = 0; agreed < 10 && tries < 300; tries++) {
    await pause(100);
    agreed = isDeepStrictEqual(await actual(), expected()) ? agreed + 1 : 0;
  }
}

describe("cancelling a run", { concurrency: false }, () => {
  /** A server of its own with one campaign, its person over stdio, and what the sponsor sees. */
  async function prepared(t) {
    const upstream = await sponsoredService(t);
    const settings = { ANNAI_DEV_USER: "dev@example.com" };
    const server = await start(t, { settings });
    servers.push(server);
    const campaign = await newCampaign(server, { target_tools: ["echo"] });
    await newApi(server, upstream);
    const stdio = await Stdio.start(t, { home: server.home, settings: { ...settings, ALLOW_PRIVATE_UPSTREAMS: "true" } });
    await stdio.call("complete_task", { campaign_id: campaign.id, task_name: "survey", consent });
    const books = async () => {
      const { spend_cents, reserved_cents, remaining_budget_cents } = await dashboard(server, campaign);
      return { spend_cents, reserved_cents, remaining_budget_cents };
    };
    /** Waits until nothing is reserved any more. */
    const quiet = async () => {
      for (let tries = 0; tries < 2400; tries++) {
        const now = await books();
        if (now.reserved_cents === 0) return now;
        await pause(25);
      }
      throw new Error(`still reserved: ${JSON.stringify(await books())}`);
    };
    return { server, stdio, upstream, campaign, books, quiet };
  }
  const cents = (spend) => ({ spend_cents: spend, reserved_cents: 0, remaining_budget_cents: 1000 - spend });
  const args = { service: "echo", input: "x" };

  test("over stdio: at once, while the service works, when it fails afterwards, and when it is over", async (t) => {
    const { server, stdio, upstream, books, quiet } = await prepared(t);
    // At once, many times: whatever the moment, each run is either paid and called, or neither.
    for (let times = 0; times < 20; times++) {
      const id = stdio.send("tools/call", { name: "run_service", arguments: args });
      if (times % 2) await pause(times / 4);
      stdio.notify("notifications/cancelled", { requestId: id });
    }
    await agree(async () => (await books()).spend_cents, () => upstream.calls.length * 10);
    const settled = await quiet();
    assert.equal(settled.spend_cents, upstream.calls.length * 10, "each call of the service was paid for, and nothing else");
    // While the service works: it goes on and settles, and nothing is answered.
    let [calls, release] = [upstream.calls.length, upstream.hold()];
    const id = stdio.send("tools/call", { name: "run_service", arguments: args });
    await upstream.called(calls + 1);
    assert.equal((await books()).reserved_cents, 10);
    stdio.notify("notifications/cancelled", { requestId: id });
    // That the run goes on can only be tested by giving it time to end.
    await pause(100);
    assert.equal((await books()).reserved_cents, 10, "the run is detached");
    release();
    assert.deepEqual(await quiet(), cents(settled.spend_cents + 10));
    assert.equal(stdio.answered(id), false, "nothing is sent for a cancelled request");
    // The same, and the service fails: released.
    upstream.reply = (_, response) => response.writeHead(500).end("secret words of the upstream");
    [calls, release] = [upstream.calls.length, upstream.hold()];
    const failing = stdio.send("tools/call", { name: "run_service", arguments: args });
    await upstream.called(calls + 1);
    stdio.notify("notifications/cancelled", { requestId: failing });
    release();
    assert.deepEqual(await quiet(), cents(settled.spend_cents + 10));
    upstream.reply = undefined;
    // When it is over, cancelling means nothing.
    const done = stdio.send("tools/call", { name: "run_service", arguments: args });
    assert.equal((await stdio.reply(done)).result.structuredContent.output, "echo: x");
    stdio.notify("notifications/cancelled", { requestId: done });
    assert.deepEqual(await quiet(), cents(settled.spend_cents + 20));
    await booksBalance(server);
  });

  test("over HTTP: the client goes away, old and new protocol, MCP and REST", async (t) => {
    const { server, upstream, campaign, books, quiet } = await prepared(t);
    const modern = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "run_service" };
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "x", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} };
    const { session_token } = await session(server, "rest@example.com");
    await server.rest("POST", `/gpt/tasks/${campaign.id}/complete`, { session_token, task_name: "survey", consent });
    const ways = {
      "2025-11-25": (signal) => server.call("run_service", args, { signal }),
      "2026-07-28": (signal) => server.call("run_service", args, { signal, headers: modern, meta }),
      REST: (signal) => server.rest("POST", "/gpt/services/echo/run", { session_token, input: "x" }, { signal }),
    };
    let spend = 0;
    for (const [name, way] of Object.entries(ways)) {
      const control = await way();
      assert.equal(control.status, 200, `${name}: ${control.text}`);
      spend += 10;
      const [calls, release, abort] = [upstream.calls.length, upstream.hold(), new AbortController()];
      const gone = way(abort.signal).catch(() => "gone");
      await upstream.called(calls + 1);
      abort.abort();
      assert.equal(await gone, "gone");
      // That the run goes on can only be tested by giving it time to end.
      await pause(150);
      assert.equal((await books()).reserved_cents, 10, `${name}: the run goes on`);
      release();
      spend += 10;
      assert.deepEqual(await quiet(), cents(spend), name);
      // At once.
      const before = upstream.calls.length;
      for (let times = 0; times < 10; times++) {
        const abort = new AbortController();
        const gone = way(abort.signal).catch(() => "gone");
        await pause(times / 2);
        abort.abort();
        await gone;
      }
      // Every run that was begun is paid for, and no other. A busy machine may begin the last ones later.
      const expected = () => cents(spend + (upstream.calls.length - before) * 10);
      await agree(books, expected);
      assert.deepEqual(await quiet(), expected(), `${name}, at once`);
      spend = expected().spend_cents;
    }
    await booksBalance(server);
  });

  test("the end of input and SIGTERM while the service works", async (t) => {
    const { server, stdio, upstream, campaign, quiet, books } = await prepared(t);
    let release = upstream.hold();
    const id = stdio.send("tools/call", { name: "run_service", arguments: args });
    await upstream.called(1);
    stdio.child.stdin.end();
    // Time for the server to end if it did not wait for the run.
    await pause(100);
    release();
    assert.equal((await stdio.reply(id)).result.structuredContent.output, "echo: x");
    assert.equal(await within(60_000, "it ends", stdio.ended), 0);
    assert.deepEqual(await quiet(), cents(10));
    // SIGTERM: the run is waited for.
    const second = await Stdio.start(t, { home: server.home, settings: { ANNAI_DEV_USER: "dev@example.com", ALLOW_PRIVATE_UPSTREAMS: "true" } });
    release = upstream.hold();
    const running = second.send("tools/call", { name: "run_service", arguments: args });
    await upstream.called(2);
    second.child.kill("SIGTERM");
    // Time for the server to end if it did not wait for the run.
    await pause(200);
    release();
    assert.equal((await within(60_000, "the answer", second.reply(running))).result.structuredContent.output, "echo: x");
    await within(60_000, "it ends", second.ended);
    assert.deepEqual(await quiet(), cents(20));
    assert.ok(campaign.id && (await books()));
  });
});

describe("two hundred calls at once of one user", () => {
  const limited = async (t, how) => {
    const server = await start(t, { settings: { ...issuer.settings, RATE_LIMIT_PER_MIN: "60" } });
    servers.push(server);
    return how(server);
  };
  const sort = (all) => ({ ok: all.filter(({ result }) => result && !result.isError).length, refused: all.filter(({ result }) => result?.isError && failure(result).code === "rate_limited").length });

  test("the limit counts them, of a known user and of a new one", (t) =>
    limited(t, async (server) => {
      for (const name of ["new", "known"]) {
        const token = issuer.person(name);
        if (name === "known") await server.done("get_user_status", {}, { token });
        const all = await Promise.all(Array.from({ length: 200 }, () => server.call("get_user_status", {}, { token })));
        const expected = name === "known" ? 59 : 60;
        assert.deepEqual(sort(all), { ok: expected, refused: 200 - expected }, name);
      }
      // Others are not held up.
      await server.done("get_user_status", {}, { token: issuer.person("other") });
      assert.equal((await server.call("search_services")).status, 200);
    }));

  test("every tool counts, also with failures, and REST counts with it", (t) =>
    limited(t, async (server) => {
      const token = issuer.person("mixed");
      const auth = await server.call("authenticate_user", { email: "mixed@example.com", region: "JP" }, { token });
      const { session_token } = auth.result._meta;
      tokens.add(session_token);
      for (let times = 0; times < 10; times++) {
        await server.call("get_preferences", {}, { token });
        await server.call("search_services", {}, { token });
        await server.call("run_service", { service: "nothing", input: "x" }, { token });
        await server.call("complete_task", { campaign_id: tea.id, task_name: "survey", consent }, { token });
        assert.equal((await server.rest("GET", `/gpt/user/status?session_token=${session_token}`)).status, 200);
      }
      // 1 + 50 so far.
      const all = await Promise.all(Array.from({ length: 20 }, () => server.call("get_user_status", {}, { token })));
      assert.deepEqual(sort(all), { ok: 9, refused: 11 });
      const rest = await server.rest("GET", `/gpt/user/status?session_token=${session_token}`);
      assert.equal(rest.status, 429, rest.text);
      assert.ok(Number(rest.headers["retry-after"]) >= 1);
      // A second session of the same person is the same client.
      const again = await server.call("authenticate_user", { email: "mixed@example.com", region: "JP" }, { token });
      assert.equal(failure(again.result).code, "rate_limited");
    }));

  test("a call that is refused changes nothing", (t) =>
    limited(t, async (server) => {
      await newApi(server, service, { name: "For developers", service_key: "dev" });
      await newCampaign(server, { target_roles: ["developer"], target_tools: ["dev"] });
      const token = issuer.person("late");
      await Promise.all(Array.from({ length: 61 }, () => server.call("get_preferences", {}, { token })));
      const refused = await server.call("authenticate_user", { email: "late@example.com", region: "JP", roles: ["developer"] }, { token });
      assert.equal(failure(refused.result).code, "rate_limited");
      const { session_token } = await session(server, "late@example.com", { issuer: issuer.url, subject: "late" }, { key: keys.internal });
      tokens.add(session_token);
      const run = await server.rest("POST", "/gpt/services/dev/run", { session_token, input: "x" }, { key: keys.internal });
      assert.equal(run.status, 402, `428 says that the role of the refused call was taken: ${run.status} ${run.text}`);
    }));

  test("unknown sessions and wrong keys are counted for their address", (t) =>
    limited(t, async (server) => {
      const nobody = "/gpt/user/status?session_token=00000000-0000-4000-8000-000000000000";
      for (const [path, key, status] of [[nobody, keys.gpt, 401], ["/gpt/services", "wrong", 403]]) {
        const all = await Promise.all(Array.from({ length: 100 }, () => server.rest("GET", path, undefined, { key })));
        const count = (status) => all.filter((reply) => reply.status === status).length;
        assert.deepEqual([count(status), count(429)], [60, 40], path);
      }
    }));

  test("two hundred runs at once are paid for once each, and never more than the limit", (t) =>
    limited(t, async (server) => {
      const upstream = await sponsoredService(t);
      const campaign = await newCampaign(server, { target_tools: ["echo"], budget_cents: 10_000 });
      await newApi(server, upstream);
      const token = await ready("runner", campaign, server);
      const all = await Promise.all(Array.from({ length: 200 }, () => server.call("run_service", { service: "echo", input: "x" }, { token })));
      assert.deepEqual(sort(all), { ok: 59, refused: 141 });
      assert.equal(upstream.calls.length, 59);
      assert.equal((await dashboard(server, campaign)).spend_cents, 590);
      assert.equal(new Set(all.filter(({ result }) => !result.isError).map(({ result }) => result.structuredContent.tx_hash)).size, 59);
      await booksBalance(server);
    }));
});

// The last test: everything above has been said and logged.
test("a session token is only in authenticate_user's _meta and in /gpt/auth's reply", async () => {
  const some = [...tokens][0];
  assert.match(some, UUID);
  // Requests that might make a server repeat what it got.
  for (const path of [`/gpt/user/status?session_token=${some}&x=1`, `/gpt/${some}`, `/${some}`, `/gpt/tasks/${some}?session_token=${some}`, `/gpt/services/${some}/run`, `/gpt/services?session_token=${some}&limit=x`, `/campaigns/${some}`, `/dashboard/sponsor/${some}`]) {
    await annai.rest("GET", path);
  }
  await annai.rest("POST", "/gpt/preferences", { session_token: some, preferences: [{ task_type: "a", level: "wrong" }] });
  await annai.rest("POST", "/gpt/preferences", `{"session_token":"${some}","preferences":`);
  await annai.rest("POST", "/gpt/auth", { email: "x@example.com", region: "JP", session_token: some });
  await annai.rest("POST", "/tasks/complete", { session_token: some, campaign_id: "x" });
  assert.ok(tokens.size > 5);
  // A log is whole when its server has ended.
  for (const server of servers) await server.stop();
  // What the test itself sent as a path, a name or an id comes back as that; only real places count.
  const allowed = (where) => where === "mcp authenticate_user" || where === "POST /gpt/auth";
  const sentByPath = (where) => [...tokens].some((token) => where.split("?")[0].includes(token));
  for (const token of tokens) {
    for (const { where, text } of replies) {
      if (allowed(where) || sentByPath(where)) continue;
      assert.ok(!text.includes(token), `${where}: ${text.slice(0, 500)}`);
    }
    for (const { log } of servers) {
      const line = log().split("\n").find((line) => line.includes(token));
      assert.equal(line, undefined);
    }
  }
  // In authenticate_user's reply it is in _meta and nowhere else.
  for (const { where, text } of replies.filter(({ where }) => where === "mcp authenticate_user")) {
    const { result } = JSON.parse(text.slice(text.indexOf("\n") + 1));
    const { _meta, ...rest } = result;
    for (const token of tokens) assert.ok(!JSON.stringify(rest).includes(token), where);
  }
});
