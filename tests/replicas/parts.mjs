// What the tests of this folder share: a PostgreSQL database, servers on it that can be killed, a balancer in front of them,
// and the service of a sponsor. ANNAI names the executable, ANNAI_TEST_POSTGRES the database server.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import http from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { killAtExit, temporaryFolder } from "../leftovers.mjs";

const repository = join(dirname(fileURLToPath(import.meta.url)), "../..");
export const ANNAI = process.env.ANNAI ?? join(repository, "target/debug/annai");
const SERVER = process.env.ANNAI_TEST_POSTGRES;
if (!SERVER) throw new Error("ANNAI_TEST_POSTGRES must name a PostgreSQL server: see tests/replicas/run");

export const keys = { gpt: "gpt-key-of-the-tests", internal: "internal-key-of-the-tests", sponsor: "sponsor-key-of-the-tests" };
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Waits until `holds()` is true. The time is far longer than it takes on a busy machine. */
export async function until(what, holds, ms = 120_000) {
  const started = Date.now();
  while (!(await holds())) {
    assert.ok(Date.now() - started < ms, `${what}: not within ${ms} ms`);
    await pause(200);
  }
}

const psql = async (url, statement) => {
  const { stdout } = await promisify(execFile)("psql", ["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", url, "-c", statement], { maxBuffer: 1 << 26 });
  return stdout.trimEnd();
};

/** A new database: its URL, and queries that return lists of rows, each a list of texts, or one number. */
export async function database(t) {
  const name = `annai_${randomBytes(8).toString("hex")}`;
  await psql(SERVER, `CREATE DATABASE ${name}`);
  t.after(() => psql(SERVER, `DROP DATABASE ${name} WITH (FORCE)`));
  const url = SERVER.replace(/\/[^/]*$/, `/${name}`);
  const rows = async (query) => (await psql(url, query)).split("\n").filter(Boolean).map((line) => line.split("|"));
  return { url, rows, number: async (query) => Number((await rows(query))[0][0]) };
}

/** The environment of annai: nothing of the caller's settings, and folders of its own. */
function environment(settings) {
  const home = temporaryFolder("annai-replicas-");
  return { PATH: process.env.PATH, HOME: home, XDG_DATA_HOME: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, ...settings };
}

/**
 * `count` servers on one database. Each has `kill()`, which is `kill -9`, `start()`, and `port`, which stays the same.
 */
export async function replicas(t, count, { url, settings = {} }) {
  const env = environment({
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: "10",
    ALLOW_PRIVATE_UPSTREAMS: "true",
    GPT_ACTIONS_API_KEY: keys.gpt,
    MCP_INTERNAL_API_KEY: keys.internal,
    SPONSOR_API_KEY: keys.sponsor,
    LOG_LEVEL: "info",
    ...settings,
  });
  const all = Array.from({ length: count }, () => new Replica(env));
  t.after(() => Promise.all(all.map((replica) => replica.end())));
  await Promise.all(all.map((replica) => replica.start()));
  return all;
}

class Replica {
  port = 0;
  log = "";

  constructor(env) {
    this.env = env;
  }

  async start() {
    if (this.isOver) throw new Error("the test is over");
    const child = killAtExit(spawn(ANNAI, ["--http", `127.0.0.1:${this.port}`, "--toolset", "services"], { env: this.env, stdio: ["ignore", "ignore", "pipe"] }));
    this.child = child;
    this.gone = new Promise((resolve) => child.once("close", resolve));
    this.port = await new Promise((resolve, reject) => {
      child.once("exit", (status) => reject(new Error(`annai ended with ${status}: ${this.log.slice(-2000)}`)));
      child.stderr.setEncoding("utf8").on("data", (text) => {
        this.log += text;
        const listening = /"listening".*http:\/\/127\.0\.0\.1:(\d+)/.exec(this.log.slice(this.logged ?? 0));
        if (listening) resolve(Number(listening[1]));
      });
    });
    this.logged = this.log.length;
  }

  async kill() {
    this.child?.kill("SIGKILL");
    await this.gone;
  }

  /** Kills it, and keeps it from being started again by what a failed test has left running. */
  async end() {
    this.isOver = true;
    await this.kill();
  }

  request(options) {
    return request(this.port, options);
  }
}

/** A command of annai on the database: its exit status and what it printed. */
export async function command(t, args, url) {
  const env = environment({ DATABASE_URL: url });
  return new Promise((resolve) => execFile(ANNAI, args, { env }, (error, stdout, stderr) => resolve({ status: error?.code ?? 0, stdout, stderr })));
}

const agent = new http.Agent({ keepAlive: true, maxSockets: 512 });

/** A request to a port of this machine. A connection that breaks is a reply with status 0. */
export function request(port, { method = "POST", path, body, headers = {}, ...more }) {
  const bearer = more.token ?? ("key" in more ? more.key : keys.internal);
  const text = body === undefined ? "" : JSON.stringify(body);
  const content = { "content-type": "application/json", accept: "application/json, text/event-stream", "content-length": Buffer.byteLength(text) };
  const options = { method, host: "127.0.0.1", port, path, agent, headers: { ...content, ...(bearer && { authorization: `Bearer ${bearer}` }), ...headers } };
  return new Promise((resolve) => {
    const broken = (error) => resolve({ status: 0, text: String(error), headers: {} });
    const sent = http.request(options, (response) => {
      let received = "";
      response.setEncoding("utf8").on("data", (more) => (received += more)).on("error", broken).on("end", () => {
        let json;
        try {
          json = JSON.parse(received);
        } catch {
          // Not every reply is JSON.
        }
        resolve({ status: response.statusCode, headers: response.headers, text: received, json });
      });
    });
    sent.on("error", broken).end(text);
  });
}

/** A request that must succeed. */
export async function done(port, options) {
  const reply = await request(port, options);
  assert.ok(reply.status >= 200 && reply.status < 300, `${options.path}: ${reply.status} ${reply.text}`);
  return reply.json;
}

/**
 * A balancer as people put in front of servers: it takes them in turn, tries the next one where nobody listens, and answers
 * 502 when a connection breaks after the request was sent, because nobody knows then what has happened.
 */
export async function balancer(t, targets) {
  let turn = 0;
  const server = http.createServer((incoming, response) => {
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk)).on("end", () => forward(Buffer.concat(chunks), targets.length));
    const forward = (body, left) => {
      const target = targets[turn++ % targets.length];
      const { method, url: path, headers } = incoming;
      const sent = http.request({ method, path, headers, host: "127.0.0.1", port: target.port, agent }, (reply) => {
        response.writeHead(reply.statusCode, reply.headers);
        reply.on("error", () => response.destroy()).pipe(response);
      });
      sent.on("error", (error) => {
        if (error.code === "ECONNREFUSED" && left > 1) return forward(body, left - 1);
        if (response.headersSent) return response.destroy();
        response.writeHead(502, { "x-balancer": error.code }).end();
      });
      sent.end(body);
    };
  });
  // Longer than a test, so that no idle connection ends while it is used again.
  server.keepAliveTimeout = 600_000;
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  return server.address().port;
}

/** The service of a sponsor: it answers after `delay()` milliseconds, and counts its calls by their idempotency key. */
export async function upstream(t, delay = () => 0) {
  const calls = new Map();
  const server = http.createServer((incoming, response) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (more) => (text += more)).on("end", async () => {
      const key = incoming.headers["idempotency-key"];
      calls.set(key, (calls.get(key) ?? 0) + 1);
      await pause(delay());
      response.end(`echo: ${JSON.parse(text).input}`);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => (server.closeAllConnections(), new Promise((resolve) => server.close(resolve))));
  return { url: `http://127.0.0.1:${server.address().port}/run`, calls };
}

export const consent = { data_sharing_agreed: true, purpose_acknowledged: true, contact_permission: false };

/**
 * Two services of the upstream for 10 cents each: `shared`, which a campaign pays for after a task, and `own`, which has a
 * budget of its own. Returns the campaign's id, and a session of somebody who has completed the task.
 */
export async function offer(port, service, budget) {
  const sponsor = { key: keys.sponsor };
  for (const [name, own] of [["shared", 0], ["own", budget]]) {
    await done(port, { ...sponsor, path: "/sponsored-apis", body: { name, sponsor: "Echo", upstream_url: service.url, price_cents: 10, budget_cents: own } });
  }
  const campaign = { name: "A campaign nobody may see in metrics", sponsor: "Acme", required_task: "survey", subsidy_per_call_cents: 10, budget_cents: budget, target_tools: ["shared"] };
  const { campaign: created } = await done(port, { ...sponsor, path: "/campaigns", body: campaign });
  const { session_token } = await done(port, { path: "/gpt/auth", body: { email: "a@example.com", region: "JP" } });
  await done(port, { path: `/gpt/tasks/${created.id}/complete`, body: { session_token, task_name: "survey", consent } });
  return { campaign: created.id, session_token };
}
