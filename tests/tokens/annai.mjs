// The executable that ANNAI names, as a server and as a command, and requests to it: whole ones and raw bytes.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { killAtExit, temporaryFolder } from "../leftovers.mjs";

export const ANNAI = process.env.ANNAI;
if (!ANNAI || !existsSync(ANNAI)) throw new Error("ANNAI must name the executable");

/** Where the tests pretend to be reached; its hosts need no name service, because requests go to loopback. */
export const PUBLIC = "https://annai.example.test";
export const RESOURCE = `${PUBLIC}/mcp`;
export const METADATA = `${PUBLIC}/.well-known/oauth-protected-resource/mcp`;

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Polls `condition` until it is true; how long that took, or null. */
export async function until(condition, within = 60_000, every = 50) {
  const start = Date.now();
  while (Date.now() - start < within) {
    if (await condition()) return Date.now() - start;
    await sleep(every);
  }
  return null;
}

/** A folder with a manual, a vault and a home of its own. */
export function workspace() {
  const folder = temporaryFolder("annai-tokens-");
  for (const name of ["home", "data", "config", "cache", "vault", "manuals/guide"]) mkdirSync(join(folder, name), { recursive: true });
  writeFileSync(join(folder, "manuals/guide/limits.md"), "# Rate limits\n\nThe rate limit is 60 calls per minute.\n");
  return folder;
}

export function environment(folder, more = {}) {
  return {
    PATH: process.env.PATH,
    HOME: join(folder, "home"),
    XDG_DATA_HOME: join(folder, "data"),
    XDG_CONFIG_HOME: join(folder, "config"),
    XDG_CACHE_HOME: join(folder, "cache"),
    WORKSPACE_ROOT: folder,
    ...more,
  };
}

export const defaultTokenFile = (folder) => join(folder, "data/annai/tokens.json");

/** Runs a command to its end; never rejects. */
export function run(folder, args, { env = {}, input, timeout = 120_000, command = ANNAI, ...options } = {}) {
  return new Promise((resolve) => {
    const child = execFile(command, args, { env: environment(folder, env), cwd: folder, timeout, killSignal: "SIGKILL", ...options }, (error, stdout, stderr) => {
      resolve({ code: error ? (error.code ?? error.signal) : 0, killed: Boolean(error?.killed), stdout, stderr });
    });
    killAtExit(child);
    child.stdin.end(input);
  });
}

/** `annai token new`; the token. */
export async function newToken(folder, name, scopes = ["library.read"], more = [], options = {}) {
  const made = await run(folder, ["token", "new", name, ...scopes.flatMap((scope) => ["--scope", scope]), ...more], options);
  assert.equal(made.code, 0, `token new failed: ${made.stderr}`);
  return made.stdout.trim();
}

/** Starts a server and waits until it listens. */
export async function start({ env = {}, args = [], address = "127.0.0.1:0", folder = workspace(), debug = false, ...options } = {}) {
  const all = ["--http", address, "--toolset", "library", "--manuals", join(folder, "manuals/guide"), ...(debug ? ["--debug"] : []), ...args];
  const child = killAtExit(spawn(ANNAI, all, { env: environment(folder, env), cwd: folder, stdio: ["ignore", "pipe", "pipe"], ...options }));
  const lines = [];
  let stdout = "";
  child.stdout.on("data", (chunk) => (stdout += chunk));
  const ended = new Promise((resolve) => child.once("close", (code, signal) => resolve(code ?? signal)));
  const url = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`not listening after 120 s:\n${lines.join("\n")}`)), 120_000);
    ended.then((code) => {
      clearTimeout(timer);
      reject(Object.assign(new Error(`ended with ${code}:\n${lines.join("\n")}`), { code, lines }));
    });
    createInterface({ input: child.stderr }).on("line", (line) => {
      lines.push(line);
      let event;
      try {
        event = JSON.parse(line);
      } catch {
        return;
      }
      if (event.msg === "listening") {
        clearTimeout(timer);
        resolve(new URL(event.url));
      }
    });
  });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 128 });
  const server = {
    url,
    port: Number(url.port),
    host: "127.0.0.1",
    folder,
    lines,
    agent,
    pid: child.pid,
    log: () => lines.join("\n"),
    stdout: () => stdout,
    alive: () => child.exitCode === null && child.signalCode === null,
    async stop() {
      agent.destroy();
      child.kill("SIGTERM");
      const timer = setTimeout(() => child.kill("SIGKILL"), 60_000);
      const code = await ended;
      clearTimeout(timer);
      return code;
    },
  };
  return server;
}

/** Expects that a server does not start; its exit code and what it said. */
export async function startFails(options) {
  try {
    const server = await start(options);
    await server.stop();
    return { started: true, text: server.log() };
  } catch (error) {
    return { started: false, code: error.code, text: error.message };
  }
}

/**
 * One request. `headers` is an object or a flat list of names and values (which may then repeat). The answer has status,
 * headers, all (every header line), text and, where it is JSON, json.
 */
export function request(server, { method = "POST", path = "/mcp", headers = {}, body, timeout = 120_000, agent = server.agent } = {}) {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const list = Array.isArray(headers) ? headers : Object.entries(headers).flat();
    const given = list.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
    const flat = [...list];
    if (!given.includes("host")) flat.push("Host", `127.0.0.1:${server.port}`);
    if (body !== undefined && !given.includes("content-type")) flat.push("Content-Type", "application/json");
    if (body !== undefined && !given.includes("accept")) flat.push("Accept", "application/json, text/event-stream");
    if (body !== undefined) flat.push("Content-Length", String(Buffer.byteLength(body)));
    const call = http.request({ host: server.host, port: server.port, method, path, headers: flat, agent, setHost: false, timeout }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => resolve(answer(response.statusCode, response.rawHeaders, Buffer.concat(chunks).toString(), performance.now() - started)));
    });
    call.on("timeout", () => call.destroy(new Error(`no answer within ${timeout} ms`)));
    call.on("error", reject);
    call.end(body);
  });
}

function answer(status, rawHeaders, text, ms) {
  const headers = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at].toLowerCase();
    headers[name] = name in headers ? `${headers[name]}\n${rawHeaders[at + 1]}` : rawHeaders[at + 1];
  }
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    // An event stream or nothing.
  }
  return { status, headers, all: rawHeaders.join("\n"), text, json, ms };
}

const bearer = (token) => (token === undefined ? [] : ["Authorization", `Bearer ${token}`]);
let lastId = 0;

/** A JSON-RPC request over POST /mcp. */
export async function rpc(server, method, params, { token, headers = [], id = ++lastId, ...more } = {}) {
  const flat = Array.isArray(headers) ? headers : Object.entries(headers).flat();
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, ...(params && { params }) });
  return { id, ...(await request(server, { headers: [...bearer(token), ...flat], body, ...more })) };
}

export const INITIALIZE = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "tokens", version: "1" } };
export const call = (server, name, args, options) => rpc(server, "tools/call", { name, arguments: args }, options);
/** The cheapest call that needs library.read. */
export const read = (server, options) => call(server, "manual_list", {}, options);
/** A call that needs library.write. */
export const write = (server, path, options) => call(server, "vault_create", { path, content: "x" }, options);
export const get = (server, path, token, headers = []) => request(server, { method: "GET", path, headers: [...bearer(token), ...headers] });

/** The parameters of a `WWW-Authenticate: Bearer …` header, which must be one challenge and well-formed. */
export function challenge(value) {
  assert.equal(typeof value, "string", "there is a challenge");
  assert.ok(!value.includes("\n"), `one WWW-Authenticate header: ${value}`);
  assert.match(value, /^[\x20-\x7e]*$/, "printable ASCII");
  assert.match(value, /^Bearer( |$)/);
  const params = {};
  let rest = value.slice("Bearer".length).trimStart();
  while (rest) {
    const match = /^([A-Za-z_]+)="((?:[^"\\]|\\.)*)"(?:, *(?=[A-Za-z_])|$)/.exec(rest);
    assert.ok(match, `malformed challenge: ${value}`);
    const [whole, name, quoted] = match;
    assert.ok(!(name in params), `${name} twice: ${value}`);
    params[name] = quoted.replace(/\\(.)/g, "$1");
    rest = rest.slice(whole.length);
  }
  return params;
}

export const words = (list) => (list ?? "").split(" ").filter(Boolean).sort();

/** The failed result of a tools/call that was not admitted; the challenge in its _meta. */
export function refusedResult(reply, error) {
  assert.equal(reply.json?.jsonrpc, "2.0", reply.text);
  assert.deepEqual(reply.json.id, reply.id, "the same id");
  const { result } = reply.json;
  assert.ok(result, `a result, not an error: ${reply.text}`);
  assert.equal(result.isError, true);
  assert.ok(!("structuredContent" in result), "failures stand in _meta and text only");
  assert.equal(result.content?.[0]?.type, "text");
  const list = result._meta?.["mcp/www_authenticate"];
  assert.ok(Array.isArray(list) && list.length === 1, `_meta["mcp/www_authenticate"] is a list of one: ${reply.text}`);
  const inner = challenge(list[0]);
  assert.equal(inner.error, error);
  assert.ok(inner.error_description, "error_description, which ChatGPT wants");
  return inner;
}

export function rpcError(reply) {
  assert.equal(reply.json?.jsonrpc, "2.0", reply.text);
  assert.ok(reply.json.error && !("result" in reply.json), `a JSON-RPC error: ${reply.text}`);
  assert.equal(typeof reply.json.error.code, "number");
  assert.ok(reply.json.error.message);
  assert.ok(reply.json.id === null || reply.json.id === undefined || reply.json.id === reply.id, "its id or none");
}

/** Sends bytes and collects what comes until the answer is complete or the connection ends. */
export function raw(server, bytes, { timeout = 5000, host = server.host, end = false } = {}) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port: server.port, host });
    const chunks = [];
    const finish = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(parse(Buffer.concat(chunks).toString("latin1")));
    };
    const timer = setTimeout(finish, timeout);
    socket.on("error", (error) => (chunks.length || error.code === "ECONNRESET" || error.code === "EPIPE" ? finish() : reject(error)));
    socket.on("close", finish);
    socket.on("data", (chunk) => {
      chunks.push(chunk);
      const reply = parse(Buffer.concat(chunks).toString("latin1"));
      if (reply.complete) finish();
    });
    if (end) socket.end(Buffer.from(bytes, "latin1"));
    else socket.write(Buffer.from(bytes, "latin1"));
  });
}

function parse(text) {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return { status: 0, text, headers: {}, all: text };
  const [line, ...lines] = text.slice(0, end).split("\r\n");
  const rawHeaders = lines.flatMap((each) => [each.slice(0, each.indexOf(":")), each.slice(each.indexOf(":") + 1).trim()]);
  const body = text.slice(end + 4);
  const reply = answer(Number(line.split(" ")[1]), rawHeaders, Buffer.from(body, "latin1").toString(), 0);
  const length = reply.headers["content-length"];
  const bare = [204, 304].includes(reply.status);
  return { ...reply, line, whole: text, complete: bare || (length !== undefined && body.length >= Number(length)) };
}

/** The bytes of a request; `headers` are whole lines. */
export function bytes(server, { method = "POST", target = "/mcp", version = "HTTP/1.1", host = `127.0.0.1:${server.port}`, headers = [], rpc: rpcMethod = "tools/list", body } = {}) {
  const content = method === "POST" ? (body ?? JSON.stringify({ jsonrpc: "2.0", id: 1, method: rpcMethod })) : "";
  const hosts = host === null ? [] : [host].flat().map((each) => `Host: ${each}`);
  const lines = [`${method} ${target} ${version}`, ...hosts, ...headers];
  if (method === "POST") lines.push("Content-Type: application/json", "Accept: application/json, text/event-stream", `Content-Length: ${Buffer.byteLength(content)}`);
  return `${lines.join("\r\n")}\r\n\r\n${content}`;
}

export { chmodSync, chownSync, join };
