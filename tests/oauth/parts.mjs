// What all tests of this folder share: temporary folders, free ports, real processes that end with the test, and a look
// at what annai wrote to its log. ANNAI names the executable.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import http from "node:http";
import https from "node:https";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { killAtExit, temporaryFolder } from "../leftovers.mjs";

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  throw new Error("the provider and the Inspector need Node 22.19 or later: tests/oauth/run picks the one that npm brings");
}

export const here = dirname(fileURLToPath(import.meta.url));
export const repository = join(here, "../..");
export const manuals = join(repository, "examples/workspace/manuals");
export const ANNAI = process.env.ANNAI ?? join(repository, "target/debug/annai");

/** A temporary folder. */
export const temporary = () => temporaryFolder("annai-oauth-");

/** A free port below those that the system gives to servers that let it choose, so that none of them takes it meanwhile. */
export async function freePort() {
  for (;;) {
    const port = 10000 + Math.floor(Math.random() * 20000);
    const isFree = await new Promise((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
  }
}

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Fails when `promise` takes longer than `ms`. */
export async function within(ms, what, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Runs a command to its end: exit status, stdout and stderr. It is killed after `timeout` milliseconds. */
export async function run(command, args, { env, cwd, timeout = 120_000 } = {}) {
  const child = spawn(command, args, { env, cwd, stdio: ["ignore", "pipe", "pipe"] });
  const output = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => {
      output[name] += text;
    });
  }
  const timer = setTimeout(() => child.kill("SIGKILL"), timeout);
  const [status, signal] = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (...end) => resolve(end));
  });
  clearTimeout(timer);
  if (signal) throw new Error(`${command} ${args.join(" ")}: ${signal}\n${output.stdout}${output.stderr}`);
  return { status, ...output };
}

/** Stops a child process and waits until it is gone. */
export async function stop(child) {
  // Its output may end later than the process itself.
  const gone = new Promise((resolve) => child.once("close", resolve));
  if (child.exitCode !== null || child.signalCode !== null) {
    if (child.stdio.some((stream) => stream && !stream.destroyed)) await gone;
    return;
  }
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
  await gone;
  clearTimeout(timer);
}

/** The environment of annai: nothing of the caller's settings, and folders of its own below `home`. */
export function environment(home, settings = {}) {
  const { PATH, TMPDIR } = process.env;
  const folders = {
    HOME: home,
    XDG_CONFIG_HOME: join(home, "config"),
    XDG_DATA_HOME: join(home, "data"),
    XDG_CACHE_HOME: join(home, "cache"),
    WORKSPACE_ROOT: join(home, "workspace"),
  };
  return Object.fromEntries(Object.entries({ PATH, TMPDIR, ...folders, ...settings }).filter(([, value]) => value !== undefined));
}

/**
 * Starts annai over HTTP and waits until it listens. The test fails at its end when one of `secrets` (a set that may grow
 * meanwhile) is in the log or in a reply.
 */
export async function serve(t, { home, port = 0, toolset = "library", settings = {}, args = [], secrets = new Set() }) {
  const command = ["--http", `127.0.0.1:${port}`, "--toolset", toolset, "--manuals", manuals, ...args];
  const child = killAtExit(spawn(ANNAI, command, { env: environment(home, settings), stdio: ["ignore", "ignore", "pipe"] }));
  const annai = { lines: [], text: "", stop: () => stop(child) };
  annai.events = () => annai.lines.map((line) => JSON.parse(line));
  /** Waits for a log line that fits. */
  annai.logged = async (fits, what = "a log line") => {
    for (let tries = 0; tries < 3000; tries++) {
      const event = annai.events().find(fits);
      if (event) return event;
      await pause(20);
    }
    throw new Error(`${what} is missing in the log:\n${annai.text}`);
  };
  t.after(async () => {
    await annai.stop();
    const said = [annai.text, ...replies];
    // A JWT may also leak in parts: its claims or its signature.
    for (const part of [...secrets].flatMap((secret) => [secret, ...secret.split(".").filter((part) => part.length > 50)])) {
      assert.ok(part.length > 20);
      const where = said.find((text) => text.includes(part));
      assert.ok(where === undefined, `a secret is in the log or in a reply: ${where}`);
    }
  });
  let rest = "";
  const listens = new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`annai ended with ${code}:\n${annai.text}`)));
    child.stderr.setEncoding("utf8").on("data", (text) => {
      annai.text += text;
      const lines = (rest + text).split("\n");
      rest = lines.pop();
      for (const line of lines) {
        annai.lines.push(line);
        let event;
        try {
          event = JSON.parse(line);
        } catch {
          reject(new Error(`not a JSON line: ${line}`));
          continue;
        }
        if (event.msg === "listening") resolve(event.url);
      }
    });
  });
  annai.url = new URL(await within(120_000, "annai listens", listens));
  annai.base = annai.url.origin;
  annai.port = Number(annai.url.port);
  return annai;
}

/** Runs a command of annai that must succeed, and returns its stdout. */
export async function annaiCommand(home, args, settings = {}) {
  const { status, stdout, stderr } = await run(ANNAI, args, { env: environment(home, settings) });
  assert.equal(status, 0, `annai ${args.join(" ")}: ${stderr}`);
  return stdout;
}

/** Makes a static token with `annai token new`, and checks what is printed. */
export async function newToken(home, name, scopes, { args = [], settings = {} } = {}) {
  const command = ["token", "new", name, ...scopes.flatMap((scope) => ["--scope", scope]), ...args];
  const token = (await annaiCommand(home, command, settings)).trimEnd();
  assert.match(token, /^annai_[A-Za-z0-9_-]{43}$/);
  return token;
}

/** Everything that `request` received, for the search for secrets. */
const replies = [];

/**
 * One HTTP request with exactly the given headers, which `fetch` would not allow (Host, Origin, Connection). `via` is the
 * host and port to connect to when they are not those of the URL. Returns status, headers and body; `json` when it is JSON,
 * and `brief` for messages.
 */
export async function request(url, { method, headers = {}, body, via, ca, agent = false } = {}) {
  const target = new URL(url);
  const text = body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body);
  const options = {
    method: method ?? (text === undefined ? "GET" : "POST"),
    host: via?.host ?? target.hostname,
    port: via?.port ?? target.port,
    localAddress: via?.from,
    servername: target.hostname,
    path: target.pathname + target.search,
    headers: {
      host: target.host,
      ...(text === undefined ? {} : { "content-type": "application/json", accept: "application/json, text/event-stream" }),
      ...headers,
    },
    ca,
    agent,
    timeout: 15_000,
  };
  const response = await new Promise((resolve, reject) => {
    const sent = (target.protocol === "https:" ? https : http).request(options, resolve);
    sent.once("error", reject);
    sent.once("timeout", () => sent.destroy(new Error(`${url}: no answer`)));
    sent.end(text);
  });
  let received = "";
  for await (const chunk of response.setEncoding("utf8")) received += chunk;
  const reply = { status: response.statusCode, headers: response.headers, text: received, brief: received.slice(0, 400) };
  replies.push(JSON.stringify(reply));
  if (received && /^application\/json\b/.test(response.headers["content-type"] ?? "")) reply.json = JSON.parse(received);
  return reply;
}

/** A JSON-RPC request. */
export const rpc = (method, params = {}, id = 1) => ({ jsonrpc: "2.0", id, method, params });
export const call = (name, args, id = 1) => rpc("tools/call", { name, arguments: args }, id);
export const bearer = (token) => ({ authorization: `Bearer ${token}` });

/** The parameters of a `WWW-Authenticate: Bearer` header, strictly parsed. */
export function challenge(header) {
  assert.match(header ?? "", /^Bearer [a-z_]+="[^"]*"(, [a-z_]+="[^"]*")*$/);
  return Object.fromEntries([...header.matchAll(/([a-z_]+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));
}

/** A fenced block of a page of docs/, by its language and a line that it contains. */
export async function docBlock(page, language, containing) {
  const text = await readFile(join(repository, "docs", page), "utf8");
  const blocks = [...text.matchAll(/^```(\w+)[^\n]*\n([\s\S]*?)^```$/gm)]
    .filter(([, name, block]) => name === language && block.includes(containing))
    .map(([, , block]) => block);
  assert.equal(blocks.length, 1, `docs/${page}: ${blocks.length} ${language} blocks contain "${containing}"`);
  return blocks[0];
}

/** Replaces text that must be there, so that a changed page of docs/ cannot pass unnoticed. */
export function fill(template, values) {
  let text = template;
  for (const [from, to] of Object.entries(values)) {
    assert.ok(text.includes(from), `not in the text: ${from}\n${template}`);
    text = text.replaceAll(from, to);
  }
  return text;
}

/** The question that the tests ask the manuals, and the section that answers it. */
export const question = "how many requests per minute";
export function assertAnswered(result) {
  const top = result.structuredContent.top.map(({ ref }) => `${ref.path}: ${ref.heading_path.join(" > ")}`);
  assert.ok(top.includes("rate-limits.md: Rate limits > Standard plan > Limits"), `found: ${top.join("; ")}`);
  assert.equal(result.isError ?? false, false);
}
