// The journey of a person, from the search to the status, by every official client: TypeScript 1.x and 2.x over HTTP and
// stdio, the MCP Inspector's command line, and Python (journey.py). The answer comes from a fake of OpenAI's API, and a
// sponsor pays for it.
import { after, before, test } from "node:test";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { ANNAI, assert, bothChannels, booksBalance, consent, environment, failure, fakeOpenai, oauth, repository, run, shared, start, temporary } from "./parts.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const me = { name: "services-tests", version: "1.0.0" };
const email = "you@example.com";
const args = ["--stdio", "--toolset", "services", "--toolset", "answers"];
const t = shared();
let api;
before(async () => (api = await fakeOpenai(t)));
after(() => t.close());

/** A home with a campaign that `annai campaigns new` made, an HTTP server on it, and the settings of a second process. */
async function prepared(t) {
  const home = temporary();
  const settings = { ...api, ANNAI_DEV_USER: email };
  const made = await run(ANNAI, ["campaigns", "new", "--name", "Tea survey", "--sponsor", "Sencha Co", "--task", "survey", "--pays", "50", "--budget", "1000", "--service", "answer"], { env: environment(home, settings) });
  assert.equal(made.status, 0, made.stderr);
  const noKeys = { GPT_ACTIONS_API_KEY: undefined, MCP_INTERNAL_API_KEY: undefined, SPONSOR_API_KEY: undefined };
  const annai = await start(t, { home, settings: { ...settings, ...noKeys } });
  return { annai, home, env: environment(home, settings) };
}

/** What a client that gives its model only one of the channels shows. */
const eyes = {
  text: (result) => ({ ...JSON.parse(result.content[1].text), message: result.content[0].text }),
  structure: (result) => result.structuredContent,
};

/** The journey; `call(name, args)` returns the result of a tool. Only what `see` shows is used to go on. */
async function journey(call, see) {
  const good = async (name, args = {}) => {
    const result = await call(name, args);
    bothChannels(result);
    return see(result);
  };
  const found = await good("search_services", { q: "tea" });
  assert.equal(found.total_count, 1);
  const [service] = found.services;
  assert.deepEqual(service.service_keys, ["answer"]);
  const who = await good("authenticate_user", { email, region: "JP" });
  assert.equal(who.email, email);
  const task = await good("get_task_details", { campaign_id: service.service_id });
  assert.equal(task.already_completed, false);
  const ask = { service: service.service_keys[0], input: "weather in Tokyo" };
  const early = await call("run_service", ask);
  assert.equal(failure(early).code, "precondition_required");
  // The text of the failure is all that a model sees: what to do, and for whom.
  assert.ok(early.content[0].text.includes(task.required_task) && early.content[0].text.includes(task.campaign_name), early.content[0].text);
  const complete = (answers) => good("complete_task", { campaign_id: task.campaign_id, task_name: task.required_task, details: '{"email":"you@example.com","region":"JP"}', consent: answers });
  const without = await complete({ ...consent, data_sharing_agreed: false });
  assert.equal(without.can_use_service, false);
  assert.match(without.message, /data_sharing_agreed/);
  assert.equal(failure(await call("run_service", ask)).code, "precondition_required");
  assert.equal((await complete(consent)).can_use_service, true);
  const ran = await good("run_service", ask);
  const answer = JSON.parse(ran.output);
  assert.equal(answer.used_search, true);
  assert.ok(answer.citations.length > 0);
  assert.deepEqual([ran.payment_mode, ran.sponsored_by, ran.output_truncated], ["sponsored", "Sencha Co", false]);
  assert.match(ran.tx_hash, /^0x[0-9a-f]{64}$/);
  const status = await good("get_user_status");
  assert.equal(status.user_id, who.user_id);
  assert.deepEqual(status.completed_tasks.map((task) => task.task_name), ["survey"]);
  assert.deepEqual(status.available_services, [{ service: "answer", sponsor: "Sencha Co", ready: true }]);
  await good("set_preferences", { preferences: [{ task_type: "survey", level: "preferred" }] });
  assert.deepEqual((await good("get_preferences")).preferences, [{ task_type: "survey", level: "preferred" }]);
  return task.campaign_id;
}

/** What the sponsor sees afterwards, in every place. */
async function paid(annai, campaign) {
  const { status, json } = await annai.rest("GET", `/dashboard/sponsor/${campaign}`, undefined, { key: null });
  assert.equal(status, 200);
  const { tasks_completed, sponsored_calls, spend_cents, reserved_cents, remaining_budget_cents } = json;
  assert.deepEqual({ tasks_completed, sponsored_calls, spend_cents, reserved_cents, remaining_budget_cents }, { tasks_completed: 1, sponsored_calls: 1, spend_cents: 50, reserved_cents: 0, remaining_budget_cents: 950 });
  assert.match(await booksBalance(annai), /balance/i);
  const { status: exit, stdout } = await run(ANNAI, ["campaigns"], { env: environment(annai.home) });
  assert.equal(exit, 0);
  assert.match(stdout, /Tea survey/);
  assert.match(stdout, /9\.50/);
}

const versions = [
  ["1.x", () => new Client1(me), Http1, Stdio1, "text"],
  ["2.x, 2025-11-25", () => new Client2(me, { versionNegotiation: { mode: "legacy" } }), Http2, Stdio2, "structure"],
  ["2.x, 2026-07-28", () => new Client2(me, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), Http2, Stdio2, "text"],
];
for (const [version, newClient, Http, Stdio, first] of versions) {
  for (const transport of ["http", "stdio"]) {
    const sight = transport === "http" ? first : { text: "structure", structure: "text" }[first];
    test(`client ${version} over ${transport}, seeing only the ${sight}`, async (t) => {
      const { annai, env } = await prepared(t);
      const client = newClient();
      t.after(() => client.close());
      await client.connect(transport === "http" ? new Http(annai.url) : new Stdio({ command: ANNAI, args, env, stderr: "ignore" }));
      const { tools } = await client.listTools();
      assert.equal(tools.filter((tool) => tool._meta?.securitySchemes).length >= 8, true);
      const prompt = await client.getPrompt({ name: "find_sponsored_service", arguments: { service: "answer" } });
      for (const name of ["search_services", "get_task_details", "complete_task", "run_service"]) assert.ok(prompt.messages[0].content.text.includes(name), name);
      const { resources } = await client.listResources();
      for (const name of ["services-list", "task-form", "user-dashboard"]) assert.ok(resources.some(({ uri }) => uri === `ui://widget/${name}.html`), name);
      const campaign = await journey((name, args) => client.callTool({ name, arguments: args }), eyes[sight]);
      const { completion } = await client.complete({ ref: { type: "ref/prompt", name: "find_sponsored_service" }, argument: { name: "campaign_id", value: campaign.slice(0, 4) } });
      assert.deepEqual(completion.values, [campaign]);
      await paid(annai, campaign);
    });
  }
}

test("the Inspector's command line", { timeout: 60_000 }, async (t) => {
  const { annai } = await prepared(t);
  const state = temporary();
  const inspector = join(oauth, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
  // It reads an argument as JSON where it can, so text that looks like JSON is quoted.
  const argument = (value) => (typeof value === "string" && !value.startsWith("{") ? value : JSON.stringify(value));
  const call = async (name, args) => {
    const given = Object.entries(args).flatMap(([key, value]) => ["--tool-arg", `${key}=${argument(value)}`]);
    const command = [inspector, "--cli", annai.url.href, "--transport", "http", "--format", "json", "--method", "tools/call", "--tool-name", name, ...given];
    const { stdout, stderr } = await run(process.execPath, command, { env: { PATH: process.env.PATH, HOME: state } });
    assert.ok(stdout, stderr);
    return JSON.parse(stdout).result;
  };
  await paid(annai, await journey(call, eyes.text));
});

test("the Python client", { timeout: 60_000 }, async (t) => {
  for (const mode of ["legacy", "2026-07-28"]) {
    for (const transport of ["http", "stdio"]) {
      const { annai, env } = await prepared(t);
      const python = join(repository, "target/test-venv/bin/python");
      const server = transport === "http" ? annai.url.href : "stdio";
      const { status, stdout, stderr } = await run(python, [join(here, "journey.py"), mode, server], { env: { ...env, ANNAI }, timeout: 30_000 });
      assert.equal(status, 0, `${mode} ${transport}: ${stdout}${stderr}`);
      await paid(annai, stdout.trim().split("\n").at(-1));
    }
  }
});
