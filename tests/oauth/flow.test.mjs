// The whole sign-in with real parts: the official TypeScript clients, a certified OpenID provider, and annai.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError as Unauthorized1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2, UnauthorizedError as Unauthorized2 } from "@modelcontextprotocol/client";
import { assertAnswered, bearer, call, challenge, freePort, pause, question, request, rpc, serve, temporary } from "./parts.mjs";
import { Person, claims, hana, signIn, startProvider } from "./provider.mjs";

const me = { name: "sign-in-tests", version: "1.0.0" };
const readAndWrite = "library.read library.write";
const initialize = rpc("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: me });
const find = call("manual_find", { query: question });

/** A provider, and annai that trusts it. */
async function start(t, { settings = {}, usePublicUrl = false, ...options } = {}) {
  const provider = await startProvider(t, options);
  const home = temporary();
  await mkdir(join(home, "workspace/vault"), { recursive: true });
  const port = await freePort();
  const trust = usePublicUrl ? { PUBLIC_URL: `http://127.0.0.1:${port}` } : { ANNAI_TRUST_LOOPBACK: "false" };
  const annai = await serve(t, { home, port, settings: { OAUTH_ISSUER: provider.issuer, ...trust, ...settings }, secrets: provider.issued });
  annai.metadata = `${annai.base}/.well-known/oauth-protected-resource/mcp`;
  provider.resources.add(`${annai.base}/mcp`);
  const post = (body, headers = {}) => request(annai.url, { body, headers });
  const token = async (scope, resource = `${annai.base}/mcp`) => (await signIn(provider, { resource, scope })).access_token;
  return { provider, annai, home, post, token };
}

async function created(home, path, content, result) {
  assert.equal(await readFile(join(home, "workspace/vault", path), "utf8"), content);
  assert.deepEqual(result.structuredContent, {
    written_path: path,
    written_bytes: content.length,
    sha256: createHash("sha256").update(content).digest("hex"),
  });
}

/** A refused token: 401 for a call in both forms, and for any other method as an error. */
async function assertBadToken(t, { annai, post }, token) {
  const called = await post(call("manual_find", { query: question }, 7), bearer(token));
  assert.equal(called.status, 401, called.brief);
  const { error_description, ...rest } = challenge(called.headers["www-authenticate"]);
  assert.ok(error_description);
  assert.deepEqual(rest, { resource_metadata: annai.metadata, error: "invalid_token", scope: readAndWrite });
  assert.equal(called.json.id, 7);
  assert.equal(called.json.result.isError, true);
  const [inBody] = called.json.result._meta["mcp/www_authenticate"];
  assert.equal(challenge(inBody).error, "invalid_token");
  assert.equal(challenge(inBody).resource_metadata, annai.metadata);
  assert.ok(challenge(inBody).error_description);
  for (const body of [initialize, rpc("tools/list")]) {
    const other = await post(body, bearer(token));
    assert.equal(other.status, 401, other.brief);
    assert.equal(challenge(other.headers["www-authenticate"]).error, "invalid_token");
    assert.equal(other.json.jsonrpc, "2.0");
    assert.equal(typeof other.json.error.code, "number");
    assert.equal(other.json.result, undefined);
  }
}

test("what a client without a token finds", async (t) => {
  const { provider, annai, post } = await start(t, { usePublicUrl: true });
  const expected = { resource_metadata: annai.metadata, scope: readAndWrite };
  const discover = rpc("server/discover", { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
  for (const body of [initialize, rpc("tools/list"), find, discover, "not json"]) {
    const reply = await post(body);
    assert.equal(reply.status, 401, reply.brief);
    assert.deepEqual(challenge(reply.headers["www-authenticate"]), expected);
    assert.ok(reply.json);
  }

  const document = { authorization_servers: [provider.issuer], scopes_supported: readAndWrite.split(" "), bearer_methods_supported: ["header"] };
  const suffixed = await request(annai.metadata);
  assert.equal(suffixed.status, 200);
  assert.deepEqual(suffixed.json, { resource: `${annai.base}/mcp`, ...document });
  const root = await request(`${annai.base}/.well-known/oauth-protected-resource`);
  assert.equal(root.status, 200);
  assert.deepEqual(root.json, { resource: annai.base, ...document });
  const issuer = await request(`${annai.base}/.well-known/oauth-authorization-server`);
  assert.ok([302, 307].includes(issuer.status), String(issuer.status));
  assert.equal(issuer.headers.location, `${provider.issuer}/.well-known/oauth-authorization-server`);
  const { issuer: named } = await (await fetch(issuer.headers.location)).json();
  assert.equal(named, provider.issuer);
  assert.equal((await request(`${annai.base}/health`)).status, 200);
});

test("sdk 1.x signs in, finds a section, and steps up to write", async (t) => {
  const { provider, annai, home, post } = await start(t, { usePublicUrl: true });
  const person = new Person(provider);
  const connect = async () => {
    const transport = new Http1(annai.url, { authProvider: person });
    const client = new Client1(me);
    t.after(() => client.close());
    await client.connect(transport);
    return { client, transport };
  };

  // Hana allows reading only.
  provider.consent = () => ["library.read"];
  const first = new Http1(annai.url, { authProvider: person });
  await assert.rejects(new Client1(me).connect(first), Unauthorized1);
  await first.finishAuth(person.callback.get("code"));
  const [asked] = provider.authorizations;
  assert.equal(asked.code_challenge_method, "S256");
  assert.equal(asked.resource, `${annai.base}/mcp`);
  assert.equal(asked.scope, readAndWrite);
  assert.equal(provider.requests["/reg"], 1);
  const { aud, scope, iss, sub } = claims(person.tokens().access_token);
  assert.deepEqual({ aud, scope, iss, sub }, { aud: `${annai.base}/mcp`, scope: "library.read", iss: provider.issuer, sub: hana.accountId });

  const { client, transport } = await connect();
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert.ok(names.includes("manual_find") && !names.includes("vault_create"), names.join(" "));
  assertAnswered(await client.callTool({ name: "manual_find", arguments: { query: question } }));

  const write = { path: "notes/sign-in.md", content: "# Written after a step-up\n" };
  const refused = await post(call("vault_create", write, 8), bearer(person.tokens().access_token));
  assert.equal(refused.status, 403, refused.brief);
  const { error_description, ...rest } = challenge(refused.headers["www-authenticate"]);
  assert.ok(error_description);
  assert.deepEqual(rest, { resource_metadata: annai.metadata, error: "insufficient_scope", scope: readAndWrite });
  assert.equal(refused.json.id, 8);
  assert.equal(refused.json.result.isError, true);
  assert.equal(challenge(refused.json.result._meta["mcp/www_authenticate"][0]).error, "insufficient_scope");
  assert.equal(refused.json.result.structuredContent, undefined);
  await assert.rejects(readFile(join(home, "workspace/vault", write.path)), { code: "ENOENT" });

  provider.consent = (requested) => requested;
  await assert.rejects(client.callTool({ name: "vault_create", arguments: write }), Unauthorized1);
  assert.equal(provider.authorizations.length, 2);
  assert.equal(provider.authorizations[1].scope, readAndWrite);
  await transport.finishAuth(person.callback.get("code"));
  assert.equal(provider.requests["/reg"], 1);
  await created(home, write.path, write.content, await client.callTool({ name: "vault_create", arguments: write }));
  const more = (await client.listTools()).tools.map((tool) => tool.name);
  assert.ok(more.includes("manual_find") && more.includes("vault_create"), more.join(" "));
  await annai.logged((event) => event.tool === "vault_create" && event.ok === true, "the call of vault_create");
});

for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
  test(`client 2.x (${JSON.stringify(mode)}) signs in, refreshes an expired token, and steps up to write`, async (t) => {
    const { provider, annai, home } = await start(t, { refresh: true });
    const person = new Person(provider, { grantTypes: ["authorization_code", "refresh_token"] });
    const fresh = () => [new Client2(me, { versionNegotiation: { mode } }), new Http2(annai.url, { authProvider: person })];

    // The first token has expired when it is used: the client refreshes it without another sign-in.
    provider.consent = (requested) => requested.filter((scope) => scope !== "library.write");
    provider.tokenAge = 600 + 300;
    const [early, first] = fresh();
    await assert.rejects(early.connect(first), Unauthorized2);
    await first.finishAuth(person.callback);
    provider.tokenAge = 0;
    const expired = person.tokens();
    assert.ok(claims(expired.access_token).exp * 1000 < Date.now());
    assert.ok(expired.refresh_token);

    const [client, transport] = fresh();
    t.after(() => client.close());
    await client.connect(transport);
    assert.notEqual(person.tokens().access_token, expired.access_token);
    assert.equal(provider.authorizations.length, 1);
    assert.equal(provider.requests["/token"], 2);
    assert.equal(client.getNegotiatedProtocolVersion(), mode === "legacy" ? "2025-11-25" : "2026-07-28");
    assertAnswered(await client.callTool({ name: "manual_find", arguments: { query: question } }));

    // Here the client must not refresh, but sign in again for more.
    provider.consent = (requested) => requested;
    const write = { path: "daily.md", content: "written\n" };
    await assert.rejects(client.callTool({ name: "vault_create", arguments: write }), Unauthorized2);
    await transport.finishAuth(person.callback);
    assert.equal(provider.authorizations.length, 2);
    const scopes = provider.authorizations[1].scope.split(" ");
    for (const scope of readAndWrite.split(" ")) assert.ok(scopes.includes(scope), scopes.join(" "));
    await created(home, write.path, write.content, await client.callTool({ name: "vault_create", arguments: write }));
  });
}

test("tokens of the real provider that are not for this server are refused", async (t) => {
  // With all debug lines, which must not contain tokens either.
  const site = await start(t, { settings: { DEBUG: "1" } });
  const { provider, annai, post } = site;
  const elsewhere = "http://127.0.0.1:1/mcp";
  for (const resource of [elsewhere, annai.base, `${annai.base}/`, `${annai.base}/mcp/`]) provider.resources.add(resource);

  const { access_token, id_token } = await signIn(provider, { resource: `${annai.base}/mcp`, scope: "openid library.read" });
  const good = await post(find, bearer(access_token));
  assert.equal(good.status, 200, good.brief);
  assertAnswered(good.json.result);
  assert.ok(id_token);
  await assertBadToken(t, site, id_token);
  await assertBadToken(t, site, await site.token("library.read", elsewhere));
  for (const resource of [annai.base, `${annai.base}/`, `${annai.base}/mcp/`]) {
    const reply = await post(find, bearer(await site.token("library.read", resource)));
    assert.equal(reply.status, 200, `${resource}: ${reply.brief}`);
  }

  // The same resource and scopes, from a provider that this server does not know.
  const stranger = await startProvider(t, { resources: new Set([`${annai.base}/mcp`]) });
  const { access_token: foreign } = await signIn(stranger, { resource: `${annai.base}/mcp`, scope: "library.read" });
  provider.issued.add(foreign);
  await assertBadToken(t, site, foreign);
  assert.equal(stranger.requests["/jwks"], undefined);

  const [head, body, signature] = access_token.split(".");
  const wider = Buffer.from(JSON.stringify({ ...claims(access_token), scope: readAndWrite })).toString("base64url");
  await assertBadToken(t, site, [head, wider, signature].join("."));
  await assertBadToken(t, site, [head, body, ""].join("."));
  await assertBadToken(t, site, "opaque-token-of-somebody-else");

  // Only the header counts.
  const inQuery = await request(`${annai.url}?access_token=${access_token}`, { body: find });
  assert.equal(inQuery.status, 401);
  assert.equal(challenge(inQuery.headers["www-authenticate"]).error, undefined);
});

test("the provider rotates its key, and goes away", async (t) => {
  const { provider, annai, home, post, token } = await start(t);
  const fetched = () => provider.requests["/jwks"] ?? 0;
  const old = await token("library.read");
  assert.equal((await post(find, bearer(old))).status, 200);
  assert.equal((await post(find, bearer(old))).status, 200);
  assert.equal(fetched(), 1, "the keys are cached");

  provider.rotate();
  assert.equal((await post(find, bearer(old))).status, 200, "a known key is not asked for again");
  assert.equal(fetched(), 1);
  const rotated = await token("library.read");
  assert.equal((await post(find, bearer(rotated))).status, 200, "a new key is fetched");
  assert.equal(fetched(), 2);
  assert.equal((await post(find, bearer(old))).status, 401, "a withdrawn key ends with the next fetch");

  // A flood of tokens with invented keys does not reach the provider.
  const [, body, signature] = rotated.split(".");
  const before = fetched();
  for (let forged = 0; forged < 40; forged++) {
    const head = Buffer.from(JSON.stringify({ alg: "RS256", typ: "at+jwt", kid: `invented-${forged}` })).toString("base64url");
    assert.equal((await post(find, bearer([head, body, signature].join(".")))).status, 401);
  }
  assert.ok(fetched() - before <= 3, `${fetched() - before} requests for 40 invented keys`);

  await provider.down();
  const known = await post(find, bearer(rotated));
  assert.equal(known.status, 200, "known keys outlive an outage");
  assertAnswered(known.json.result);

  // A server that has never seen the keys cannot judge a token: that is not the client's fault.
  const late = await serve(t, { home, settings: { OAUTH_ISSUER: provider.issuer, PUBLIC_URL: annai.base }, secrets: provider.issued });
  const reply = await request(late.url, { body: find, headers: bearer(rotated) });
  assert.equal(reply.status, 503, reply.brief);
  assert.match(reply.headers["retry-after"] ?? "", /^[1-9][0-9]*$/);
  assert.equal(reply.headers["www-authenticate"], undefined);
  await provider.up();
  let after;
  for (let tries = 0; tries < 120; tries++) {
    after = await request(late.url, { body: find, headers: bearer(rotated) });
    if (after.status !== 503) break;
    await pause(500);
  }
  assert.equal(after.status, 200, after.brief);
});

test("metrics need metrics.read, and a token decides also under loopback trust", async (t) => {
  const { provider, annai, home, token } = await start(t);
  const metrics = (headers) => request(`${annai.base}/metrics`, { headers });
  const [reader, watcher] = [await token("library.read"), await token("metrics.read")];
  const nobody = await metrics();
  assert.equal(nobody.status, 401);
  assert.equal(challenge(nobody.headers["www-authenticate"]).error, undefined);
  const wrong = await metrics(bearer(reader));
  assert.equal(wrong.status, 403);
  assert.equal(challenge(wrong.headers["www-authenticate"]).error, "insufficient_scope");
  assert.deepEqual(challenge(wrong.headers["www-authenticate"]).scope.split(" ").sort(), ["library.read", "metrics.read"]);
  const right = await metrics(bearer(watcher));
  assert.equal(right.status, 200);
  assert.match(right.text, /^http_requests_total\{/m);
  assert.equal((await metrics(bearer("nonsense-nonsense-nonsense"))).status, 401);
  assert.equal((await request(annai.url, { body: find, headers: bearer(watcher) })).status, 403);

  const near = await serve(t, { home, settings: { OAUTH_ISSUER: provider.issuer }, secrets: provider.issued });
  const resource = `${near.base}/mcp`;
  provider.resources.add(resource);
  const list = async (headers) => {
    const reply = await request(near.url, { body: rpc("tools/list"), headers });
    return reply.status === 200 ? reply.json.result.tools.map((tool) => tool.name) : reply.status;
  };
  assert.ok((await list()).includes("vault_create"), "the owner needs no token");
  const limited = await list(bearer(await token("library.read", resource)));
  assert.ok(limited.includes("manual_find") && !limited.includes("vault_create"));
  assert.equal(await list(bearer(reader)), 401, "the token of another server");
  assert.equal((await request(`${near.base}/metrics`)).status, 200);
  assert.equal((await request(`${near.base}/metrics`, { headers: bearer("nonsense-nonsense-nonsense") })).status, 401);
});
