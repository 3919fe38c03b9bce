// Debian's nginx in front of annai: the configuration that docs/operations.md recommends, over TLS, and the two careless ones.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import http from "node:http";
import http2 from "node:http2";
import net from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import tls from "node:tls";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError } from "@modelcontextprotocol/sdk/client/auth.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { assertAnswered, bearer, call, challenge, docBlock, fill, freePort, newToken, pause, question, request, rpc, run, serve, stop, temporary, within } from "./parts.mjs";
import { killAtExit } from "../leftovers.mjs";
import { Person, startProvider } from "./provider.mjs";

const me = { name: "sign-in-tests", version: "1.0.0" };
const list = rpc("tools/list");
const find = call("manual_find", { query: question });
const silentProxy = "Loopback trust is on; behind a proxy every visitor is the owner. Set PUBLIC_URL or server.trust_loopback: false.";

/** Starts nginx in the foreground, with everything it writes below a temporary folder. */
async function startNginx(t, servers, port) {
  const folder = temporary();
  const temps = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${folder}/${kind};`);
  const configuration = `daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log ${folder}/error.log notice;
events { worker_connections 256; }
http {
access_log ${folder}/access.log;
${temps.join("\n")}
${servers}
}
`;
  await writeFile(join(folder, "nginx.conf"), configuration);
  const child = killAtExit(spawn("nginx", ["-p", folder, "-c", join(folder, "nginx.conf"), "-e", join(folder, "error.log")], { stdio: ["ignore", "ignore", "pipe"] }));
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (complaint += text));
  child.on("error", (error) => (complaint += error));
  t.after(() => stop(child));
  for (let tries = 0; ; tries++) {
    const open = await new Promise((resolve) => {
      const socket = net.connect(port, "127.0.0.1", () => resolve(true)).once("error", () => resolve(false));
      socket.once("connect", () => socket.end());
    });
    if (open) break;
    assert.ok(tries < 1200 && child.exitCode === null, `nginx does not listen: ${complaint}`);
    await pause(50);
  }
  return { logs: async () => (await readFile(join(folder, "access.log"), "utf8")) + (await readFile(join(folder, "error.log"), "utf8")) };
}

/** A self-signed certificate for annai.example.com and this machine. */
async function certificate() {
  const folder = temporary();
  const [cert, key] = [join(folder, "cert.pem"), join(folder, "key.pem")];
  const names = "subjectAltName=DNS:annai.example.com,DNS:localhost,IP:127.0.0.1";
  const made = await run("openssl", [
    "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
    "-subj", "/CN=annai.example.com", "-addext", names, "-keyout", key, "-out", cert,
  ]);
  assert.equal(made.status, 0, made.stderr);
  return { cert, key, pem: await readFile(cert, "utf8") };
}

/** The configuration of docs/operations.md, with this test's ports and certificate. */
async function recommended({ cert, key }, port, annaiPort, name = "annai.example.com") {
  const block = await docBlock("operations.md", "nginx", "proxy_pass");
  return fill(block, {
    "listen 443 ssl http2;": `listen 127.0.0.1:${port} ssl http2;`,
    "annai.example.com;": `${name};`,
    "/etc/ssl/annai/fullchain.pem": cert,
    "/etc/ssl/annai/privkey.pem": key,
    "127.0.0.1:3001": `127.0.0.1:${annaiPort}`,
  });
}

test("the recommended configuration, over TLS, with a static token", async (t) => {
  const [home, secrets, pair, port] = [temporary(), new Set(), await certificate(), await freePort()];
  const token = await newToken(home, "team", ["library.read"]);
  secrets.add(token);
  const base = "https://annai.example.com";
  const annai = await serve(t, { home, settings: { PUBLIC_URL: base }, secrets });
  assert.ok(!annai.text.includes("Loopback trust is on"), annai.text);
  const nginx = await startNginx(t, await recommended(pair, port, annai.port), port);
  const ask = (path, options) => request(base + path, { via: { host: "127.0.0.1", port }, ca: pair.pem, ...options });

  const health = await ask("/health");
  assert.equal(health.status, 200);
  assert.equal(health.json.status, "ok");
  const anonymous = await ask("/mcp", { body: list });
  assert.equal(anonymous.status, 401, anonymous.brief);
  assert.deepEqual(challenge(anonymous.headers["www-authenticate"]), { scope: "library.read library.write" });
  const metrics = await ask("/metrics");
  assert.equal(metrics.status, 401);
  for (const headers of [{ "x-forwarded-for": "127.0.0.1" }, { "x-real-ip": "127.0.0.1" }, { forwarded: "for=127.0.0.1" }]) {
    assert.equal((await ask("/mcp", { body: list, headers })).status, 401);
  }
  const found = await ask("/mcp", { body: find, headers: bearer(token) });
  assert.equal(found.status, 200, found.brief);
  assertAnswered(found.json.result);
  const denied = await ask("/mcp", { body: call("vault_create", { path: "a.md", content: "a" }), headers: bearer(token) });
  assert.equal(denied.status, 403);
  // Another name that leads here is refused by annai, because nginx passes the name on.
  const stranger = await ask("/mcp", { body: list, headers: { host: "evil.example", ...bearer(token) } });
  assert.equal(stranger.status, 403);
  assert.match(stranger.json.error.message, /Host/);
  const large = await ask("/mcp", { body: call("manual_find", { query: "x".repeat(4 * 1024 * 1024) }), headers: bearer(token) });
  assert.equal(large.status, 413, large.brief);

  const session = http2.connect(`https://127.0.0.1:${port}`, { ca: pair.pem, servername: "annai.example.com" });
  t.after(() => session.close());
  const over2 = await within(5000, "HTTP/2", new Promise((resolve, reject) => {
    const stream = session.request({ ":method": "POST", ":path": "/mcp", ":authority": "annai.example.com", "content-type": "application/json", ...bearer(token) });
    let [status, text] = [0, ""];
    stream.once("response", (headers) => (status = headers[":status"]));
    stream.setEncoding("utf8").on("data", (more) => (text += more)).once("end", () => resolve({ status, text })).once("error", reject);
    stream.end(JSON.stringify(find));
  }));
  assert.equal(over2.status, 200, over2.text);
  assertAnswered(JSON.parse(over2.text).result);
  const logs = await nginx.logs();
  assert.match(logs, /POST \/mcp HTTP\/1\.1" 200/);
  assert.match(logs, /POST \/mcp HTTP\/2\.0" 200/);
  assert.ok(!logs.includes(token));
});

test("the official client signs in with OAuth through nginx and TLS", async (t) => {
  const [home, pair, port, provider] = [temporary(), await certificate(), await freePort(), await startProvider(t)];
  const base = `https://localhost:${port}`;
  provider.resources.add(`${base}/mcp`);
  const annai = await serve(t, { home, settings: { PUBLIC_URL: base, OAUTH_ISSUER: provider.issuer }, secrets: provider.issued });
  await startNginx(t, await recommended(pair, port, annai.port, "localhost"), port);
  tls.setDefaultCACertificates([...tls.getCACertificates(), pair.pem]);
  const url = new URL(`${base}/mcp`);
  const reply = await request(url, { via: { host: "127.0.0.1", port }, ca: pair.pem, body: list });
  assert.equal(reply.status, 401, reply.brief);
  const metadata = `${base}/.well-known/oauth-protected-resource/mcp`;
  assert.deepEqual(challenge(reply.headers["www-authenticate"]), { resource_metadata: metadata, scope: "library.read library.write" });

  const person = new Person(provider);
  const first = new StreamableHTTPClientTransport(url, { authProvider: person });
  await assert.rejects(new Client(me).connect(first), UnauthorizedError);
  await first.finishAuth(person.callback.get("code"));
  const client = new Client(me);
  t.after(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider: person }));
  assertAnswered(await client.callTool({ name: "manual_find", arguments: { query: question } }));
});

test("a refusal reaches the client through nginx, however large its request is", async (t) => {
  const [home, pair, port] = [temporary(), await certificate(), await freePort()];
  const base = "https://annai.example.com";
  const annai = await serve(t, { home, settings: { PUBLIC_URL: base } });
  await startNginx(t, await recommended(pair, port, annai.port), port);
  // A server that closes the connection with unread bytes makes nginx answer 502, so a client with an expired token
  // would not sign in again. Whether that happens depends on timing: hence several requests.
  const body = call("vault_create", { path: "a.md", content: "x".repeat(300_000) });
  for (const headers of [{}, bearer(`annai_${"A".repeat(43)}`)]) {
    const statuses = [];
    for (let count = 0; count < 12; count++) {
      statuses.push((await request(`${base}/mcp`, { via: { host: "127.0.0.1", port }, ca: pair.pem, body, headers })).status);
    }
    assert.deepEqual(statuses, Array(12).fill(401));
  }
});

test("with the documented settings each visitor of nginx has a rate limit of their own", async (t) => {
  const [home, pair] = [temporary(), await certificate()];
  const base = "https://annai.example.com";
  const unit = await docBlock("operations.md", "ini", "ExecStart=");
  const [, proxies] = /^Environment=TRUSTED_PROXIES=(.+)$/m.exec(unit);
  for (const [TRUSTED_PROXIES, expected] of [[proxies, [200, 429, 200, 200]], [undefined, [200, 429, 429, 429]]]) {
    const annai = await serve(t, { home, toolset: "services", settings: { PUBLIC_URL: base, RATE_LIMIT_PER_MIN: "2", ...(TRUSTED_PROXIES && { TRUSTED_PROXIES }) } });
    assert.equal(annai.text.includes("TRUSTED_PROXIES is not set"), !TRUSTED_PROXIES, annai.text);
    const port = await freePort();
    await startNginx(t, await recommended(pair, port, annai.port), port);
    const visit = async (from, headers) => (await request(`${base}/campaigns`, { via: { host: "127.0.0.1", port, from }, ca: pair.pem, headers })).status;
    await visit("127.0.0.2");
    // What the visitors claim about themselves is not believed.
    assert.deepEqual([await visit("127.0.0.2"), await visit("127.0.0.2", { "x-forwarded-for": "1.2.3.4" }), await visit("127.0.0.3"), await visit("127.0.0.4")], expected);
  }
});

/** An API that reports a search, and writes its answer only after `release` was called. */
async function slowApi(t) {
  let release;
  const released = new Promise((resolve) => (release = resolve));
  const server = http.createServer(async (request, response) => {
    for await (const _ of request);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", queries: ["nginx"], sources: [{ type: "url", url: "https://nginx.org/en/" }] } };
    const text = "A web server and a reverse proxy.";
    const annotations = [{ type: "url_citation", url: "https://nginx.org/en/", title: "nginx", start_index: 0, end_index: text.length }];
    const message = { type: "message", id: "msg_1", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations }] };
    const body = { id: "resp_1", object: "response", created_at: 1, model: "test-model", output: [search, message], error: null, usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 } };
    send("response.created", { response: { ...body, status: "in_progress", output: [] } });
    send("response.output_item.added", { output_index: 0, item: { ...search, status: "in_progress" } });
    send("response.web_search_call.searching", { output_index: 0, item_id: "ws_1" });
    await released;
    send("response.output_item.done", { output_index: 0, item: search });
    send("response.output_item.done", { output_index: 1, item: message });
    send("response.completed", { response: { ...body, status: "completed" } });
    response.end();
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    release();
    server.close();
    server.closeAllConnections();
  });
  return { url: `http://127.0.0.1:${server.address().port}/v1`, release };
}

test("progress passes through nginx while a call runs", async (t) => {
  const [home, secrets, pair, port, api] = [temporary(), new Set(), await certificate(), await freePort(), await slowApi(t)];
  const token = await newToken(home, "asker", ["answers.use"]);
  const key = "fake-key-for-tests-0123456789abcdefghij";
  secrets.add(token).add(key);
  const base = `https://localhost:${port}`;
  const settings = { PUBLIC_URL: base, OPENAI_API_KEY: key, OPENAI_BASE_URL: api.url };
  const annai = await serve(t, { home, toolset: "answers", settings, secrets });
  await startNginx(t, await recommended(pair, port, annai.port, "localhost"), port);
  tls.setDefaultCACertificates([...tls.getCACertificates(), pair.pem]);
  const client = new Client(me);
  t.after(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`), { requestInit: { headers: bearer(token) } }));
  assert.deepEqual((await client.listTools()).tools.map((tool) => tool.name), ["answer", "answer_detailed", "answer_quick"]);

  // The API answers only after progress has arrived: a proxy that collects the stream would make this wait forever.
  const steps = [];
  const onprogress = (step) => {
    steps.push(step.message);
    api.release();
  };
  const running = client.callTool({ name: "answer", arguments: { query: "what is a reverse proxy" } }, CallToolResultSchema, { onprogress });
  const answer = await within(8000, "progress through nginx", running);
  assert.ok(steps.length > 0);
  assert.equal(answer.structuredContent.answer.split("\n")[0], "A web server and a reverse proxy.");
});

const plain = (port, annaiPort, lines = "") => `server { listen 127.0.0.1:${port}; location / { proxy_pass http://127.0.0.1:${annaiPort}; ${lines} } }`;

test("a plain proxy_pass (HTTP/1.0) is not the owner", async (t) => {
  const [home, port] = [temporary(), await freePort()];
  const annai = await serve(t, { home });
  await startNginx(t, plain(port, annai.port), port);
  assert.equal((await request(annai.url, { body: list })).status, 200, "without nginx it is the owner");
  const reply = await request(`http://127.0.0.1:${port}/mcp`, { body: list });
  assert.equal(reply.status, 401, reply.brief);
  assert.deepEqual(challenge(reply.headers["www-authenticate"]), { scope: "library.read library.write" });
  assert.equal((await request(`http://127.0.0.1:${port}/metrics`)).status, 401);
  assert.equal((await request(`http://127.0.0.1:${port}/mcp`, { body: call("vault_create", { path: "a.md", content: "a" }) })).status, 401);
});

test("the forwarding headers of the recommended configuration end loopback trust, also without PUBLIC_URL", async (t) => {
  const [home, pair, port] = [temporary(), await certificate(), await freePort()];
  const annai = await serve(t, { home });
  await startNginx(t, await recommended(pair, port, annai.port, "localhost"), port);
  const reply = await request(`https://localhost:${port}/mcp`, { via: { host: "127.0.0.1", port }, ca: pair.pem, body: list });
  assert.equal(reply.status, 401, reply.brief);
});

test("a silent proxy cannot be recognised: the log warns, and server.trust_loopback closes it", async (t) => {
  const [home, port, closedPort] = [temporary(), await freePort(), await freePort()];
  const silent = 'proxy_http_version 1.1; proxy_set_header Connection "";';
  const annai = await serve(t, { home });
  const warns = (event) => event.msg?.includes(silentProxy);
  await annai.logged(warns, "the warning about a silent proxy");
  const configuration = join(home, "closed.yaml");
  await writeFile(configuration, "server:\n  trust_loopback: false\n");
  const closed = await serve(t, { home, args: ["--config", configuration] });
  assert.ok(!closed.events().some(warns));
  await startNginx(t, plain(port, annai.port, silent) + plain(closedPort, closed.port, silent), closedPort);

  // What the warning says: a visitor of this proxy is the owner.
  const visitor = await request(`http://127.0.0.1:${port}/mcp`, { body: list });
  assert.equal(visitor.status, 200);
  assert.ok(visitor.json.result.tools.some((tool) => tool.name === "vault_create"));
  const refused = await request(`http://127.0.0.1:${closedPort}/mcp`, { body: list });
  assert.equal(refused.status, 401, refused.brief);
  assert.equal((await request(closed.url, { body: list })).status, 401);
});
