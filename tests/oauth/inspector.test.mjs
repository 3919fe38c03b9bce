// The MCP Inspector's command line with a static token and with OAuth, and its page's origin on loopback.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import net from "node:net";
import { join } from "node:path";
import { test } from "node:test";
import { annaiCommand, assertAnswered, bearer, call, challenge, freePort, here, newToken, pause, question, request, rpc, run, serve, temporary } from "./parts.mjs";
import { startProvider } from "./provider.mjs";

const INSPECTOR = join(here, "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js");
const list = rpc("tools/list");
const find = call("manual_find", { query: question });

/** `mcp-inspector --cli`: its exit status, what it prints as JSON, and its error. `home` is where it keeps its state. */
async function inspect(home, url, args, { env = {}, timeout } = {}) {
  const command = [INSPECTOR, "--cli", url.href, "--transport", "http", "--format", "json", ...args];
  const { PATH } = process.env;
  const { status, stdout, stderr } = await run(process.execPath, command, { env: { PATH, HOME: home, ...env }, timeout });
  const error = stderr.split("\n").find((line) => line.startsWith('{"error"'));
  return { status, stderr, result: stdout ? JSON.parse(stdout).result : undefined, error: error && JSON.parse(error).error };
}
const header = (token) => ["--header", `Authorization: Bearer ${token}`];
const listTools = ["--method", "tools/list"];
const findSection = ["--method", "tools/call", "--tool-name", "manual_find", "--tool-arg", `query=${question}`];

/** How long until `request` is answered with `status`. */
async function until(status, ask) {
  const begin = performance.now();
  for (;;) {
    const reply = await ask();
    const elapsed = performance.now() - begin;
    if (reply.status === status) return elapsed;
    assert.ok(elapsed < 60_000, `still ${reply.status} after ${elapsed} ms, not ${status}: ${reply.brief}`);
    await pause(50);
  }
}

test("the Inspector with a static token lists and calls, until the token is revoked", async (t) => {
  const [home, state, secrets] = [temporary(), temporary(), new Set()];
  const annai = await serve(t, { home, settings: { PUBLIC_URL: "https://annai.example.com" }, secrets });

  // Without any token, and without an issuer: whom to ask is in the message.
  const without = await inspect(state, annai.url, [...listTools, "--stored-auth-only"]);
  assert.equal(without.status, 3, without.stderr);
  assert.equal(without.error.code, "auth_required");
  assert.match(without.error.message, /operator/);
  assert.match(without.error.message, /token/);
  const anonymous = await request(annai.url, { body: list });
  assert.equal(anonymous.status, 401);
  assert.deepEqual(challenge(anonymous.headers["www-authenticate"]), { scope: "library.read library.write" });
  assert.match(anonymous.json.error.message, /operator/);
  for (const path of ["", "/mcp"]) {
    const missing = await request(`${annai.base}/.well-known/oauth-protected-resource${path}`);
    assert.equal(missing.status, 404);
    assert.ok(missing.json.error.message);
  }

  // A token that is made while the server runs is known within about a second.
  const token = await newToken(home, "inspector", ["library.read"]);
  secrets.add(token);
  assert.ok((await until(200, () => request(annai.url, { body: list, headers: bearer(token) }))) < 2000);
  const listed = await inspect(state, annai.url, [...listTools, ...header(token)]);
  assert.equal(listed.status, 0, listed.stderr);
  const names = listed.result.tools.map((tool) => tool.name);
  assert.ok(names.includes("manual_find") && !names.includes("vault_create"), names.join(" "));
  const found = await inspect(state, annai.url, [...findSection, ...header(token)]);
  assert.equal(found.status, 0, found.stderr);
  assertAnswered(found.result);

  // The call's log line names the token by its id.
  const listedTokens = async () => JSON.parse(await annaiCommand(home, ["token", "list", "--json"])).tokens;
  const [{ id, ...entry }, ...others] = await listedTokens();
  assert.deepEqual(others, []);
  assert.deepEqual({ name: entry.name, scopes: entry.scopes, expired: entry.expired }, { name: "inspector", scopes: ["library.read"], expired: false });
  assert.ok(entry.last_used_at, "the use of the token was noted");
  const { issuer, subject } = await annai.logged((event) => event.tool === "manual_find" && event.ok === true, "the call of manual_find");
  assert.deepEqual({ issuer, subject }, { issuer: "annai:token", subject: id });

  // A tool beyond its scopes.
  const denied = await request(annai.url, { body: call("vault_create", { path: "a.md", content: "a" }), headers: bearer(token) });
  assert.equal(denied.status, 403, denied.brief);
  const { error, scope, resource_metadata } = challenge(denied.headers["www-authenticate"]);
  assert.deepEqual({ error, scope, resource_metadata }, { error: "insufficient_scope", scope: "library.read library.write", resource_metadata: undefined });

  await annaiCommand(home, ["token", "revoke", "inspector"]);
  assert.deepEqual(await listedTokens(), []);
  assert.ok((await until(401, () => request(annai.url, { body: list, headers: bearer(token) }))) < 2000);
  const revoked = await request(annai.url, { body: find, headers: bearer(token) });
  assert.equal(challenge(revoked.headers["www-authenticate"]).error, "invalid_token");
  assert.equal(revoked.json.result.isError, true);
  const late = await inspect(state, annai.url, [...listTools, ...header(token), "--stored-auth-only"]);
  assert.equal(late.status, 3, late.stderr);
  assert.equal(late.error.code, "auth_required");
});

test("the token file: private, without tokens, and safe with several writers", async (t) => {
  const [home, secrets] = [temporary(), new Set()];
  const annai = await serve(t, { home, settings: { ANNAI_TRUST_LOOPBACK: "false" }, secrets });
  const names = Array.from({ length: 8 }, (_, index) => `person-${index}`);
  const tokens = await Promise.all(names.map((name) => newToken(home, name, ["library.read", "metrics.read"], { args: ["--expires", "12h"] })));
  for (const token of tokens) secrets.add(token);
  assert.equal(new Set(tokens).size, names.length);
  const { file, tokens: entries } = JSON.parse(await annaiCommand(home, ["token", "list", "--json"]));
  assert.equal(file, join(home, "data/annai/tokens.json"));
  assert.deepEqual(entries.map(({ name }) => name).sort(), names);
  const table = await annaiCommand(home, ["token", "list"]);
  for (const { id, name } of entries) assert.ok(table.includes(id) && table.includes(name), table);

  assert.equal((await stat(file)).mode & 0o777, 0o600);
  const stored = await readFile(file, "utf8");
  for (const token of tokens) assert.ok(stored.includes(createHash("sha256").update(token).digest("hex")), stored);
  for (const token of tokens) assert.ok(!stored.includes(token) && !stored.includes(token.slice("annai_".length)));

  const ask = () => request(annai.url, { body: list, headers: bearer(tokens[0]) });
  await until(200, ask);
  assert.equal((await request(`${annai.base}/metrics`, { headers: bearer(tokens[0]) })).status, 200);
  // A file that others can read is worth nothing.
  await chmod(file, 0o644);
  assert.ok((await until(401, ask)) < 2500);
  const reason = await annai.logged((event) => /tokens\.json/.test(JSON.stringify(event)) && event.level !== "info", "why no token is accepted");
  assert.match(JSON.stringify(reason), /0?600|readable|permission/i);
  await chmod(file, 0o600);
  assert.ok((await until(200, ask)) < 2500);
  // A token that has expired.
  const expired = JSON.parse(stored);
  for (const token of expired.tokens) token.expires_at = Math.floor(Date.now() / 1000) - 1;
  await writeFile(file, JSON.stringify(expired));
  assert.ok((await until(401, ask)) < 2500);
  assert.match(challenge((await ask()).headers["www-authenticate"]).error_description, /expired/);
  assert.ok(JSON.parse(await annaiCommand(home, ["token", "list", "--json"])).tokens.every((token) => token.expired));
  await writeFile(file, stored);
  assert.ok((await until(200, ask)) < 2500);
  // One character off.
  const last = tokens[0].at(-1) === "A" ? "B" : "A";
  assert.equal((await request(annai.url, { body: list, headers: bearer(tokens[0].slice(0, -1) + last) })).status, 401);
});

test("the Inspector signs in with OAuth through a browser", async (t) => {
  const provider = await startProvider(t);
  const [home, state] = [temporary(), temporary()];
  const annai = await serve(t, { home, settings: { OAUTH_ISSUER: provider.issuer, ANNAI_TRUST_LOOPBACK: "false" }, secrets: provider.issued });
  provider.resources.add(`${annai.base}/mcp`);
  // The browser that the Inspector opens is ours.
  const browser = join(state, "browser");
  const open = `import { userAgent } from ${JSON.stringify(join(here, "provider.mjs"))};
const url = new URL(process.argv[2]);
await fetch(await userAgent(url, url.searchParams.get("redirect_uri")));`;
  await writeFile(`${browser}.mjs`, open);
  await writeFile(browser, `#!/bin/sh\nexec '${process.execPath}' '${browser}.mjs' "$1"\n`, { mode: 0o755 });
  const callback = `http://127.0.0.1:${await freePort()}/oauth/callback`;
  const env = { BROWSER: browser, MCP_AUTO_OPEN_ENABLED: "true" };
  const found = await inspect(state, annai.url, [...findSection, "--callback-url", callback], { env });
  assert.equal(found.status, 0, found.stderr);
  assertAnswered(found.result);
  assert.equal(provider.authorizations[0].resource, `${annai.base}/mcp`);
  assert.equal(provider.authorizations[0].code_challenge_method, "S256");
});

/** What a request under loopback trust may do: "owner", or the status of its refusal. */
async function access(annai, headers) {
  const reply = await request(annai.url, { body: list, headers });
  if (reply.status !== 200) return reply.status;
  assert.ok(reply.json.result.tools.some((tool) => tool.name === "vault_create"), reply.brief);
  return "owner";
}

test("on loopback the Inspector's page is trusted, other pages are not", async (t) => {
  const home = temporary();
  const annai = await serve(t, { home });
  const port = annai.port;
  assert.equal(await access(annai, {}), "owner");
  for (const origin of ["http://localhost:6274", "http://127.0.0.1:6274", `http://127.0.0.1:${port}`, `http://localhost:${port}`]) {
    assert.equal(await access(annai, { origin }), "owner", origin);
    const reply = await request(annai.url, { body: list, headers: { origin } });
    assert.equal(reply.headers["access-control-allow-origin"], origin);
  }
  // Allowed to ask, as widgets of ChatGPT and local pages are, but not the owner.
  for (const origin of ["https://chatgpt.com", "http://localhost:5173", `https://127.0.0.1:${port}`, "https://localhost:6274", "http://localhost"]) {
    assert.equal(await access(annai, { origin }), 401, origin);
  }
  // Not allowed at all.
  for (const origin of ["null", "https://evil.example", "http://localhost:6274.evil.example", "http://localhost:6274/", "file://"]) {
    assert.equal(await access(annai, { origin }), 403, origin);
  }
  for (const [site, expected] of [["cross-site", 401], ["same-site", 401], ["same-origin", "owner"], ["none", "owner"]]) {
    assert.equal(await access(annai, { "sec-fetch-site": site }), expected, site);
  }
  const origin = "http://localhost:6274";
  const preflight = await request(annai.url, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "POST", "access-control-request-headers": "authorization,content-type,mcp-protocol-version" },
  });
  assert.ok([200, 204].includes(preflight.status), String(preflight.status));
  assert.equal(preflight.headers["access-control-allow-origin"], origin);
  assert.match(preflight.headers["access-control-allow-headers"], /authorization/i);

  const elsewhere = await serve(t, { home, settings: { ANNAI_TRUSTED_ORIGINS: "http://localhost:7000" } });
  assert.equal(await access(elsewhere, { origin: "http://localhost:7000" }), "owner");
  assert.equal(await access(elsewhere, { origin }), 401);
});

test("forged and forwarding headers, another host, and HTTP/1.0 are not the owner", async (t) => {
  const annai = await serve(t, { home: temporary() });
  for (const name of [
    "forwarded", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-forwarded-anything", "via", "x-real-ip", "x-client-ip",
    "true-client-ip", "cf-connecting-ip", "cf-ray", "fly-client-ip", "x-envoy-external-address", "tailscale-user-login",
  ]) {
    assert.equal(await access(annai, { [name]: "127.0.0.1" }), 401, name);
  }
  for (const host of ["evil.example", `evil.example:${annai.port}`]) assert.equal(await access(annai, { host }), 403, host);
  const body = JSON.stringify(list);
  for (const [version, status] of [["1.1", 200], ["1.0", 401]]) {
    const head = `POST /mcp HTTP/${version}\r\nHost: 127.0.0.1:${annai.port}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
    const answer = await new Promise((resolve, reject) => {
      let text = "";
      const socket = net.connect(annai.port, "127.0.0.1", () => socket.write(head + body));
      socket.setTimeout(5000, () => socket.destroy(new Error("no answer")));
      socket.setEncoding("utf8").on("data", (more) => (text += more)).once("end", () => resolve(text)).once("error", reject);
    });
    assert.equal(Number(/^HTTP\/1\.[01] (\d{3}) /.exec(answer)?.[1]), status, answer);
  }
});
