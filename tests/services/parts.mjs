// What all tests of this folder share: annai with the services, a fake OpenAI API, a service of a sponsor that the test
// controls, an issuer that signs any token, and a record of everything that annai replied and logged.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import http from "node:http";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ANNAI, environment, freePort, here as oauth, pause, repository, run, serve, stop, temporary, within } from "../oauth/parts.mjs";
import { Issuer, jws, makeKey } from "../tokens/issuer.mjs";

export { ANNAI, assert, environment, freePort, oauth, pause, repository, run, stop, temporary, within };

export const FAKE_OPENAI = process.env.FAKE_OPENAI ?? join(repository, "target/debug/fake_openai");
export const PUBLIC = "https://annai.example.test";
export const RESOURCE = `${PUBLIC}/mcp`;
export const keys = { gpt: "gpt-key-of-the-tests", internal: "internal-key-of-the-tests", sponsor: "sponsor-key-of-the-tests" };
export const keySettings = { GPT_ACTIONS_API_KEY: keys.gpt, MCP_INTERNAL_API_KEY: keys.internal, SPONSOR_API_KEY: keys.sponsor };
export const allScopes = ["user.read", "user.write", "tasks.read", "tasks.write", "services.execute"];
export const consent = { data_sharing_agreed: true, purpose_acknowledged: true, contact_permission: false };
export const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Something with the `after` of a test, for what several tests share: `close` is for the hook `after` of node:test. */
export function shared() {
  const endings = [];
  return {
    after: (ending) => void endings.push(ending),
    close: async () => {
      for (const ending of endings.reverse()) await ending();
    },
  };
}

/** The fake of OpenAI's API; the settings with which annai uses it. */
export async function fakeOpenai(t) {
  const child = spawn(FAKE_OPENAI, [], { stdio: ["ignore", "pipe", "ignore"] });
  t.after(() => stop(child));
  const url = new Promise((resolve) => createInterface({ input: child.stdout }).once("line", resolve));
  return { OPENAI_BASE_URL: await within(120_000, "the fake API", url), OPENAI_API_KEY: "fake-key-for-tests-0123456789abcdefghij" };
}

/**
 * The service of a sponsor. It answers `echo: INPUT`, unless `reply(request, response, body)` is replaced; `hold()` makes it
 * wait with every answer until the function that is returned is called. `calls` has what it received.
 */
export async function sponsoredService(t) {
  const service = { calls: [], waiting: Promise.resolve(), reply: undefined };
  const server = http.createServer((request, response) => {
    let text = "";
    request.setEncoding("utf8").on("data", (more) => (text += more)).on("end", async () => {
      service.calls.push({ method: request.method, headers: request.headers, body: JSON.parse(text) });
      await service.waiting;
      if (service.reply) return service.reply(request, response, JSON.parse(text));
      response.writeHead(200, { "content-type": "text/plain; charset=utf-8" }).end(`echo: ${JSON.parse(text).input}`);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  });
  service.url = `http://127.0.0.1:${server.address().port}/run`;
  service.hold = () => {
    let release;
    service.waiting = new Promise((resolve) => (release = resolve));
    return release;
  };
  /** Waits until it was called `count` times. */
  service.called = async (count) => {
    for (let tries = 0; tries < 3000 && service.calls.length < count; tries++) await pause(20);
    assert.ok(service.calls.length >= count, `the service was called ${service.calls.length} times, not ${count}`);
  };
  return service;
}

/** An issuer, and tokens of whoever the test names. */
export async function people() {
  const issuer = await Issuer.start();
  const key = makeKey("services", "rsa");
  issuer.keys = [key];
  issuer.settings = { OAUTH_ISSUER: issuer.url, PUBLIC_URL: PUBLIC };
  issuer.person = (sub, claims = {}) =>
    jws(key, issuer.claims(RESOURCE, { sub, email: `${sub}@example.com`, email_verified: true, scope: allScopes.join(" "), ...claims }));
  return issuer;
}

/** Every reply of every server of this process: {where, text}. */
export const replies = [];

/**
 * annai over HTTP with the services and the answers. Its members `rest`, `mcp` and `call` are requests; `log()` is what it
 * has logged.
 */
export async function start(t, { settings = {}, toolsets = ["services", "answers"], home, args = [], port } = {}) {
  home ??= temporary();
  const [toolset, ...more] = toolsets;
  const annai = await serve(t, {
    home,
    port,
    toolset,
    args: [...more.flatMap((name) => ["--toolset", name]), ...args],
    settings: { ALLOW_PRIVATE_UPSTREAMS: "true", RATE_LIMIT_PER_MIN: "100000", ...keySettings, ...settings },
  });
  annai.home = home;
  annai.log = () => annai.text;
  const agent = new http.Agent({ keepAlive: true, maxSockets: 256 });
  t.after(() => agent.destroy());
  annai.raw = (options) => exchange(annai, agent, options);
  annai.rest = async (method, path, body, { key = keys.gpt, headers = {}, ...rest } = {}) => {
    const authorization = key ? { authorization: `Bearer ${key}` } : {};
    return annai.raw({ method, path, body, headers: { ...authorization, ...headers }, ...rest });
  };
  annai.sponsor = async (method, path, body, options = {}) => {
    const reply = await annai.rest(method, path, body, { key: keys.sponsor, ...options });
    assert.ok(reply.status < 300, `${method} ${path}: ${reply.status} ${reply.text}`);
    return reply.json;
  };
  annai.mcp = async (method, params = {}, { token, headers = {}, id = 1, ...rest } = {}) => {
    const authorization = token ? { authorization: `Bearer ${token}` } : {};
    const reply = await annai.raw({ method: "POST", path: "/mcp", body: { jsonrpc: "2.0", id, method, params }, headers: { ...authorization, ...headers }, where: `mcp ${params.name ?? method}`, ...rest });
    return { ...reply, result: reply.json?.result, error: reply.json?.error };
  };
  annai.call = (name, args = {}, { meta, ...options } = {}) =>
    annai.mcp("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) }, options);
  /** A call that must succeed: its structured content. */
  annai.done = async (name, args, options) => {
    const reply = await annai.call(name, args, options);
    assert.ok(reply.result && !reply.result.isError, `${name}: ${reply.status} ${reply.text}`);
    return reply.result.structuredContent;
  };
  /** A call that must fail in the form of the services: the members of `_meta["annai/error"]`. */
  annai.failed = async (name, args, options) => {
    const reply = await annai.call(name, args, options);
    return failure(reply.result, reply.text);
  };
  return annai;
}

function exchange(annai, agent, { method = "GET", path = "/", body, headers = {}, where = `${method} ${path}`, timeout = 45_000, signal, fresh = false } = {}) {
  const text = body === undefined ? undefined : typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const content = text === undefined ? {} : { "content-type": "application/json", accept: "application/json, text/event-stream", "content-length": Buffer.byteLength(text) };
    const options = { method, host: "127.0.0.1", port: annai.port, path, agent: fresh ? false : agent, headers: { host: `127.0.0.1:${annai.port}`, ...content, ...headers }, timeout, signal };
    const sent = http.request(options, (response) => {
      const chunks = [];
      response.on("error", reject).on("data", (chunk) => chunks.push(chunk)).on("end", () => {
        const received = Buffer.concat(chunks).toString();
        replies.push({ where, text: `${JSON.stringify(response.headers)}\n${received}` });
        let json;
        try {
          json = JSON.parse(received);
        } catch {
          // Not every reply is JSON.
        }
        resolve({ status: response.statusCode, headers: response.headers, text: received, json });
      });
    });
    sent.on("timeout", () => sent.destroy(new Error(`${where}: no answer within ${timeout} ms`)));
    sent.on("error", reject);
    sent.end(text);
  });
}

/** The failure of a tool of the services: its sentence as text, no structure, and the rest in `_meta`. */
export function failure(result, text = JSON.stringify(result)) {
  assert.equal(result?.isError, true, text);
  assert.equal(result.structuredContent, undefined, "failures have no structure");
  const error = result._meta["annai/error"];
  assert.ok(error?.code && error.message, text);
  assert.equal(result.content[0].text, error.message, "the text of a failure is its sentence");
  return error;
}

export async function newCampaign(annai, body = {}) {
  const all = { name: "Tea survey", sponsor: "Sencha Co", required_task: "survey", subsidy_per_call_cents: 50, budget_cents: 1000, target_tools: ["answer"], ...body };
  return (await annai.sponsor("POST", "/campaigns", all)).campaign;
}

export async function newApi(annai, service, body = {}) {
  const all = { name: "Echo", sponsor: "Echo Inc", upstream_url: service.url, price_cents: 10, budget_cents: 0, service_key: "echo", ...body };
  return (await annai.sponsor("POST", "/sponsored-apis", all)).api;
}

export const campaignId = (campaign) => campaign.campaign_id ?? campaign.id;
export const dashboard = (annai, campaign) => annai.sponsor("GET", `/dashboard/sponsor/${campaignId(campaign)}`);

/** A session over REST. */
export async function session(annai, email, more = {}, options = {}) {
  const reply = await annai.rest("POST", "/gpt/auth", { email, region: "JP", ...more }, options);
  assert.equal(reply.status, 200, reply.text);
  return reply.json;
}

/** `annai campaigns --check` says that the books balance. */
export async function booksBalance(annai, settings = {}) {
  const { status, stdout, stderr } = await run(ANNAI, ["campaigns", "--check"], { env: environment(annai.home, settings) });
  assert.equal(status, 0, `annai campaigns --check: ${stdout}${stderr}`);
  return stdout;
}

/** Each channel of a result is complete on its own: a client that sees only the text, and one that sees only the structure. */
export function bothChannels(result) {
  assert.ok(!result.isError, JSON.stringify(result));
  const text = result.content.map((item) => item.text).join("\n");
  const [sentence, second] = result.content.map((item) => item.text);
  assert.equal(sentence, result.structuredContent.message, "the first text is the sentence");
  const { message, ...rest } = result.structuredContent;
  assert.deepEqual(JSON.parse(second), rest, "the second text has what the structure has");
  assert.ok(text);
  return { text, structure: result.structuredContent };
}
