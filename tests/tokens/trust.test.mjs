// Who is the owner of the machine: loopback trust under every request that a browser, a proxy or a forger may send.
// Raw bytes, because HTTP clients write decent requests.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { after, before, describe, test } from "node:test";
import { PUBLIC, bytes, challenge, get, join, newToken, raw, read, request, start, until, words, workspace } from "./annai.mjs";
import { Issuer, makeKey } from "./issuer.mjs";

let server;
const servers = [];
const own = async (options) => {
  const one = await start(options);
  servers.push(one);
  return one;
};
before(async () => (server = await own()));
after(async () => {
  await Promise.all(servers.map((one) => one.stop()));
  for (const one of servers) assert.ok(!one.log().includes('"panic"'), one.log());
});

/** What such a request is for us: the owner's, a stranger's, or not answered at all; the same for tools and metrics. */
async function standing(request, on = server) {
  const listed = await raw(on, bytes(on, request));
  const shown = await raw(on, bytes(on, { ...request, method: "GET", target: (request.target ?? "/mcp").replace(/\/mcp$/, "/metrics") }));
  const called = await raw(on, bytes(on, { ...request, rpc: "tools/call", body: '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"manual_list","arguments":{}}}' }));
  const all = [listed, shown, called];
  for (const reply of all) if (reply.status !== 200) assert.ok(!/manual_find|annai_tool_calls|"guide"/.test(reply.whole ?? reply.text), reply.whole);
  if (all.every((reply) => reply.status === 200)) {
    assert.ok(listed.json.result.tools.length > 10);
    assert.equal(called.json.result.structuredContent.items[0].manual_id, "guide");
    return "owner";
  }
  if (all.every((reply) => reply.status === 401)) {
    for (const reply of all) assert.equal(challenge(reply.headers["www-authenticate"]).error, undefined, "no token was sent");
    return "stranger";
  }
  if (all.every((reply) => [400, 403, 0].includes(reply.status))) return "refused";
  return all.map((reply) => `${reply.status} ${reply.text.slice(0, 200)}`).join(" | ");
}

const stands = (name, expected, request, on) =>
  test(`${name}: ${expected}`, async () => {
    const got = await standing(typeof request === "function" ? request() : request, on?.());
    if (expected === "not the owner") assert.ok(["stranger", "refused"].includes(got), got);
    else assert.equal(got, expected);
  });

describe("the request itself", () => {
  stands("plain", "owner", {});
  stands("localhost", "owner", () => ({ host: `localhost:${server.port}` }));
  stands("[::1]", "owner", () => ({ host: `[::1]:${server.port}` }));
  stands("HTTP/1.0", "stranger", { version: "HTTP/1.0" });
  stands("HTTP/1.0 with keep-alive", "stranger", { version: "HTTP/1.0", headers: ["Connection: keep-alive"] });
  stands("HTTP/1.0 without Host", "refused", { version: "HTTP/1.0", host: null });
  stands("HTTP/1.1 without Host", "refused", { host: null });
  for (const version of ["HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "http/1.1", "HTTP/1.10", "HTTP/01.1", "ICY/1.1"]) {
    stands(version, "not the owner", { version });
  }
  test("h2c by prior knowledge gives nobody anything", async () => {
    const reply = await raw(server, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u0004\0\0\0\0\0", { timeout: 1000 });
    assert.notEqual(reply.status, 200);
  });
  test("an upgrade to h2c is not taken", async () => {
    const reply = await raw(server, bytes(server, { method: "GET", target: "/metrics", headers: ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"] }));
    assert.notEqual(reply.status, 101);
  });
  test("two requests on one connection: the first one's trust is not the second's", async () => {
    const text = await new Promise((resolve) => {
      import("node:net").then(({ connect }) => {
        const socket = connect(server.port, "127.0.0.1", () => socket.write(bytes(server) + bytes(server, { headers: ["X-Forwarded-For: 1.2.3.4"] }) + bytes(server, { headers: ["Origin: https://chatgpt.com", "Connection: close"] })));
        let all = "";
        socket.on("data", (chunk) => (all += chunk));
        socket.on("close", () => resolve(all));
        setTimeout(() => socket.destroy(), 60_000).unref();
      });
    });
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 401", "HTTP/1.1 401"]);
  });
  test("smuggling: two lengths, or a length and chunks", async () => {
    const inner = bytes(server, { method: "GET", target: "/metrics" });
    for (const lines of [
      ["Content-Length: 4", `Content-Length: ${inner.length}`],
      [`Content-Length: ${inner.length}`, "Transfer-Encoding: chunked"],
      ["Transfer-Encoding: chunked, identity"],
      ["Transfer-Encoding: \u000bchunked"],
      ["Content-Length: +4"],
      ["Content-Length: 4, 5"],
    ]) {
      const reply = await raw(server, `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Forwarded-For: 1.1.1.1\r\nContent-Type: application/json\r\n${lines.join("\r\n")}\r\n\r\n0\r\n\r\n${inner}`, { timeout: 1500 });
      assert.ok(!/annai_tool_calls|# HELP/.test(reply.whole ?? ""), `${lines}: the hidden request was answered`);
    }
  });
});

describe("forwarding headers", () => {
  const names = [
    "Forwarded", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Server",
    "X-Forwarded-Prefix", "X-Forwarded-Scheme", "X-Forwarded-Ssl", "X-Forwarded-By", "X-Forwarded-Client-Cert", "X-Forwarded-User",
    "X-Forwarded-Anything", "Via", "X-Real-IP", "X-Client-IP", "True-Client-IP", "CF-Connecting-IP", "CF-Connecting-IPv6", "CF-Ray",
    "CF-IPCountry", "CF-Visitor", "CF-Worker", "CF-Access-Jwt-Assertion", "CF-EW-Via", "CF-Anything", "Fly-Client-IP", "Fly-Forwarded-Port",
    "Fly-Forwarded-Proto", "Fly-Region", "Fly-Request-Id", "Fly-Anything", "X-Envoy-External-Address", "X-Envoy-Original-Path",
    "X-Envoy-Expected-Rq-Timeout-Ms", "X-Envoy-Anything", "Tailscale-User-Login", "Tailscale-User-Name", "Tailscale-Funnel-Request", "Tailscale-Anything",
  ];
  for (const name of names) {
    test(`${name}, in any case and with any value: stranger`, async () => {
      for (const line of [`${name}: 127.0.0.1`, `${name.toUpperCase()}: x`, `${name.toLowerCase()}:`, `${name}: \u00ff`, `${name}: 127.0.0.1, 127.0.0.1`]) {
        assert.equal(await standing({ headers: [line] }), "stranger", line);
      }
    });
  }
  stands("after a hundred others", "not the owner", { headers: [...Array.from({ length: 90 }, (_, n) => `X-A${n}: 1`), "X-Forwarded-For: 1"] });
  stands("named in Connection", "stranger", { headers: ["Connection: X-Forwarded-For, keep-alive", "X-Forwarded-For: 1.1.1.1"] });
  stands("twice", "stranger", { headers: ["X-Real-IP: 127.0.0.1", "X-Real-IP: 127.0.0.1"] });
  stands("an unrelated header", "owner", { headers: ["X-Request-Id: 1", "User-Agent: via x-forwarded-for", "Vi: 1", "Flyer: 1", "Cfx: 1", "X-Forward: 1"] });
  // Not in the list of the specification: what a proxy sends that nevertheless becomes the owner.
  for (const line of [
    "X_Forwarded_For: 1.1.1.1", "CDN-Loop: cloudflare", "X-Original-Forwarded-For: 1.1.1.1", "X-Original-Host: a", "X-Original-URL: /", "X-Cluster-Client-IP: 1.1.1.1", "Fastly-Client-IP: 1.1.1.1",
    "X-Azure-ClientIP: 1.1.1.1", "X-Azure-FDID: a", "X-Appengine-User-IP: 1.1.1.1", "X-Amzn-Trace-Id: Root=1", "X-Amz-Cf-Id: a", "X-ProxyUser-Ip: 1.1.1.1", "Ngrok-Auth-User-Email: a", "X-Vercel-Id: a", "X-Nf-Client-Connection-Ip: 1.1.1.1",
    "Max-Forwards: 10", "Proxy-Connection: keep-alive", "X-Proxy-User: a", "Client-IP: 1.1.1.1", "X-Remote-User: a", "X-Forwarded-: x", "Remote-Addr: 1.1.1.1", "X-Authentik-Username: a",
  ]) {
    test(`note: ${line}`, async (t) => t.diagnostic(`${line}: ${await standing({ headers: [line] })}`));
  }
});

describe("pages", () => {
  const origin = (value) => ({ headers: [`Origin: ${value}`] });
  stands("chatgpt.com", "stranger", origin("https://chatgpt.com"));
  stands("cdn.oaistatic.com", "stranger", origin("https://cdn.oaistatic.com"));
  stands("web-sandbox.oaiusercontent.com", "stranger", origin("https://web-sandbox.oaiusercontent.com"));
  stands("a page on another port", "stranger", origin("http://localhost:5173"));
  stands("a page on another port, by address", "stranger", origin("http://127.0.0.1:5173"));
  stands("a page on port 80", "stranger", origin("http://localhost"));
  stands("a page on another loopback address", "stranger", origin("http://127.0.0.9:5173"));
  stands("our port with https", "stranger", () => origin(`https://localhost:${server.port}`));
  stands("null", "refused", origin("null"));
  stands("empty", "refused", origin(""));
  stands("a foreign site", "refused", origin("https://evil.example"));
  stands("a foreign site on our port", "refused", () => origin(`http://evil.example:${server.port}`));
  stands("our own", "owner", () => origin(`http://127.0.0.1:${server.port}`));
  stands("our own by name", "owner", () => origin(`http://localhost:${server.port}`));
  stands("our own by IPv6", "owner", () => origin(`http://[::1]:${server.port}`));
  stands("our own with a path", "refused", () => origin(`http://localhost:${server.port}/`));
  stands("our own with a user", "refused", () => origin(`http://x@localhost:${server.port}`));
  stands("our own and more", "refused", () => origin(`http://localhost:${server.port} https://evil.example`));
  stands("our own, with a comma", "refused", () => origin(`http://localhost:${server.port}, https://evil.example`));
  stands("our own below a foreign one", "refused", () => origin(`http://localhost:${server.port}.evil.example`));
  stands("localhost below a foreign one", "refused", () => origin(`http://localhost.evil.example:${server.port}`));
  stands("our port plus 65536", "not the owner", () => origin(`http://localhost:${server.port + 65536}`));
  stands("twice, both ours", "refused", () => ({ headers: [`Origin: http://localhost:${server.port}`, `Origin: http://localhost:${server.port}`] }));
  stands("twice, ours and a foreign one", "refused", () => ({ headers: [`Origin: http://localhost:${server.port}`, "Origin: https://evil.example"] }));
  stands("twice, a foreign one and ours", "refused", () => ({ headers: ["Origin: https://chatgpt.com", `Origin: http://localhost:${server.port}`] }));
  stands("the Inspector", "owner", origin("http://localhost:6274"));
  stands("the Inspector by address", "owner", origin("http://127.0.0.1:6274"));
  stands("the Inspector with https", "stranger", origin("https://localhost:6274"));
  stands("nearly the Inspector", "stranger", origin("http://localhost:62740"));
  stands("the Inspector by IPv6", "stranger", origin("http://[::1]:6274"));
  stands("a browser extension", "refused", origin("chrome-extension://abcdefghijklmnop"));
  stands("a file", "refused", origin("file://"));
  // No browser writes an origin like this, and others need not send one.
  for (const value of ["HTTP://LOCALHOST:6274", "http://LOCALHOST:6274", "http://localhost:06274"]) {
    test(`note: Origin ${value}`, async (t) => t.diagnostic(`${value}: ${await standing(origin(value))}`));
  }

  const site = (...values) => ({ headers: values.map((value) => `Sec-Fetch-Site: ${value}`) });
  stands("Sec-Fetch-Site none", "owner", site("none"));
  stands("Sec-Fetch-Site same-origin", "owner", site("same-origin"));
  for (const value of ["cross-site", "same-site", "", "x", "none, cross-site", "same-origin;cross-site", "nonexistent", "null", "\u00ff"]) {
    stands(`Sec-Fetch-Site ${JSON.stringify(value)}`, "stranger", site(value));
  }
  stands("Sec-Fetch-Site twice", "stranger", site("none", "cross-site"));
  stands("Sec-Fetch-Site twice, the other way", "stranger", site("same-origin", "cross-site"));
  stands("sec-fetch-site in small letters", "stranger", { headers: ["sec-fetch-site: cross-site"] });
  stands("an image on a foreign page", "stranger", { headers: ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: image", "Referer: https://evil.example/"] });
  test("note: our own origin, but Sec-Fetch-Site cross-site", async (t) => t.diagnostic(await standing({ headers: [`Origin: http://localhost:${server.port}`, "Sec-Fetch-Site: cross-site"] })));

  test("a foreign page may read its 401, and nothing is sent by preflight", async () => {
    const asked = await raw(server, bytes(server, { method: "OPTIONS", headers: ["Origin: https://chatgpt.com", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: authorization,content-type"] }));
    assert.ok([200, 204].includes(asked.status));
    assert.equal(asked.headers["access-control-allow-origin"], "https://chatgpt.com");
    assert.ok(!("access-control-allow-credentials" in asked.headers));
    const reply = await raw(server, bytes(server, { headers: ["Origin: https://chatgpt.com"] }));
    assert.equal(reply.status, 401);
    assert.equal(reply.headers["access-control-allow-origin"], "https://chatgpt.com");
    assert.match(reply.headers["access-control-expose-headers"] ?? "", /www-authenticate/i);
    const evil = await raw(server, bytes(server, { method: "OPTIONS", headers: ["Origin: https://evil.example", "Access-Control-Request-Method: POST"] }));
    assert.equal(evil.status, 403);
    assert.ok(!("access-control-allow-origin" in evil.headers));
  });
});

describe("hosts", () => {
  const port = () => server.port;
  for (const make of [
    () => "evil.example", () => `evil.example:${port()}`, () => `localhost.evil.example:${port()}`, () => `127.0.0.1.nip.io:${port()}`, () => `localtest.me:${port()}`,
    () => `127.0.0.1@evil.example`, () => `127.0.0.1:${port()}@evil.example`, () => `evil.example#127.0.0.1`, () => `127.0.0.1, evil.example`, () => "0.0.0.0", () => `[::]:${port()}`,
    () => "", () => " ", () => ":", () => `:${port()}`, () => "127.0.0.1:", () => "127.0.0.1:99999", () => "127.0.0.1:x", () => "[::1", () => "::1", () => "[127.0.0.1]", () => "127.0.0.1 evil", () => "127.0.0.1/evil", () => "127.0.0.1\\evil",
    () => "lоcalhost".replace("о", "\u00ce\u00bf"), () => "localhost%00.evil.example", () => "annai.local", () => "host.docker.internal", () => "10.0.0.1", () => "169.254.169.254", () => "192.168.1.1",
  ]) {
    const shown = JSON.stringify(make.toString().slice(6));
    stands(`Host ${shown}`, "refused", () => ({ host: make() }));
  }
  // Other spellings of loopback: the resolver may accept them, no browser sends them for a foreign page.
  for (const host of ["127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "127.0.0.1.", "localhost.", "evil.localhost", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "LOCALHOST", "127.0.0.2", "[0:0:0:0:0:0:0:1]", "127.000.000.001"]) {
    test(`note: Host ${host}`, async (t) => t.diagnostic(`${host}: ${await standing({ host })}`));
  }
  stands("two Hosts, both ours", "refused", () => ({ host: [`127.0.0.1:${port()}`, `127.0.0.1:${port()}`] }));
  stands("two Hosts, ours first", "refused", () => ({ host: [`127.0.0.1:${port()}`, "evil.example"] }));
  stands("two Hosts, ours last", "refused", () => ({ host: ["evil.example", `127.0.0.1:${port()}`] }));
  stands("absolute form, ours", "owner", () => ({ target: `http://127.0.0.1:${port()}/mcp` }));
  stands("absolute form, foreign", "refused", { target: "http://evil.example/mcp" });
  stands("absolute form, ours, Host foreign", "refused", () => ({ target: `http://127.0.0.1:${port()}/mcp`, host: "evil.example" }));
  stands("absolute form, foreign, no Host", "refused", { target: "http://evil.example/mcp", host: null });
  stands("absolute form with a user", "not the owner", () => ({ target: `http://evil@127.0.0.1:${port()}/mcp` }));
  stands("absolute form with HTTP/1.0", "stranger", () => ({ target: `http://127.0.0.1:${port()}/mcp`, version: "HTTP/1.0" }));
  stands("absolute form, foreign, as a proxy would be asked", "refused", { target: "http://evil.example/mcp", host: "evil.example" });
  for (const target of ["//evil.example/mcp", "/mcp/", "/MCP", "/%6dcp", "/./mcp", "/x/../mcp", "//mcp", "/mcp;x", "mcp", "*", "/mcp%00", "\\mcp"]) {
    test(`${target} is no way in for strangers`, async () => {
      const reply = await raw(server, bytes(server, { target, headers: ["X-Forwarded-For: 1.1.1.1"] }));
      assert.ok([400, 401, 403, 404, 405, 0].includes(reply.status), `${reply.status}`);
      const shown = await raw(server, bytes(server, { method: "GET", target: target.replace(/mcp/i, "metrics"), headers: ["X-Forwarded-For: 1.1.1.1"] }));
      assert.ok([400, 401, 403, 404, 405, 0].includes(shown.status), `${shown.status}`);
    });
  }
  test("CONNECT and TRACE are nothing", async () => {
    for (const method of ["CONNECT", "TRACE"]) {
      for (const target of [`127.0.0.1:${server.port}`, "/mcp", "/metrics"]) {
        const reply = await raw(server, bytes(server, { method, target, headers: ["Authorization: Bearer secret-of-mine"] }));
        assert.notEqual(reply.status, 200);
        assert.ok(!(reply.text ?? "").includes("secret-of-mine"), "TRACE repeats the token");
      }
    }
  });
});

describe("settings", () => {
  const metricsToo = async (on, expected, requests = [{}]) => {
    for (const request of requests) assert.equal(await standing(request, on), expected, JSON.stringify(request));
  };
  const usual = (on) => [{}, { host: `localhost:${on.port}` }, { headers: [`Origin: http://localhost:${on.port}`] }, { headers: ["Origin: http://localhost:6274"] }, { headers: ["Sec-Fetch-Site: same-origin"] }];

  test("PUBLIC_URL ends loopback trust", async () => {
    for (const url of [PUBLIC, "http://127.0.0.1:9", "http://localhost"]) {
      const one = await own({ env: { PUBLIC_URL: url } });
      await metricsToo(one, "stranger", usual(one));
    }
  });
  test("PUBLIC_URL is a host, and only with its port", async () => {
    const one = await own({ env: { PUBLIC_URL: PUBLIC } });
    await metricsToo(one, "stranger", [{ host: "annai.example.test" }, { host: "ANNAI.example.test" }, { host: "annai.example.test", headers: [`Origin: ${PUBLIC}`] }]);
    await metricsToo(one, "refused", [{ host: "annai.example.test:8443" }, { host: "annai.example.test.evil.example" }, { host: "xannai.example.test" }]);
  });
  test("server.trust_loopback off, by environment and by file", async () => {
    const off = await own({ env: { ANNAI_TRUST_LOOPBACK: "false" } });
    await metricsToo(off, "stranger", usual(off));
    const folder = workspace();
    writeFileSync(join(folder, "c.yaml"), "server:\n  trust_loopback: false\n");
    const filed = await own({ folder, args: ["--config", join(folder, "c.yaml")] });
    await metricsToo(filed, "stranger", usual(filed));
    for (const value of ["0", "no", "off", "False", "FALSE"]) {
      // Either understood or refused at start; never taken for "on".
      const outcome = await start({ env: { ANNAI_TRUST_LOOPBACK: value } }).catch(() => null);
      if (!outcome) continue;
      servers.push(outcome);
      await metricsToo(outcome, "stranger");
    }
  });
  test("trusted_origins replaces the Inspector's", async () => {
    const one = await own({ env: { ANNAI_TRUSTED_ORIGINS: "http://localhost:5173,https://app.example.test" } });
    await metricsToo(one, "owner", [{ headers: ["Origin: http://localhost:5173"] }, { headers: ["Origin: https://app.example.test"] }, { headers: [`Origin: http://localhost:${one.port}`] }, {}]);
    await metricsToo(one, "stranger", [{ headers: ["Origin: http://localhost:6274"] }, { headers: ["Origin: http://127.0.0.1:5173"] }, { headers: ["Origin: https://localhost:5173"] }, { headers: ["Origin: https://chatgpt.com"] }]);
    await metricsToo(one, "refused", [{ headers: ["Origin: http://app.example.test"] }, { headers: ["Origin: https://app.example.test:8443"] }]);
  });
  test("no pattern is trusted", async () => {
    for (const value of ["*", "null", "http://localhost:*", "http://*", "https://", "localhost:5173"]) {
      const one = await start({ env: { ANNAI_TRUSTED_ORIGINS: value } }).catch((error) => error);
      if (one instanceof Error) {
        assert.match(one.message, /trusted_origins|TRUSTED_ORIGINS/);
        continue;
      }
      servers.push(one);
      for (const origin of ["https://chatgpt.com", "http://localhost:5173", "null", "https://evil.example"]) {
        const got = await standing({ headers: [`Origin: ${origin}`] }, one);
        assert.ok(["stranger", "refused"].includes(got), `${value}: ${origin} is ${got}`);
      }
    }
  });
  test("CORS_ALLOW_ORIGINS lets in, and trusts not", async () => {
    const one = await own({ env: { CORS_ALLOW_ORIGINS: "https://app.example.test", MCP_SERVER_URL: "https://mcp.example.test/mcp" } });
    await metricsToo(one, "stranger", [{ headers: ["Origin: https://app.example.test"] }, { headers: ["Origin: https://mcp.example.test"] }]);
  });
  test("bound beyond loopback", async () => {
    const one = await own({ address: "0.0.0.0:0" });
    await metricsToo(one, "stranger", usual(one));
    const address = Object.values(networkInterfaces()).flat().find((each) => each.family === "IPv4" && !each.internal)?.address;
    if (address) {
      for (const host of [`127.0.0.1:${one.port}`, `localhost:${one.port}`]) {
        assert.equal((await raw(one, bytes(one, { host }), { host: address })).status, 401, "a Host does not make a peer local");
      }
    }
    assert.notEqual(await until(() => one.lines.some((line) => line.includes('"warn"') && /clear|encrypt|TLS|https/i.test(line)), 30_000), null, `a warning that tokens travel in clear: ${one.log()}`);
  });
  test("bound to ::1", async (t) => {
    const one = await start({ address: "[::1]:0" }).catch((error) => error);
    if (one instanceof Error) return t.skip("no IPv6");
    servers.push(one);
    one.host = "::1";
    assert.equal(await standing({ host: `[::1]:${one.port}` }, one), "owner");
    assert.equal(await standing({ host: `[::1]:${one.port}`, headers: ["Via: x"] }, one), "stranger");
  });
  test("start-up says what loopback trust means behind a proxy", async () => {
    const sentence = "Loopback trust is on; behind a proxy every visitor is the owner. Set PUBLIC_URL or server.trust_loopback: false.";
    assert.notEqual(await until(() => server.log().includes(sentence), 30_000), null, server.log());
    const off = await own({ env: { ANNAI_TRUST_LOOPBACK: "false" } });
    await off.stop();
    assert.ok(!off.log().includes("Loopback trust is on"));
  });
  test("odd values of PUBLIC_URL do not turn trust on or crash", async () => {
    for (const value of ["annai.example.test", "ftp://a", "https://u:p@a.test", "https://", "https://a.test/?q", "https://a.test/#f", "javascript:alert(1)", 'https://a.test/"x']) {
      const outcome = await start({ env: { PUBLIC_URL: value } }).catch((error) => error);
      if (outcome instanceof Error) {
        assert.match(outcome.message, /public_url|PUBLIC_URL/);
        continue;
      }
      servers.push(outcome);
      await metricsToo(outcome, "stranger");
    }
  });
});

describe("metrics", () => {
  test("HEAD and other methods tell strangers nothing", async () => {
    for (const method of ["HEAD", "POST", "PUT", "DELETE", "OPTIONS"]) {
      const reply = await raw(server, bytes(server, { method, target: "/metrics", headers: ["X-Forwarded-For: 1"] }), { timeout: 1000 });
      assert.ok([401, 405].includes(reply.status), `${method}: ${reply.status}`);
      assert.ok(!/annai_/.test(reply.text));
    }
  });
  test("a stranger's 401 names the scope", async () => {
    const reply = await raw(server, bytes(server, { method: "GET", target: "/metrics", headers: ["X-Forwarded-For: 1"] }));
    assert.equal(reply.status, 401);
    assert.deepEqual(words(challenge(reply.headers["www-authenticate"]).scope), ["metrics.read"]);
  });
  test("with metrics.read, from anywhere; with others 403, also for the owner", async () => {
    const folder = workspace();
    const [reader, other] = [await newToken(folder, "prometheus", ["metrics.read"]), await newToken(folder, "ci", ["library.read"])];
    const one = await own({ folder });
    for (const headers of [[], ["X-Forwarded-For", "1"], ["Origin", "https://chatgpt.com"], ["Sec-Fetch-Site", "cross-site"]]) {
      assert.equal((await get(one, "/metrics", reader, headers)).status, 200, `${headers}`);
      assert.equal((await get(one, "/metrics", other, headers)).status, 403, `${headers}`);
      assert.equal((await read(one, { token: reader, headers })).status, 403);
      assert.equal((await read(one, { token: other, headers })).status, 200);
    }
    assert.equal((await raw(one, bytes(one, { method: "GET", target: "/metrics", version: "HTTP/1.0", headers: [`Authorization: Bearer ${reader}`] }))).status, 200, "HTTP/1.0 with a token");
  });
});

describe("well-known routes", () => {
  const PATHS = ["/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"];
  test("without an issuer: 404, in JSON", async () => {
    for (const on of [server, await own({ env: { PUBLIC_URL: PUBLIC } })]) {
      for (const path of [...PATHS, "/.well-known/oauth-authorization-server"]) {
        const reply = await get(on, path);
        assert.equal(reply.status, 404, path);
        assert.ok(reply.json?.error, reply.text);
      }
    }
  });
  test("without an issuer the challenge says whom to ask", async () => {
    const one = await own({ env: { PUBLIC_URL: PUBLIC } });
    for (const token of [undefined, "x.y.z", `annai_${"A".repeat(43)}`]) {
      const reply = await read(one, { token });
      assert.equal(reply.status, 401);
      const params = challenge(reply.headers["www-authenticate"]);
      assert.equal(params.resource_metadata, undefined);
      assert.equal(params.error, token && "invalid_token");
      assert.match(reply.text, /operator/i);
    }
  });
  test("with one: the documents", async () => {
    const issuer = await Issuer.start();
    issuer.keys = [makeKey("k")];
    const one = await own({ env: { PUBLIC_URL: `${PUBLIC}/`, OAUTH_ISSUER: issuer.url } });
    for (const headers of [[], ["Host", "annai.example.test"], ["X-Forwarded-Host", "evil.example"], ["X-Forwarded-Proto", "http"], ["Forwarded", "host=evil.example"], ["Origin", "https://chatgpt.com"], ["Host", "localhost:1"], ["Authorization", "Bearer bad"]]) {
      const [root, suffixed] = [await get(one, PATHS[0], undefined, headers), await get(one, PATHS[1], undefined, headers)];
      assert.equal(root.status, 200);
      assert.equal(root.json.resource, PUBLIC, "the canonical URI has no trailing slash");
      assert.equal(suffixed.json.resource, `${PUBLIC}/mcp`);
      for (const { json } of [root, suffixed]) {
        assert.deepEqual(json.authorization_servers, [issuer.url]);
        assert.deepEqual([...json.scopes_supported].sort(), ["library.read", "library.write"], "metrics.read is not listed");
        assert.deepEqual(json.bearer_methods_supported, ["header"]);
      }
      if (headers[0] === "Origin") assert.equal(root.headers["access-control-allow-origin"], "https://chatgpt.com");
    }
    for (const host of ["evil.example", "annai.example.test.evil.example"]) assert.equal((await get(one, PATHS[0], undefined, ["Host", host])).status, 403);
    for (const path of [`${PATHS[1]}/x`, `${PATHS[0]}/gpt`, "/.well-known/", "/.well-known/openid-configuration"]) assert.ok([404, 302, 307].includes((await get(one, path)).status), path);
    for (const path of PATHS) assert.equal((await request(one, { path, body: "{}" })).status, 405, "GET only");
    const redirect = await get(one, "/.well-known/oauth-authorization-server");
    assert.ok([302, 307].includes(redirect.status), `${redirect.status}`);
    assert.ok(redirect.headers.location.startsWith(`${issuer.url}/.well-known/`), redirect.headers.location);
    for (const path of ["/.well-known/oauth-authorization-server?next=https://evil.example", "/.well-known/oauth-authorization-server/mcp", "/.well-known/oauth-authorization-server//evil.example", "/.well-known/oauth-authorization-server/%0d%0aSet-Cookie:a=b"]) {
      const reply = await get(one, path);
      if (reply.headers.location) assert.ok(reply.headers.location.startsWith(`${issuer.url}/.well-known/`) && !reply.headers.location.includes("evil"), reply.headers.location);
      assert.ok(!("set-cookie" in reply.headers));
    }
    assert.equal(issuer.counts.discovery + issuer.counts.jwks, 0, "nobody asked the issuer for that");
    await issuer.down();
  });
  test("the Host that somebody sends stands in no reply", async () => {
    const issuer = await Issuer.start();
    const one = await own({ env: { OAUTH_ISSUER: issuer.url } });
    const base = `http://127.0.0.1:${one.port}`;
    const shown = await get(one, PATHS[1], undefined, ["Host", "localhost:4711", "X-Forwarded-Host", "evil.example"]);
    assert.equal(shown.json.resource, `${base}/mcp`);
    const reply = await read(one, { headers: ["Host", "localhost:4711", "X-Forwarded-Host", "evil.example"] });
    assert.equal(challenge(reply.headers["www-authenticate"]).resource_metadata, `${base}${PATHS[1]}`);
    await issuer.down();
  });
  test("an issuer does not end loopback trust, and anonymous strangers stay strangers", async () => {
    const issuer = await Issuer.start();
    const one = await own({ env: { OAUTH_ISSUER: issuer.url } });
    assert.equal(await standing({}, one), "owner");
    assert.equal(await standing({ headers: ["Via: 1.1 x"] }, one), "stranger");
    await issuer.down();
  });
});
