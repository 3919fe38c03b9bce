// Tokens where they must not be: a mixed load with tokens that are easy to recognise, then a search of everything that
// the program said.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync, statSync } from "node:fs";
import { test } from "node:test";
import { INITIALIZE, PUBLIC, RESOURCE, bytes, call, defaultTokenFile, get, join, newToken, raw, read, request, rpc, run, start, until, workspace, write } from "./annai.mjs";
import { Issuer, b64, jws, makeKey, replies } from "./issuer.mjs";

test("no token in replies, logs, metrics or files", async (t) => {
  const folder = workspace();
  const [key, stranger] = [makeKey("leak-key"), makeKey("leak-key")];
  const issuer = await Issuer.start();
  issuer.keys = [key];
  const names = { reader: ["library.read"], writer: ["library.read", "library.write"], meter: ["metrics.read"] };
  const fixed = {};
  for (const [name, scopes] of Object.entries(names)) fixed[name] = await newToken(folder, name, scopes);
  const gone = await newToken(folder, "gone");
  await run(folder, ["token", "revoke", "gone"]);
  const ids = Object.fromEntries(JSON.parse((await run(folder, ["token", "list", "--json"])).stdout).tokens?.map?.((entry) => [entry.name, entry.id])
    ?? JSON.parse((await run(folder, ["token", "list", "--json"])).stdout).map((entry) => [entry.name, entry.id]));

  const debugFile = join(folder, "debug.log");
  const servers = [
    await start({ folder, env: { OAUTH_ISSUER: issuer.url, PUBLIC_URL: PUBLIC }, args: ["--debug", debugFile] }),
    await start({ folder, env: { OAUTH_ISSUER: issuer.url, AUTH0_AUDIENCE: RESOURCE, LOG_LEVEL: "debug" }, args: ["--debug"] }),
    await start({ folder, env: { PUBLIC_URL: PUBLIC }, args: ["--debug"] }),
  ];
  const claims = (change) => issuer.claims(RESOURCE, { marker: "Zq7LeakMarkerInTheMiddle", ...change });
  const good = (change) => jws(key, claims(change));
  const tokens = [
    good(), good({ scope: "library.read library.write" }), good({ scope: "openid" }), good({ scope: "metrics.read" }), good({ exp: 1 }), good({ aud: "x" }), good({ iss: "x" }), good({ nonce: "x" }),
    jws(stranger, claims()), jws(key, claims(), { alg: "none" }), jws(key, claims(), { header: { kid: "unknown-leak" } }), `${good()}x`, `${good()}.x.y`, b64("Zq7LeakMarkerInTheMiddle, no token at all, but long enough"),
    ...Object.values(fixed), gone, `annai_${b64("Zq7LeakMarkerInTheMiddle-xxxxxxxx")}`.slice(0, 49), "c2VjcmV0LWxlYWstbWFya2VyLXBsYWluLXRleHQ",
  ];
  /** What must be found nowhere: every token, its parts, and pieces of its secret part. */
  const secrets = new Set(tokens.flatMap((token) => [token, ...token.split(".").filter((part) => part.length > 30)]));
  for (const token of tokens) {
    const secret = token.includes(".") ? token.split(".")[2] : token.replace(/^annai_/, "");
    if (secret.length > 40) for (const at of [0, 10, 20]) secrets.add(secret.slice(at, at + 20));
    if (token.startsWith("eyJ")) secrets.add(token.split(".")[1].slice(20, 60));
  }
  for (const header of tokens.map((token) => token.split(".")[0])) if (header.startsWith("eyJ")) secrets.delete(header);
  secrets.add("Zq7LeakMarkerInTheMiddle");

  const heard = [];
  const hear = async (promise) => {
    const reply = await promise;
    heard.push(`${reply.all}\n${reply.whole ?? reply.text}`);
    return reply;
  };
  let n = 0;
  for (const server of servers) {
    for (const token of tokens) {
      await hear(read(server, { token }));
      await hear(call(server, "manual_find", { query: "rate limit" }, { token }));
      await hear(write(server, `w${(n += 1)}.md`, { token }));
      await hear(rpc(server, "initialize", INITIALIZE, { token }));
      await hear(rpc(server, "tools/list", undefined, { token }));
      await hear(rpc(server, "no/such", {}, { token }));
      await hear(request(server, { headers: { Authorization: `Bearer ${token}` }, body: "{ nonsense" }));
      await hear(request(server, { headers: { Authorization: `Bearer ${token}`, "Content-Type": "text/plain" }, body: "x" }));
      for (const path of ["/mcp", "/metrics", "/health", "/nowhere", "/.well-known/oauth-protected-resource"]) await hear(get(server, path, token));
      await hear(request(server, { path: `/mcp?access_token=${token}`, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' }));
      await hear(request(server, { method: "GET", path: `/metrics?token=${token}` }));
      await hear(request(server, { method: "GET", path: `/${token.slice(0, 2000)}` }));
      await hear(request(server, { headers: { Authorization: `Basic ${token}` }, body: "{}" }));
      await hear(request(server, { headers: { Authorization: token }, body: "{}" }));
      await hear(request(server, { headers: ["Authorization", `Bearer ${token}`, "Authorization", `Bearer ${token}`], body: "{}" }));
      await hear(request(server, { headers: { Cookie: `token=${token}`, "Mcp-Session-Id": token.slice(0, 500), Origin: "https://evil.example" }, body: "{}" }));
      await hear(request(server, { method: "OPTIONS", headers: { Origin: "https://chatgpt.com", "Access-Control-Request-Headers": `mcp-x`, Authorization: `Bearer ${token}` } }));
    }
    await hear(raw(server, bytes(server, { headers: [`Authorization: Bearer ${tokens[0]}\u0001`] })));
    await hear(raw(server, bytes(server, { headers: [`Authorization: Bearer ${tokens[0]}`, `X-Filler: ${"f".repeat(70000)}`] })));
  }
  // And when the issuer fails: its replies could repeat what it was asked.
  issuer.replies.jwks = replies.status(500, `you sent ${tokens[0]}`);
  for (const server of servers.slice(0, 2)) for (let times = 0; times < 4; times += 1) await hear(read(server, { token: jws(key, claims(), { header: { kid: `late-${times}` } }) }));
  for (const server of servers) {
    const shown = await hear(get(server, "/metrics", fixed.meter));
    assert.equal(shown.status, 200);
    assert.match(shown.text, /annai_tool_calls_total/);
  }
  // Their logs are whole when they have ended.
  await Promise.all(servers.map((server) => server.stop()));
  await issuer.down();

  // The lists and everything on disk.
  const listed = await run(folder, ["token", "list"]);
  const places = new Map([["replies", heard.join("\n")], ["token list", listed.stdout + listed.stderr]]);
  servers.forEach((server, at) => places.set(`the log of server ${at}`, server.log() + server.stdout()));
  const walk = (path) => {
    if (statSync(path).isDirectory()) for (const name of readdirSync(path)) walk(join(path, name));
    else places.set(path.slice(folder.length + 1), readFileSync(path, "latin1"));
  };
  walk(folder);
  assert.ok(existsSync(debugFile) && readFileSync(debugFile, "utf8").includes("manual_find"), "the debug file has the calls");
  assert.ok(places.has(defaultTokenFile(folder).slice(folder.length + 1)));
  const found = [];
  for (const [place, text] of places) {
    for (const secret of secrets) {
      const at = text.indexOf(secret);
      if (at >= 0) found.push(`${place}: …${text.slice(Math.max(0, at - 120), at + 60)}…`);
    }
  }
  t.diagnostic(`${heard.length} replies, ${servers.reduce((sum, server) => sum + server.lines.length, 0)} log lines, ${places.size} places, ${secrets.size} secrets`);
  assert.deepEqual(found.slice(0, 5), [], `${found.length} places`);

  for (const server of servers) {
    for (const name of ["reader", "writer"]) {
      const logged = () => server.lines.some((line) => line.includes('"manual_find"') && line.includes('"ok":true') && line.includes(ids[name]));
      assert.notEqual(await until(logged, 30_000), null, `no call log with the id of ${name}`);
    }
    assert.ok(!server.log().includes('"panic"'), "a panic");
  }
});

test("the environment and the configuration show no token", async () => {
  const folder = workspace();
  const token = await newToken(folder, "x");
  const shown = await run(folder, ["--show-config"]);
  assert.ok(!(shown.stdout + shown.stderr).includes(token.slice(6)));
  const doctor = await run(folder, ["doctor"], { timeout: 20000 });
  assert.ok(!(doctor.stdout + doctor.stderr).includes(token.slice(6)));
  assert.ok(!doctor.killed, "doctor hangs");
});

test("a server that stops at once ends well", async (t) => {
  const folder = workspace();
  const token = await newToken(folder, "late");
  const server = await start({ folder, env: { PUBLIC_URL: PUBLIC } });
  assert.equal((await read(server, { token })).status, 200);
  assert.equal(await server.stop(), 0);
  const { tokens } = JSON.parse((await run(folder, ["token", "list", "--json"])).stdout);
  t.diagnostic(`stopped within milliseconds of the first use: last use ${tokens[0].last_used_at ?? "lost"}`);
  JSON.parse(readFileSync(defaultTokenFile(folder), "utf8"));
});
