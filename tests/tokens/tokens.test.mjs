// Hostile access tokens against the real executable. Every refusal has a control: a token that differs only in what is
// wrong and is accepted. ANNAI names the executable.
import assert from "node:assert/strict";
import { createCipheriv, createHash, publicEncrypt, randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { METADATA, PUBLIC, RESOURCE, INITIALIZE, bytes, call, challenge, get, join, raw, read, refusedResult, request, rpc, rpcError, sleep, start, words, write } from "./annai.mjs";
import { Issuer, b64, jws, makeKey, publicKeyForms, signature, toBytes, toNumber, trap } from "./issuer.mjs";

const main = makeKey("rsa-main-7f3a91");
const p256 = makeKey("ec-256-c81e07", "ec");
const p384 = makeKey("ec-384-0be2d4", "ec", { namedCurve: "P-384" });
const ed = makeKey("ed-5e90ba", "ed25519");
const strict = makeKey("rsa-strict-44cd", "rsa", {}, { alg: "RS256", key_ops: ["verify"] });
const cubic = makeKey("rsa-e3-9d02", "rsa", { publicExponent: 3 });
const weak = makeKey("rsa-1024-1a", "rsa", { modulusLength: 1024 });
/** The numbers of a JWK with zeros in front, which some issuers write. */
const zeros = (key, kid, bytes) => ({ ...key, kid, jwk: { ...key.jwk, kid, n: b64(Buffer.concat([Buffer.alloc(bytes), Buffer.from(key.jwk.n, "base64url")])) } });
const padded = zeros(main, "rsa-zero-0c", 1);
const weakPadded = zeros(weak, "rsa-1024-in-2048-0d", 128);
const almost = makeKey("rsa-2040-1b", "rsa", { modulusLength: 2040 });
const forEncryption = makeKey("rsa-enc-1c", "rsa", {}, { use: "enc" });
const opsEncrypt = makeKey("rsa-ops-encrypt-1d", "rsa", {}, { use: undefined, key_ops: ["encrypt", "wrapKey"] });
const opsSign = makeKey("rsa-ops-sign-1e", "rsa", {}, { key_ops: ["sign"] });
const opsNone = makeKey("rsa-ops-none-1f", "rsa", {}, { use: undefined, key_ops: [] });
const otherAlg = makeKey("rsa-alg-rs512-2a", "rsa", {}, { alg: "RS512" });
const oaepAlg = makeKey("rsa-alg-oaep-2b", "rsa", {}, { alg: "RSA-OAEP" });
const hmacAlg = makeKey("rsa-alg-hs256-2c", "rsa", {}, { alg: "HS256" });
const k1 = makeKey("ec-k1-2d", "ec", { namedCurve: "secp256k1" });
const secret = randomBytes(32);
const symmetric = { kid: "oct-2e", jwk: { kty: "oct", k: b64(secret), kid: "oct-2e", use: "sig", alg: "HS256" } };
const nameless = makeKey("nameless", "rsa", {}, { kid: undefined });
const attacker = makeKey(main.kid);
const attackerEc = makeKey(p256.kid, "ec");
const published = [
  main, padded, weakPadded, p256, p384, ed, strict, cubic, weak, almost, forEncryption, opsEncrypt, opsSign, opsNone, otherAlg, oaepAlg, hmacAlg, k1,
  symmetric, nameless,
];

let issuer, server, trusted, lure;
const servers = [];
const own = async (options) => {
  const one = await start(options);
  servers.push(one);
  return one;
};

before(async () => {
  issuer = await Issuer.start();
  issuer.keys = published;
  lure = await trap([attacker, attackerEc]);
  server = await own({ env: { OAUTH_ISSUER: issuer.url, PUBLIC_URL: PUBLIC } });
  // The same under loopback trust: there, too, a token that is sent decides.
  trusted = await own({ env: { OAUTH_ISSUER: issuer.url, AUTH0_AUDIENCE: RESOURCE } });
});
after(async () => {
  await Promise.all(servers.map((each) => each.stop()));
  for (const each of servers) assert.ok(!each.log().includes('"panic"'), each.log());
  await issuer.down();
  lure.close();
});

const claims = (change) => issuer.claims(RESOURCE, change);
const good = (change, options) => jws(main, claims(change), options);
/** JSON text of claims whose last members are given as text. */
const rawClaims = (change, members) => `${JSON.stringify(claims(change)).slice(0, -1)},${members}}`;
const rawHeader = (members) => `{"alg":"RS256","kid":"${main.kid}",${members}}`;

async function accepted(token, on = server) {
  const reply = await read(on, { token });
  assert.equal(reply.status, 200, `${reply.headers["www-authenticate"]} ${reply.text}`);
  assert.equal(reply.json.result.structuredContent.items[0].manual_id, "guide");
}

/** Nothing in a reply tells a forger what to do better. */
function tellsNothing(reply, authorization) {
  const said = `${reply.all}\n${reply.text}`;
  for (const { kid, jwk } of published) {
    if (kid !== "nameless") assert.ok(!said.includes(kid), `the reply names the key ${kid}: ${said}`);
    if (jwk.n) assert.ok(!said.includes(jwk.n));
  }
  for (const part of authorization.flatMap((value) => value.split(/[.\s]/)).filter((part) => part.length > 24)) {
    assert.ok(!said.includes(part), `the reply repeats the token: ${said}`);
  }
}

function bad401(reply, authorization, { error = "invalid_token" } = {}) {
  assert.equal(reply.status, 401, `${reply.headers["www-authenticate"]} ${reply.text}`);
  const params = challenge(reply.headers["www-authenticate"]);
  if (error) assert.equal(params.error, error);
  assert.equal(params.resource_metadata, METADATA);
  tellsNothing(reply, authorization);
  return params;
}

let turn = 0;
/** `authorization`: the values of the Authorization headers. */
async function refused(authorization, options) {
  const headers = authorization.flatMap((value) => ["Authorization", value]);
  turn += 1;
  const id = turn % 2 ? turn : `call-${turn}-"é`;
  const called = await call(server, "manual_list", {}, { headers, id });
  bad401(called, authorization, options);
  refusedResult(called, "invalid_token");
  for (const [method, params] of [["tools/list"], ["initialize", INITIALIZE], ["ping"], ["no/such/method"]]) {
    const reply = await rpc(server, method, params, { headers });
    bad401(reply, authorization, options);
    rpcError(reply);
  }
  for (const [method, path] of [["GET", "/mcp"], ["DELETE", "/mcp"], ["GET", "/metrics"]]) {
    bad401(await request(server, { method, path, headers }), authorization, options);
  }
  const local = await call(trusted, "manual_list", {}, { headers, id });
  assert.equal(local.status, 401, `under loopback trust: ${local.text}`);
  refusedResult(local, "invalid_token");
  assert.equal((await request(trusted, { method: "GET", path: "/metrics", headers })).status, 401, "metrics under loopback trust");
}

const refusedToken = (token, options) => refused([`Bearer ${token}`], options);

/** Each case: its name and what makes the token. */
function refuses(cases) {
  for (const [name, make, options] of cases) test(name, async () => refusedToken(await make(), options));
}

function accepts(cases) {
  for (const [name, make] of cases) {
    test(name, async () => {
      await accepted(await make());
      await accepted(await make(), trusted);
    });
  }
}

/** What no sentence of the specification decides: the suite says what happens, and only crashes fail. */
function notes(cases) {
  for (const [name, make] of cases) {
    test(`note: ${name}`, async (t) => {
      const reply = await read(server, { token: await make() });
      t.diagnostic(`${name}: ${reply.status} ${reply.headers["www-authenticate"] ?? ""}`);
      assert.ok([200, 401, 403].includes(reply.status), `${reply.status} ${reply.text}`);
    });
  }
}

describe("controls: every algorithm that a signature may have", () => {
  accepts([
    ["RS256", () => good()],
    ["RS384", () => good({}, { alg: "RS384" })],
    ["RS512", () => good({}, { alg: "RS512" })],
    ["PS256", () => good({}, { alg: "PS256" })],
    ["PS384", () => good({}, { alg: "PS384" })],
    ["PS512", () => good({}, { alg: "PS512" })],
    ["ES256", () => jws(p256, claims(), { alg: "ES256" })],
    ["ES384", () => jws(p384, claims(), { alg: "ES384" })],
    ["EdDSA", () => jws(ed, claims(), { alg: "EdDSA" })],
    ["a key whose modulus is written with a zero in front", () => jws(padded, claims())],
    ["a key with alg and key_ops", () => jws(strict, claims())],
    ["typ JWT", () => good({}, { header: { typ: "JWT" } })],
    ["typ application/at+jwt", () => good({}, { header: { typ: "application/at+jwt" } })],
    ["no typ", () => good({}, { header: { typ: undefined } })],
    ["more claims than anybody reads", () => good({ roles: ["a"], "https://example.com/x": { y: [1, null] }, email: "a@example.com" })],
  ]);
  notes([["RSA with exponent 3", () => jws(cubic, claims())]]);
});

describe("alg none", () => {
  const unsigned = (alg, end = "") => `${b64(JSON.stringify({ alg, kid: main.kid, typ: "JWT" }))}.${b64(JSON.stringify(claims()))}.${end}`;
  const spellings = ["none", "None", "NONE", "nOnE", "none ", " none", "none\u0000", "", null, 0, false, ["RS256"], ["none"], { alg: "RS256" }, undefined];
  refuses(spellings.map((alg) => [`${JSON.stringify(alg)}, no signature`, () => unsigned(alg)]));
  refuses(spellings.map((alg) => [`${JSON.stringify(alg)}, a good signature over it`, () => good({}, { header: { alg }, as: "RS256" })]));
  refuses([
    ["no signature and no dot", () => unsigned("none").slice(0, -1)],
    ["RS256 without signature", () => unsigned("RS256")],
    ["the signature of another token", () => unsigned("none", good().split(".")[2])],
    ["no kid either", () => `${b64('{"alg":"none"}')}.${b64(JSON.stringify(claims()))}.`],
    ["alg in small letters", () => good({}, { header: { alg: "rs256" }, as: "RS256" })],
    ["unknown alg", () => good({}, { header: { alg: "XX256" }, as: "RS256" })],
    ["RS1", () => good({}, { header: { alg: "RS1" }, as: "RS256" })],
    ["ES256K", () => jws(k1, claims(), { header: { alg: "ES256K" }, as: "ES256" })],
    ["ES256 with a secp256k1 key", () => jws(k1, claims(), { alg: "ES256" })],
    ["dir", () => good({}, { header: { alg: "dir" }, as: "RS256" })],
  ]);
});

describe("HMAC with what everybody knows", () => {
  const forms = publicKeyForms(main);
  for (const alg of ["HS256", "HS384", "HS512"]) {
    refuses(Object.entries(forms).map(([name, key]) => [`${alg}, ${name}`, () => good({}, { alg, secret: key })]));
  }
  refuses([
    ["HS256 mac under a header that says RS256", () => good({}, { alg: "RS256", as: "HS256", secret: forms["spki PEM"] })],
    ["a symmetric key that the issuer published", () => jws(symmetric, claims(), { alg: "HS256", secret })],
    ["an RSA key that says HS256", () => jws(hmacAlg, claims(), { alg: "HS256", secret: hmacAlg.jwk.n })],
    ["the EC key's PEM", () => jws(p256, claims(), { alg: "HS256", secret: p256.publicKey.export({ type: "spki", format: "pem" }) })],
    ["the Ed25519 key's x", () => jws(ed, claims(), { alg: "HS256", secret: Buffer.from(ed.jwk.x, "base64url") })],
    ["a kid that leads to an empty file", () => good({}, { alg: "HS256", header: { kid: "../../../../../../dev/null" }, secret: "" })],
  ]);
});

describe("the wrong key", () => {
  refuses([
    ["another RSA key under the same kid", () => jws(attacker, claims())],
    ["another EC key under the same kid", () => jws(attackerEc, claims(), { alg: "ES256" })],
    ["an Ed25519 key under the RSA key's kid", () => jws({ ...ed, kid: main.kid }, claims(), { alg: "EdDSA" })],
    ["the right key under another one's kid", () => good({}, { header: { kid: p256.kid } })],
    ["the right key under an unknown kid", () => good({}, { header: { kid: "who" } })],
    ["missing kid", () => good({}, { header: { kid: undefined } })],
    ["missing kid, and the key has none either", () => jws(nameless, claims(), { header: { kid: undefined } })],
    ["empty kid", () => good({}, { header: { kid: "" } })],
    ["empty kid for the key that has none", () => jws(nameless, claims(), { header: { kid: "" } })],
    ...[null, 7, true, [main.kid], { kid: main.kid }, [], {}].map((kid) => [`kid ${JSON.stringify(kid).slice(0, 20)}`, () => good({}, { header: { kid } })]),
    ["kid null for the key that has none", () => jws(nameless, claims(), { header: { kid: null } })],
    ["kid \"undefined\"", () => jws(nameless, claims(), { header: { kid: "undefined" } })],
    ["kid with other case", () => good({}, { header: { kid: main.kid.toUpperCase() } })],
    ["kid with a space behind", () => good({}, { header: { kid: `${main.kid} ` } })],
    ["kid with NUL", () => good({}, { header: { kid: `${main.kid}\u0000` } })],
    ["kid with a path", () => good({}, { header: { kid: `../${main.kid}` } })],
    ["kid with SQL", () => good({}, { header: { kid: "' UNION SELECT 'key" } })],
    ["kid of 20,000 characters", () => good({}, { header: { kid: "k".repeat(20000) } })],
    ["kid with a line break", () => good({}, { header: { kid: 'a\r\nSet-Cookie: b=c\r\n"' } })],
    ["use=enc", () => jws(forEncryption, claims())],
    ["key_ops encrypt", () => jws(opsEncrypt, claims())],
    ["key_ops sign, not verify", () => jws(opsSign, claims())],
    ["key_ops empty", () => jws(opsNone, claims())],
    ["the key's alg is RS512, the token's RS256", () => jws(otherAlg, claims())],
    ["the key's alg is RS256, the token's PS256", () => jws(strict, claims(), { alg: "PS256" })],
    ["the key's alg is RSA-OAEP", () => jws(oaepAlg, claims())],
    ["the key's alg is HS256", () => jws(hmacAlg, claims())],
    ["RSA 1024", () => jws(weak, claims())],
    ["RSA 1024, PS256", () => jws(weak, claims(), { alg: "PS256" })],
    ["RSA 1024, written as 2048", () => jws(weakPadded, claims())],
    ["RSA 2040", () => jws(almost, claims())],
    ["RS256 for an EC key", () => jws({ ...main, kid: p256.kid }, claims())],
    ["ES256 for an RSA key", () => jws({ ...p256, kid: main.kid }, claims(), { alg: "ES256" })],
    ["ES256 for a P-384 key", () => jws(p384, claims(), { alg: "ES256" })],
    ["ES384 for a P-256 key", () => jws(p256, claims(), { alg: "ES384" })],
    ["EdDSA for an EC key", () => jws({ ...ed, kid: p256.kid }, claims(), { alg: "EdDSA" })],
  ]);
  accepts([["control: the key's alg is RS512, and so is the token's", () => jws(otherAlg, claims(), { alg: "RS512" })]]);
});

describe("a token that brings its key", () => {
  const embedded = () => ({ ...attacker.jwk, kid: main.kid });
  const withHeader = (header, key = attacker) => jws(key, claims(), { header });
  refuses([
    ["jku", () => withHeader({ jku: `${lure.url}/jku` })],
    ["jku, and a kid that is only there", () => withHeader({ jku: `${lure.url}/jku`, kid: "evil" })],
    ["jku that starts like the issuer", () => withHeader({ jku: `${issuer.url}@${new URL(lure.url).host}/jku` })],
    ["jku to a file", () => withHeader({ jku: "file:///etc/passwd" })],
    ["x5u", () => withHeader({ x5u: `${lure.url}/x5u` })],
    ["jwk", () => withHeader({ jwk: embedded() })],
    ["jwk without kid", () => withHeader({ jwk: embedded(), kid: undefined })],
    ["x5c", () => withHeader({ x5c: [attacker.publicKey.export({ type: "spki", format: "der" }).toString("base64")] })],
    ["kid is a URL", () => withHeader({ kid: `${lure.url}/kid` })],
    ["iss is the attacker's", () => jws(attacker, claims({ iss: lure.url }))],
    ["all of them", () => withHeader({ jku: `${lure.url}/a`, x5u: `${lure.url}/b`, jwk: embedded(), x5t: "x" })],
  ]);
  notes([["jku of the issuer itself, good signature", () => withHeader({ jku: `${issuer.base}/jwks` }, main)]]);
  test("a good token with a jku: nobody asks", async () => {
    const reply = await read(server, { token: withHeader({ jku: `${lure.url}/good`, x5u: `${lure.url}/good` }, main) });
    assert.ok([200, 401].includes(reply.status));
    assert.deepEqual(lure.asked, []);
  });
  test("nobody asked the servers that tokens named", () => assert.deepEqual(lure.asked, []));
});

describe("crit", () => {
  refuses([
    ["unknown", () => good({}, { header: { crit: ["http://example.com/x"], "http://example.com/x": true } })],
    ["exp", () => good({}, { header: { crit: ["exp"], exp: 1 } })],
    ["b64", () => good({}, { header: { crit: ["b64"], b64: true } })],
    ["b64 false", () => good({}, { header: { crit: ["b64"], b64: false } })],
    ["names nothing that is there", () => good({}, { header: { crit: ["missing"] } })],
    ["alg", () => good({}, { header: { crit: ["alg"] } })],
    ["empty list", () => good({}, { header: { crit: [] } })],
    ["a string", () => good({}, { header: { crit: "exp" } })],
    ["null", () => good({}, { header: { crit: null } })],
    ["an object", () => good({}, { header: { crit: {} } })],
  ]);
});

describe("time", () => {
  const now = () => Math.ceil(Date.now() / 1000);
  refuses([
    ["expired an hour ago", () => good({ exp: now() - 3600 })],
    ["expired 62 s ago", () => good({ exp: now() - 63 })],
    ["expired in 1970", () => good({ exp: 0 })],
    ["exp negative", () => good({ exp: -1 })],
    ["not valid for 61 s", () => good({ nbf: now() + 61 })],
    ["not valid for a day", () => good({ nbf: now() + 86400 })],
    ["nbf huge", () => good({ nbf: 1e18 })],
    ["nbf beyond 64 bits", () => jws(main, rawClaims({}, '"nbf":18446744073709551616'))],
    ["nbf 1e300", () => jws(main, rawClaims({}, '"nbf":1e300'))],
    ["nbf a string of the past", () => good({ nbf: "1" })],
    ["nbf a string", () => good({ nbf: "tomorrow" })],
    ["no exp", () => good({ exp: undefined })],
    ["exp null", () => good({ exp: null })],
    ["exp a string", () => good({ exp: "9999999999" })],
    ["exp true", () => good({ exp: true })],
    ["exp a list", () => good({ exp: [9999999999] })],
    ["exp an object", () => good({ exp: {} })],
    ["exp NaN", () => jws(main, rawClaims({ exp: undefined }, '"exp":NaN'))],
    ["exp Infinity", () => jws(main, rawClaims({ exp: undefined }, '"exp":Infinity'))],
    ["exp 1e400", () => jws(main, rawClaims({ exp: undefined }, '"exp":1e400'))],
    ["exp 1e300", () => jws(main, rawClaims({ exp: undefined }, '"exp":1e300'))],
    ["exp 2^64", () => jws(main, rawClaims({ exp: undefined }, '"exp":18446744073709551616'))],
    ["exp -2^63", () => jws(main, rawClaims({ exp: undefined }, '"exp":-9223372036854775808'))],
  ]);
  accepts([
    ["control: valid in 50 s", () => good({ nbf: now() + 50 })],
    ["control: expires in 30 s", () => good({ exp: now() + 30 })],
    ["control: nbf long ago", () => good({ nbf: 1 })],
  ]);
  notes([
    ["expired 30 s ago (the leeway is written behind nbf only)", () => good({ exp: now() - 30 })],
    ["exp with a fraction", () => good({ exp: now() + 100.5 })],
    ["exp 2^53", () => good({ exp: 2 ** 53 })],
    ["exp 2^63-1", () => jws(main, rawClaims({ exp: undefined }, '"exp":9223372036854775807'))],
    ["exp 2^64-1", () => jws(main, rawClaims({ exp: undefined }, '"exp":18446744073709551615'))],
    ["nbf null", () => good({ nbf: null })],
    ["nbf -1", () => good({ nbf: -1 })],
    ["issued tomorrow", () => good({ iat: now() + 86400 })],
    ["iat a string", () => good({ iat: "now" })],
  ]);
  test("a token ends when it expires, however often it was accepted before", async (t) => {
    // One that ends without leeway and one that ends with a leeway of 60 s. Elapsed time is what is tested; ten seconds are
    // enough for the first calls on a busy machine too.
    const [plain, lenient] = [good({ exp: now() + 10 }), good({ exp: now() - 50 })];
    for (let times = 0; times < 5; times += 1) assert.equal((await read(server, { token: plain })).status, 200);
    const late = (await read(server, { token: lenient })).status;
    t.diagnostic(`50 s after exp: ${late}`);
    await sleep(12_200);
    assert.equal((await read(server, { token: lenient })).status, 401, "62 s after exp");
    const soon = (await read(server, { token: plain })).status;
    t.diagnostic(`2 s after exp: ${soon}`);
    assert.equal(soon, late === 200 ? 200 : 401);
  });
});

describe("audience", () => {
  refuses([
    ["another one", () => good({ aud: "https://other.example.test" })],
    ["missing", () => good({ aud: undefined })],
    ["null", () => good({ aud: null })],
    ["empty", () => good({ aud: "" })],
    ["a slash", () => good({ aud: "/" })],
    ["empty list", () => good({ aud: [] })],
    ["a list of others", () => good({ aud: ["https://other.example.test", "x"] })],
    ["a list of empties", () => good({ aud: ["", "/"] })],
    ["a nested list", () => good({ aud: [[RESOURCE]] })],
    ["a number", () => good({ aud: 1 })],
    ["an object", () => good({ aud: { [RESOURCE]: true } })],
    ["our host with more behind", () => good({ aud: `${PUBLIC}.evil.test/mcp` })],
    ["our resource with more behind", () => good({ aud: `${RESOURCE}/other` })],
    ["our resource with a query", () => good({ aud: `${RESOURCE}?a=b` })],
    ["our resource with a fragment", () => good({ aud: `${RESOURCE}#a` })],
    ["our resource with a space", () => good({ aud: `${RESOURCE} ` })],
    ["both in one string", () => good({ aud: `${RESOURCE} https://other.example.test` })],
    ["http", () => good({ aud: RESOURCE.replace("https", "http") })],
    ["without scheme", () => good({ aud: "annai.example.test/mcp" })],
    ["path in capitals", () => good({ aud: `${PUBLIC}/MCP` })],
    ["a path on the same host", () => good({ aud: `${PUBLIC}/gpt` })],
    ["the address that it is bound to", () => good({ aud: `http://127.0.0.1:${server.port}/mcp` })],
    ["the client's id", () => good({ aud: "client-1", client_id: "client-1", azp: RESOURCE })],
    ["resource instead of aud", () => good({ aud: undefined, resource: RESOURCE })],
  ]);
  const list = (aud) => async () => accepted(good({ aud }));
  test("control: the suffixed resource", list(RESOURCE));
  test("control: the root resource", list(PUBLIC));
  test("control: a trailing slash is ignored", list(`${PUBLIC}/`));
  test("control: a trailing slash is ignored, suffixed", list(`${RESOURCE}/`));
  test("control: one of a list", list(["https://other.example.test/userinfo", RESOURCE]));
  notes([
    ["two trailing slashes", () => good({ aud: `${RESOURCE}//` })],
    ["host in capitals", () => good({ aud: "https://ANNAI.example.test/mcp" })],
    ["with the default port", () => good({ aud: "https://annai.example.test:443/mcp" })],
    ["a list with a number in it", () => good({ aud: [RESOURCE, 1] })],
  ]);
  test("AUTH0_AUDIENCE replaces the resources", async () => {
    const one = await own({ env: { OAUTH_ISSUER: issuer.url, PUBLIC_URL: PUBLIC, AUTH0_AUDIENCE: "urn:annai:api" } });
    await accepted(good({ aud: "urn:annai:api" }), one);
    await accepted(good({ aud: ["x", "urn:annai:api"] }), one);
    for (const aud of [RESOURCE, PUBLIC, "urn:annai:apiX", "urn:annai:ap", "URN:ANNAI:API", ""]) {
      assert.equal((await read(one, { token: good({ aud }) })).status, 401, aud);
    }
  });
  test("an empty AUTH0_AUDIENCE is none", async () => {
    for (const value of ["", " ", "/"]) {
      const one = await own({ env: { OAUTH_ISSUER: issuer.url, PUBLIC_URL: PUBLIC, AUTH0_AUDIENCE: value } }).catch(() => null);
      for (const aud of ["", "/", " ", [""], "//"]) if (one) assert.equal((await read(one, { token: good({ aud }) })).status, 401, `${JSON.stringify(value)}: ${JSON.stringify(aud)}`);
    }
  });
  test("without PUBLIC_URL the resources are those of the bound address", async () => {
    const one = await own({ env: { OAUTH_ISSUER: issuer.url, ANNAI_TRUST_LOOPBACK: "false" } });
    const base = `http://127.0.0.1:${one.port}`;
    await accepted(good({ aud: base }), one);
    await accepted(good({ aud: `${base}/mcp` }), one);
    for (const aud of [RESOURCE, `http://localhost:${one.port}/mcp`.replace("localhost", "evil.test"), "http://127.0.0.1/mcp", `http://127.0.0.1:${one.port + 1}/mcp`]) {
      assert.equal((await read(one, { token: good({ aud }) })).status, 401, aud);
    }
  });
});

describe("issuer and subject", () => {
  refuses([
    ["another issuer", () => good({ iss: "https://issuer.example.test" })],
    ["missing", () => good({ iss: undefined })],
    ["null", () => good({ iss: null })],
    ["empty", () => good({ iss: "" })],
    ["a list", () => good({ iss: [issuer.url] })],
    ["with more behind", () => good({ iss: `${issuer.url}.evil.test` })],
    ["a path below", () => good({ iss: `${issuer.url}/tenant` })],
    ["as user name", () => good({ iss: `${issuer.url}@evil.test` })],
    ["with a space", () => good({ iss: `${issuer.url} ` })],
    ["https instead of http", () => good({ iss: issuer.url.replace("http:", "https:") })],
    ["another port", () => good({ iss: `http://127.0.0.1:${issuer.port + 1}` })],
    ["localhost instead of 127.0.0.1", () => good({ iss: issuer.url.replace("127.0.0.1", "localhost") })],
    ["that of static tokens", () => good({ iss: "annai:token" })],
    ["that of the development user", () => good({ iss: "annai:dev" })],
    ["no subject", () => good({ sub: undefined })],
    ["subject null", () => good({ sub: null })],
    ["empty subject", () => good({ sub: "" })],
    ["subject a number", () => good({ sub: 7 })],
    ["subject a list", () => good({ sub: ["user-1"] })],
  ]);
  notes([["with a trailing slash that the issuer has not", () => good({ iss: `${issuer.url}/` })]]);
  test("an issuer with a trailing slash", async (t) => {
    const slashed = await Issuer.start("/");
    slashed.keys = [main];
    const one = await own({ env: { OAUTH_ISSUER: slashed.url, PUBLIC_URL: PUBLIC } });
    await accepted(jws(main, slashed.claims(RESOURCE)), one);
    const bare = await read(one, { token: jws(main, slashed.claims(RESOURCE, { iss: slashed.base })) });
    t.diagnostic(`its tokens without the slash: ${bare.status}`);
    assert.equal((await read(one, { token: good() })).status, 401, "another issuer's token");
    await slashed.down();
  });
  test("an issuer with a path", async () => {
    const realm = await Issuer.start("/realms/a");
    realm.keys = [main];
    const one = await own({ env: { OAUTH_ISSUER: realm.url, PUBLIC_URL: PUBLIC } });
    await accepted(jws(main, realm.claims(RESOURCE)), one);
    for (const iss of [realm.base, `${realm.base}/realms/b`, `${realm.base}/realms`, `${realm.url}/b`]) {
      assert.equal((await read(one, { token: jws(main, realm.claims(RESOURCE, { iss })) })).status, 401, iss);
    }
    await realm.down();
  });
});

describe("tokens for other purposes", () => {
  refuses([
    ["an ID token: nonce", () => good({ nonce: "n-0S6_WzA2Mj" })],
    ["an ID token: empty nonce", () => good({ nonce: "" })],
    ["an ID token: at_hash", () => good({ at_hash: "77QmUPtjPfzWtF2AnpK9RQ" })],
    ["an ID token: c_hash", () => good({ c_hash: "LDktKdoQak3Pk0cnXxCltA" })],
    ["an ID token: all three, typ JWT", () => good({ nonce: "n", at_hash: "a", c_hash: "c" }, { header: { typ: "JWT" } })],
    ["an ID token: the claim's name with an escape", () => jws(main, rawClaims({}, '"n\\u006fnce":"x"'))],
  ]);
  notes([
    ["nonce null", () => good({ nonce: null })],
    ["typ logout+jwt", () => good({}, { header: { typ: "logout+jwt" } })],
    ["typ dpop+jwt", () => good({}, { header: { typ: "dpop+jwt" } })],
    ["typ secevent+jwt", () => good({}, { header: { typ: "secevent+jwt" } })],
    ["typ JWE", () => good({}, { header: { typ: "JWE" } })],
    ["typ a number", () => good({}, { header: { typ: 5 } })],
    ["cty JWT", () => good({}, { header: { cty: "JWT" } })],
    ["zip DEF", () => good({}, { header: { zip: "DEF" } })],
    ["a token bound to a key (cnf.jkt), sent as bearer", () => good({ cnf: { jkt: "x" } })],
    ["email_verified false", () => good({ email: "a@example.com", email_verified: false })],
  ]);
});

describe("scopes", () => {
  const LIST = { scope: undefined };
  accepts([
    ["scope as a string", () => good({ scope: "openid library.read profile" })],
    ["scope as a list", () => good({ scope: ["openid", "library.read"] })],
    ["scopes as a string", () => good({ ...LIST, scopes: "openid library.read" })],
    ["scopes as a list", () => good({ ...LIST, scopes: ["library.read"] })],
    ["permissions as a list", () => good({ ...LIST, permissions: ["library.read"] })],
    ["permissions as a string", () => good({ ...LIST, permissions: "library.read x" })],
  ]);
  /** 403, and the scope that would do: the token's own and the tool's. */
  async function lacks(token, wanted, tool = "library.read") {
    for (const on of [server, trusted]) {
      const reply = tool === "library.write" ? await write(on, "never.md", { token }) : await read(on, { token });
      assert.equal(reply.status, 403, reply.text);
      const params = challenge(reply.headers["www-authenticate"]);
      assert.equal(params.error, "insufficient_scope");
      if (on === server) assert.equal(params.resource_metadata, METADATA);
      assert.deepEqual(words(params.scope), [...wanted].sort());
      assert.deepEqual(words(refusedResult(reply, "insufficient_scope").scope), [...wanted].sort());
      assert.ok(!existsSync(join(on.folder, "vault/never.md")), "nothing was written");
    }
  }
  const missing = [
    ["none at all", { scope: undefined }, []],
    ["empty", { scope: "" }, []],
    ["others", { scope: "answers.use profile" }, ["answers.use", "profile"]],
    ["others, as permissions", { scope: undefined, permissions: ["answers.use"] }, ["answers.use"]],
    ["write only", { scope: "library.write" }, ["library.write"]],
    ["a longer name", { scope: "library.readx" }, ["library.readx"]],
    ["a shorter name", { scope: "library.rea library" }, ["library.rea", "library"]],
    ["in capitals", { scope: "LIBRARY.READ" }, ["LIBRARY.READ"]],
    ["a pattern", { scope: "library.* *" }, ["library.*", "*"]],
    ["a list in a string", { scope: "library.read,library.write" }, ["library.read,library.write"]],
    ["with a namespace", { scope: `${RESOURCE}/library.read` }, [`${RESOURCE}/library.read`]],
  ];
  for (const [name, change, own] of missing) test(`lacking: ${name}`, () => lacks(good(change), [...own, "library.read"]));
  test("lacking: read does not write", () => lacks(good(), ["library.read", "library.write"], "library.write"));
  for (const scope of [7, true, null, { "library.read": true }, [["library.read"]], [7], [{ scope: "library.read" }]]) {
    test(`of the wrong type: ${JSON.stringify(scope)}`, async () => {
      const reply = await read(server, { token: good({ scope }) });
      assert.ok([401, 403].includes(reply.status), `${reply.status} ${reply.text}`);
    });
  }
  // The token's scopes are repeated in a header: what stands in them must not end it.
  for (const scope of [
    ['a", error="none'], ["a\r\nSet-Cookie: b=c"], ["a\nb"], ["\u0000"], ["案内"], ["back\\slash"], ["a b"], ["\t"], ["x".repeat(9000)],
    Array.from({ length: 3000 }, (_, n) => `s${n}`), 'quote" scope', "\u00a0 \u2003x",
  ]) {
    test(`that would break the header: ${JSON.stringify(scope).slice(0, 30)}`, async () => {
      const reply = await read(server, { token: good({ scope }) });
      assert.ok([401, 403].includes(reply.status), `${reply.status} ${reply.text}`);
      assert.ok(!("set-cookie" in reply.headers));
      const params = challenge(reply.headers["www-authenticate"]);
      assert.ok(["insufficient_scope", "invalid_token"].includes(params.error), params.error);
      if (reply.status === 403) {
        for (const word of words(params.scope)) assert.match(word, /^[\x21\x23-\x5b\x5d-\x7e]+$/, "an RFC 6749 scope-token");
        assert.ok(words(params.scope).includes("library.read"));
        assert.ok(reply.headers["www-authenticate"].length < 16384, "clients read a limited head");
        refusedResult(reply, "insufficient_scope");
      }
    });
  }
  notes([
    ["scp, as Azure has it", () => good({ scope: undefined, scp: "library.read" })],
    ["separated by a tab", () => good({ scope: "openid\tlibrary.read" })],
    ["separated by a line break", () => good({ scope: "openid\nlibrary.read" })],
    ["scope without and permissions with it", () => good({ scope: "openid", permissions: ["library.read"] })],
    ["a list with a number", () => good({ scope: ["library.read", 7] })],
  ]);
  test("the list shows what the token may call", async () => {
    const names = async (scope, on = server) => (await rpc(on, "tools/list", undefined, { token: good({ scope }) })).json.result.tools.map((tool) => tool.name);
    for (const on of [server, trusted]) {
      assert.ok((await names("library.read", on)).includes("manual_list"));
      assert.ok(!(await names("library.read", on)).includes("vault_create"));
      assert.ok((await names("library.read library.write", on)).includes("vault_create"));
      assert.deepEqual(await names("openid", on), []);
    }
  });
  test("completion tells nothing to who may read nothing", async () => {
    const complete = async (scope, argument, context) => (await rpc(server, "completion/complete", { ref: { type: "ref/prompt", name: "x" }, argument: { name: argument, value: "" }, ...(context && { context: { arguments: context } }) }, { token: good({ scope }) })).json.result?.completion.values;
    assert.deepEqual(await complete("library.read", "manual_id"), ["guide"], "control");
    assert.deepEqual(await complete("library.read", "path", { manual_id: "guide" }), ["limits.md"], "control");
    for (const scope of ["openid", "", "metrics.read", "answers.use", "library.write"]) {
      assert.deepEqual((await complete(scope, "manual_id")) ?? [], [], scope);
      assert.deepEqual((await complete(scope, "path", { manual_id: "guide" })) ?? [], [], scope);
      assert.deepEqual((await complete(scope, "path")) ?? [], [], scope);
    }
  });
  test("initialize and the lists tell nothing to who may call nothing", async () => {
    for (const [method, params] of [["initialize", INITIALIZE], ["resources/list", {}], ["resources/templates/list", {}], ["prompts/list", {}], ["tools/list", {}]]) {
      const reply = await rpc(server, method, params, { token: good({ scope: "openid" }) });
      assert.ok(!/manual_find|vault_create|guide/.test(reply.text), `${method}: ${reply.text.slice(0, 300)}`);
    }
  });
  test("headers narrow, and never widen", async () => {
    for (const headers of [["X-Annai-Toolsets", "answers"], ["X-Annai-Toolsets", "library,answers,search,services"], ["X-Annai-Readonly", "false"], ["X-Annai-Scopes", "library.write"]]) {
      const reply = await write(server, "never-widened.md", { token: good(), headers });
      assert.notEqual(reply.json?.result?.structuredContent?.written_path, "never-widened.md");
      assert.ok(!existsSync(join(server.folder, "vault/never-widened.md")));
      assert.ok([400, 401].includes((await rpc(server, "tools/list", undefined, { headers })).status));
    }
  });
  test("library.write writes", async () => {
    const reply = await write(server, "by-token.md", { token: good({ scope: "library.read library.write" }) });
    assert.equal(reply.status, 200, reply.text);
    assert.ok(existsSync(join(server.folder, "vault/by-token.md")));
  });
  test("metrics need metrics.read", async () => {
    for (const on of [server, trusted]) {
      assert.equal((await get(on, "/metrics", good({ scope: "metrics.read" }))).status, 200);
      const reply = await get(on, "/metrics", good());
      assert.equal(reply.status, 403);
      const params = challenge(reply.headers["www-authenticate"]);
      assert.equal(params.error, "insufficient_scope");
      assert.deepEqual(words(params.scope), ["library.read", "metrics.read"]);
    }
  });
  test("metrics.read opens no tool", () => lacks(good({ scope: "metrics.read" }), ["metrics.read", "library.read"]));
});

describe("JSON that says two things", () => {
  const past = 1000000000;
  refuses([
    ["alg twice, none last", () => good({}, { header: rawHeader('"alg":"none"') })],
    ["alg twice, none first", () => good({}, { header: `{"alg":"none","kid":"${main.kid}","alg":"RS256"}` })],
    ["alg twice, with an escape", () => good({}, { header: rawHeader('"\\u0061lg":"none"') })],
    ["kid twice, ours last", () => jws(attacker, claims(), { header: `{"alg":"RS256","kid":"evil","kid":"${main.kid}"}` })],
    ["kid twice, another last", () => good({}, { header: rawHeader(`"kid":"${p256.kid}"`) })],
    ["kid twice, the same", () => good({}, { header: rawHeader(`"kid":"${main.kid}"`) })],
    ["crit twice", () => good({}, { header: rawHeader('"crit":["x"],"crit":["y"]') })],
    ["exp twice, past last", () => jws(main, rawClaims({}, `"exp":${past}`))],
    ["exp twice, past first", () => jws(main, rawClaims({ exp: past }, '"exp":9999999999'))],
    ["aud twice, another last", () => jws(main, rawClaims({}, '"aud":"https://other.example.test"'))],
    ["aud twice, another first", () => jws(main, rawClaims({ aud: "x" }, `"aud":"${RESOURCE}"`))],
    ["iss twice", () => jws(main, rawClaims({ iss: "x" }, `"iss":"${issuer.url}"`))],
    ["sub twice", () => jws(main, rawClaims({}, '"sub":"admin"'))],
    ["scope twice", () => jws(main, rawClaims({ scope: "openid" }, '"scope":"library.read"'))],
    ["sub twice, with an escape", () => jws(main, rawClaims({}, '"s\\u0075b":"admin"'))],
    ["header with text behind", () => good({}, { header: `${rawHeader('"a":1')} x` })],
    ["header two objects", () => good({}, { header: `${rawHeader('"a":1')}${rawHeader('"a":1')}` })],
    ["header a list", () => good({}, { header: `[${rawHeader('"a":1')}]` })],
    ["header a string", () => good({}, { header: '"RS256"' })],
    ["header empty", () => good({}, { header: "" })],
    ["header with a comment", () => good({}, { header: `/**/${rawHeader('"a":1')}` })],
    ["header with a trailing comma", () => good({}, { header: `{"alg":"RS256","kid":"${main.kid}",}` })],
    ["header not UTF-8", () => good({}, { header: rawHeader('"a":"\u00ff"'), encode: (value) => Buffer.from(value, "latin1").toString("base64url") })],
    ["header with a byte-order mark", () => good({}, { header: `\ufeff${rawHeader('"a":1')}` })],
    ["header nested 100,000 deep", () => good({}, { header: rawHeader(`"a":${"[".repeat(20000)}${"]".repeat(20000)}`) })],
    ["claims nested deep", () => jws(main, rawClaims({}, `"a":${"[".repeat(10000)}${"]".repeat(10000)}`))],
    ["claims a list", () => jws(main, `[${JSON.stringify(claims())}]`)],
    ["claims a string", () => jws(main, JSON.stringify(JSON.stringify(claims())))],
    ["claims empty", () => jws(main, "")],
    ["claims null", () => jws(main, "null")],
    ["claims with text behind", () => jws(main, `${JSON.stringify(claims())}x`)],
    ["claims not UTF-8", () => jws(main, JSON.stringify(claims({ sub: "\u00ff" })), { encode: (value) => Buffer.from(value, "latin1").toString("base64url") })],
    ["claims with a lone surrogate", () => jws(main, rawClaims({ sub: undefined }, '"sub":"\\ud800"'))],
  ]);
  accepts([["control: white space in both", () => jws(main, JSON.stringify(claims(), null, 2), { header: `{ "alg" : "RS256",\n "kid" : "${main.kid}" }` })]]);
});

describe("the compact form", () => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  /** The same bytes in another spelling: bits behind the last byte set. */
  const spare = (part) => part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1)) | 1];
  const parts = (token, change) => {
    const list = token.split(".");
    return change(...list);
  };
  /** Encoded with spare bits set, and signed like that. */
  const sloppy = (value) => {
    let content = value;
    while (Buffer.byteLength(content) % 3 !== 1) content += " ";
    return spare(b64(content));
  };
  refuses([
    ["signature with spare bits, RS256", () => parts(good(), (h, p, s) => `${h}.${p}.${spare(s)}`)],
    ["signature with spare bits, ES256", () => parts(jws(p256, claims(), { alg: "ES256" }), (h, p, s) => `${h}.${p}.${spare(s)}`)],
    ["signature with spare bits, EdDSA", () => parts(jws(ed, claims(), { alg: "EdDSA" }), (h, p, s) => `${h}.${p}.${spare(s)}`)],
    ["header and claims with spare bits, signed like that", () => good({}, { encode: sloppy })],
    ["padded signature", () => `${good()}==`],
    ["padded signature, one", () => `${good()}=`],
    ["padded claims, signed like that", () => good({}, { encode: (value) => Buffer.from(`${value} `.padEnd(Math.ceil((value.length + 2) / 3) * 3 + 1)).toString("base64").replaceAll("+", "-").replaceAll("/", "_") })],
    ["plain base64", () => good({ sub: "~~~???>>>" }, { encode: (value) => Buffer.from(value).toString("base64").replaceAll("=", "") }).replaceAll("_", "/").replaceAll("-", "+")],
    ["trailing dot", () => `${good()}.`],
    ["two trailing dots", () => `${good()}..`],
    ["leading dot", () => `.${good()}`],
    ["no signature part", () => parts(good(), (h, p) => `${h}.${p}`)],
    ["no header", () => parts(good(), (h, p, s) => `.${p}.${s}`)],
    ["no claims", () => parts(good(), (h, p, s) => `${h}..${s}`)],
    ["one part", () => good().split(".")[0]],
    ["dots", () => ".."],
    ["a dot", () => "."],
    ["four parts", () => `${good()}.${b64("x")}`],
    ["five parts", () => `${good()}.${b64("x")}.${b64("y")}`],
    ["a slash", () => "/"],
    ["a word", () => "undefined"],
    ["a number", () => "0"],
    ["JSON serialization", () => parts(good(), (h, p, s) => JSON.stringify({ protected: h, payload: p, signature: s }))],
    ["percent-encoded", () => good().replaceAll(".", "%2E")],
    ["quoted", () => `"${good()}"`],
    ["twice, with a comma", () => `${good()}, Bearer ${good()}`],
    ["twice, with a space", () => `${good()} ${good()}`],
    ["a parameter behind", () => `${good()}, realm="x"`],
    ["a tab inside", () => parts(good(), (h, p, s) => `${h}.\t${p}.${s}`)],
    ["claims changed", () => parts(good(), (h, p, s) => `${h}.${b64(JSON.stringify(claims({ sub: "admin" })))}.${s}`)],
    ["header changed", () => parts(good(), (h, p, s) => `${b64(JSON.stringify({ alg: "RS256", kid: main.kid, a: 1 }))}.${p}.${s}`)],
    ["the signature of another good token", () => parts(good({ sub: "a" }), (h, p) => `${h}.${p}.${good({ sub: "b" }).split(".")[2]}`)],
    ["a bit of the signature flipped", () => parts(good(), (h, p, s) => { const bytes = Buffer.from(s, "base64url"); bytes[100] ^= 1; return `${h}.${p}.${b64(bytes)}`; })],
    ["60 kB of signature", () => parts(good(), (h, p) => `${h}.${p}.${"A".repeat(60000)}`)],
    ["60 kB of claims, unsigned", () => `${b64(JSON.stringify({ alg: "RS256", kid: main.kid }))}.${"A".repeat(58000)}.AAAA`],
    ["30,000 dots", () => ".".repeat(30000)],
    ["a JWE for the key that is for encryption", () => {
      const header = b64(JSON.stringify({ alg: "RSA-OAEP", enc: "A256GCM", kid: forEncryption.kid, cty: "JWT" }));
      const [key, iv] = [randomBytes(32), randomBytes(12)];
      const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(header));
      const text = Buffer.concat([cipher.update(good()), cipher.final()]);
      return [header, b64(publicEncrypt(forEncryption.publicKey, key)), b64(iv), b64(text), b64(cipher.getAuthTag())].join(".");
    }],
  ]);
  test("a token of 40 kB that is all right is accepted or too large, and nothing else", async () => {
    const reply = await read(server, { token: good({ filler: "f".repeat(30000) }) });
    assert.ok([200, 401].includes(reply.status), `${reply.status}`);
  });
  test("100 kB", async () => {
    for (const token of ["A".repeat(100000), good({ filler: "f".repeat(75000) }), `annai_${"A".repeat(100000)}`]) {
      const reply = await raw(server, bytes(server, { headers: [`Authorization: Bearer ${token}`] }));
      assert.ok([401, 431].includes(reply.status), `${reply.status} ${reply.text.slice(0, 200)}`);
    }
    await accepted(good());
  });
  test("bytes that are not ASCII", async () => {
    for (const token of ["\u00ff\u00fe", `${good()}\u00e9`, "\u00e6\u00a1\u0088\u00e5\u0086\u0085", good().replace(".", "\u00b7"), "\u0080".repeat(500)]) {
      const reply = await raw(server, bytes(server, { headers: [`Authorization: Bearer ${token}`], rpc: "tools/call", body: '{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"manual_list"}}' }));
      assert.equal(reply.status, 401, reply.whole);
      assert.equal(challenge(reply.headers["www-authenticate"]).error, "invalid_token");
      assert.equal(reply.json.id, 9);
    }
  });
  test("control characters and folded lines", async () => {
    for (const line of [`Authorization: Bearer ${good()}\u0000`, `Authorization: Bearer\r\n ${good()}`, `Authorization: Bearer \u007f${good()}`, `Authorization : Bearer ${good()}`, `Authorization: Bearer ${good()}\u000b`]) {
      const reply = await raw(server, bytes(server, { headers: [line] }));
      assert.ok([400, 401].includes(reply.status), `${JSON.stringify(line.slice(0, 24))}: ${reply.status}`);
    }
  });
});

describe("signatures that could mean the same", () => {
  const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
  const ED_ORDER = (1n << 252n) + 27742317777372353535851937790883648493n;
  const changed = (token, change) => {
    const [header, payload, old] = token.split(".");
    return `${header}.${payload}.${b64(change(Buffer.from(old, "base64url")))}`;
  };
  const es = () => jws(p256, claims(), { alg: "ES256" });
  const rs = (key = main) => jws(key, claims());
  const pair = (r, s) => Buffer.concat([toBytes(r, 32), toBytes(s, 32)]);
  const modulus = toNumber(Buffer.from(main.jwk.n, "base64url"));
  /** A signature that is right only for who does not look behind the hash (Bleichenbacher 2006), for exponent 3. */
  const forged = () => {
    const input = `${b64(JSON.stringify({ alg: "RS256", kid: cubic.kid }))}.${b64(JSON.stringify(claims()))}`;
    const hash = createHash("sha256").update(input).digest();
    const info = Buffer.concat([Buffer.from("3031300d060960864801650304020105000420", "hex"), hash]);
    const block = Buffer.concat([Buffer.from("0001ffffffffffffffff00", "hex"), info]);
    const wanted = toNumber(Buffer.concat([block, Buffer.alloc(256 - block.length, 0xff)]));
    let [low, high] = [0n, 1n << 690n];
    while (low < high) {
      const middle = (low + high + 1n) >> 1n;
      if (middle ** 3n <= wanted) low = middle;
      else high = middle - 1n;
    }
    assert.equal(toBytes(low ** 3n, 256).subarray(0, block.length).toString("hex"), block.toString("hex"), "the forgery is one");
    return `${input}.${b64(toBytes(low, 256))}`;
  };
  refuses([
    ["ES256: zeros", () => changed(es(), () => Buffer.alloc(64))],
    ["ES256: r = s = n", () => changed(es(), () => pair(ORDER, ORDER))],
    ["ES256: r = 0", () => changed(es(), (old) => pair(0n, toNumber(old.subarray(32))))],
    ["ES256: s = 0", () => changed(es(), (old) => pair(toNumber(old.subarray(0, 32)), 0n))],
    ["ES256: r = s = 1", () => changed(es(), () => pair(1n, 1n))],
    ["ES256: DER", () => jws(p256, claims(), { alg: "ES256", dsaEncoding: "der" })],
    ["ES256: 63 bytes", () => changed(es(), (old) => old.subarray(0, 63))],
    ["ES256: 65 bytes", () => changed(es(), (old) => Buffer.concat([old, Buffer.alloc(1)]))],
    ["ES256: r and s as 33 bytes", () => changed(es(), (old) => Buffer.concat([Buffer.alloc(1), old.subarray(0, 32), Buffer.alloc(1), old.subarray(32)]))],
    ["ES256: s + n", () => changed(es(), (old) => { const s = toNumber(old.subarray(32)) + ORDER; return Buffer.concat([old.subarray(0, 32), toBytes(s, s >> 256n ? 33 : 32)]); })],
    ["EdDSA: S + L", () => changed(jws(ed, claims(), { alg: "EdDSA" }), (old) => { const s = toNumber(Buffer.from(old.subarray(32)).reverse()) + ED_ORDER; return Buffer.concat([old.subarray(0, 32), toBytes(s, 32).reverse()]); })],
    ["EdDSA: zeros", () => changed(jws(ed, claims(), { alg: "EdDSA" }), () => Buffer.alloc(64))],
    ["RS256: zeros", () => changed(rs(), () => Buffer.alloc(256))],
    ["RS256: one", () => changed(rs(), () => toBytes(1n, 256))],
    ["RS256: empty", () => changed(rs(), () => Buffer.alloc(0))],
    ["RS256: a zero before", () => changed(rs(), (old) => Buffer.concat([Buffer.alloc(1), old]))],
    ["RS256: a zero behind", () => changed(rs(), (old) => Buffer.concat([old, Buffer.alloc(1)]))],
    ["RS256: plus the modulus", () => changed(rs(), (old) => { const sum = toNumber(old) + modulus; return toBytes(sum, sum >> 2048n ? 257 : 256); })],
    ["RS256: minus", () => changed(rs(), (old) => toBytes(modulus - toNumber(old), 256))],
    ["RS256: its leading zero left out", () => {
      for (let tries = 0; tries < 4000; tries += 1) {
        const token = good({ jti: String(tries) });
        const bytes = Buffer.from(token.split(".")[2], "base64url");
        if (bytes[0] === 0) return changed(token, (old) => old.subarray(1));
      }
      throw new Error("no signature with a leading zero in 4000");
    }],
    ["RS256 with PSS padding", () => jws(main, claims(), { alg: "RS256", as: "PS256" })],
    ["PS256 with PKCS#1 padding", () => jws(main, claims(), { alg: "PS256", as: "RS256" })],
    ["RS256 over SHA-384", () => jws(main, claims(), { alg: "RS256", as: "RS384" })],
    ["RS384 over SHA-256", () => jws(main, claims(), { alg: "RS384", as: "RS256" })],
    ["PS256 without salt", () => jws(main, claims(), { alg: "PS256", saltLength: 0 })],
    ["PS256 with the longest salt", () => jws(main, claims(), { alg: "PS256", saltLength: 222 })],
    ["RS256 with exponent 3 and garbage behind the hash", forged],
  ]);
  notes([["ES256: n - s (mathematically the same signature)", () => changed(es(), (old) => pair(toNumber(old.subarray(0, 32)), ORDER - toNumber(old.subarray(32))))]]);
});

describe("the Authorization header", () => {
  for (const [name, make] of [
    ["two, both good", () => [`Bearer ${good()}`, `Bearer ${good()}`]],
    ["two, the same", () => { const one = `Bearer ${good()}`; return [one, one]; }],
    ["two, good first", () => [`Bearer ${good()}`, "Bearer x"]],
    ["two, good last", () => ["Bearer x", `Bearer ${good()}`]],
    ["two, Basic first", () => ["Basic dTpw", `Bearer ${good()}`]],
    ["two, Basic last", () => [`Bearer ${good()}`, "Basic dTpw"]],
    ["two, one empty", () => [`Bearer ${good()}`, ""]],
  ]) {
    test(name, () => refused(make(), { error: null }));
  }
  for (const [name, make] of [
    ["the scheme alone", () => "Bearer"],
    ["the scheme and a space", () => "Bearer "],
    ["Basic", () => "Basic dXNlcjpwYXNz"],
    ["Basic with a good token as password", () => `Basic ${Buffer.from(`x:${good()}`).toString("base64")}`],
    ["no scheme", () => good()],
    ["Token", () => `Token ${good()}`],
    ["DPoP", () => `DPoP ${good()}`],
    ["Bearer:", () => `Bearer: ${good()}`],
    ["Bearer=", () => `Bearer=${good()}`],
    ["BearerX", () => `BearerX ${good()}`],
    ["Bearer without space", () => `Bearer${good()}`],
    ["a comma before", () => `, Bearer ${good()}`],
    ["quotes", () => `Bearer "${good()}"`],
    ["empty", () => ""],
  ]) {
    // Whether such a header is a bad token or none is open; it must open nothing.
    test(`${name}: opens nothing`, async (t) => {
      const headers = ["Authorization", make()];
      const called = await read(server, { headers });
      assert.equal(called.status, 401, called.text);
      assert.equal(called.json.jsonrpc, "2.0");
      t.diagnostic(`${name}: error=${challenge(called.headers["www-authenticate"]).error}`);
      assert.equal((await get(server, "/metrics", undefined, headers)).status, 401);
      const local = await read(trusted, { headers });
      t.diagnostic(`${name}, under loopback trust: ${local.status}`);
    });
  }
  for (const scheme of ["bearer", "BEARER", "bEaReR"]) {
    test(`control: ${scheme}`, async () => {
      assert.equal((await read(server, { headers: ["Authorization", `${scheme} ${good()}`] })).status, 200);
      assert.equal((await read(server, { headers: ["authorization", `${scheme} ${good()}`] })).status, 200);
    });
  }
  for (const scheme of ["Bearer  ", "Bearer\t"]) {
    test(`note: ${JSON.stringify(scheme)}`, async (t) => {
      const reply = await raw(server, bytes(server, { headers: [`Authorization: ${scheme}${good()}`] }));
      t.diagnostic(`${JSON.stringify(scheme)}: ${reply.status}`);
      assert.ok([200, 401].includes(reply.status));
    });
  }
  const nowhere = async (reply) => {
    assert.equal(reply.status, 401, reply.text);
    assert.equal(challenge(reply.headers["www-authenticate"]).error, undefined, "no token was sent");
  };
  const list = '{"jsonrpc":"2.0","id":1,"method":"tools/list"}';
  test("tokens elsewhere are no tokens", async () => {
    const token = good();
    for (const name of ["access_token", "token", "authorization", "bearer", "id_token", "jwt"]) {
      await nowhere(await request(server, { path: `/mcp?${name}=${token}`, body: list }));
      assert.equal((await request(server, { method: "GET", path: `/metrics?${name}=${token}` })).status, 401);
    }
    for (const headers of [
      { Cookie: `access_token=${token}; Authorization=Bearer ${token}` },
      { "Proxy-Authorization": `Bearer ${token}` },
      { "X-Authorization": `Bearer ${token}` },
      { "X-Forwarded-Authorization": `Bearer ${token}` },
      { "X-Access-Token": token },
      { "X-Auth-Request-Access-Token": token },
      { "Mcp-Session-Id": token },
      { "Authorization_": `Bearer ${token}` },
    ]) await nowhere(await request(server, { headers, body: list }));
    const form = `access_token=${token}`;
    await nowhere(await request(server, { headers: { "Content-Type": "application/x-www-form-urlencoded" }, body: form }));
    await nowhere(await request(server, { body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", access_token: token, params: { name: "manual_list", access_token: token, _meta: { access_token: token, authorization: `Bearer ${token}` } } }) }));
  });
  test("a bad token in the query does no harm", async () => {
    assert.equal((await request(server, { path: "/mcp?access_token=x", headers: { Authorization: `Bearer ${good()}` }, body: list })).status, 200);
    assert.equal((await request(trusted, { path: "/mcp?access_token=x", body: list })).status, 200);
  });
});

describe("what is answered", () => {
  const headers = ["Authorization", "Bearer bad.bad.bad"];
  const badCall = (id, more = "") => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"manual_list","arguments":{}${more}}}`;
  test("without a token there is no error in the header, but one in the result", async () => {
    const reply = await read(server);
    assert.equal(reply.status, 401);
    const params = challenge(reply.headers["www-authenticate"]);
    assert.equal(params.error, undefined);
    assert.equal(params.error_description, undefined, "RFC 6750: no error information without a token");
    assert.equal(params.resource_metadata, METADATA);
    assert.deepEqual(words(params.scope), ["library.read", "library.write"]);
  });
  test("without a token every POST is answered from its head", async () => {
    const started = Date.now();
    const head = `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n`;
    const reply = await raw(server, head);
    assert.equal(reply.status, 401, reply.whole);
    assert.ok(Date.now() - started < 2000);
    const expecting = await raw(server, head.replace("\r\n\r\n", "\r\nExpect: 100-continue\r\n\r\n"));
    assert.equal(expecting.status, 401, "no 100 Continue for who is not let in");
    for (const method of ["initialize", "tools/list", "ping", "server/discover", "resources/list", "resources/read", "prompts/list", "completion/complete", "notifications/initialized", "logging/setLevel", "x"]) {
      const each = await rpc(server, method, {});
      assert.equal(each.status, 401, method);
      challenge(each.headers["www-authenticate"]);
    }
    for (const body of ["", "{", "[]", "null", '"x"', "\u0000", `[${badCall(1)}]`]) assert.equal((await request(server, { body })).status, 401, body);
    assert.equal((await request(server, { headers: { "Content-Type": "text/plain" }, body: badCall(1) })).status, 401);
  });
  test("without a token also a selection that is wrong is 401", async () => {
    for (const value of ["nonsense", "services", ""]) assert.equal((await request(server, { headers: { "X-Annai-Toolsets": value }, body: badCall(1) })).status, 401, value);
  });
  test("ids come back as they were", async () => {
    for (const id of ["1", "0", "-7", '"a"', '""', '"\\"\\u0000é案"', "9007199254740991", `"${"i".repeat(500)}"`]) {
      const reply = await request(server, { headers, body: badCall(id) });
      assert.equal(reply.status, 401, id);
      assert.deepEqual(reply.json.id, JSON.parse(id));
      refusedResult({ ...reply, id: JSON.parse(id) }, "invalid_token");
    }
    for (const id of ["null", "1.5", "true", "{}", "[1]", "1e999", "99999999999999999999999"]) {
      const reply = await request(server, { headers, body: badCall(id) });
      assert.equal(reply.status, 401, id);
      assert.equal(reply.json?.jsonrpc, "2.0", `${id}: ${reply.text}`);
    }
  });
  test("whatever the body is, a bad token is 401", async () => {
    for (const body of [
      "", "{", "null", "[]", "\u0000\u0001", `[${badCall(1)},${badCall(2)}]`, '{"jsonrpc":"1.0","id":1,"method":"tools/call"}',
      '{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/call"}', '{"jsonrpc":"2.0","method":"tools/call","params":{}}',
      '{"jsonrpc":"2.0","id":1,"method":"tools/list","method":"tools/call"}', '{"jsonrpc":"2.0","id":3,"result":{}}',
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}', "[".repeat(60000),
    ]) {
      const reply = await request(server, { headers, body });
      assert.equal(reply.status, 401, body.slice(0, 40));
      assert.equal(challenge(reply.headers["www-authenticate"]).error, "invalid_token");
      assert.equal(reply.json?.jsonrpc, "2.0", `${body.slice(0, 40)}: ${reply.text}`);
    }
    for (const more of [["Content-Type", "text/plain"], ["X-Annai-Toolsets", "nonsense"], ["Accept", "image/png"], ["MCP-Protocol-Version", "1999-01-01"], ["Content-Encoding", "gzip"]]) {
      const reply = await request(server, { headers: [...headers, ...more], body: badCall(1) });
      assert.equal(reply.status, 401, `${more}: ${reply.text}`);
    }
  });
  test("a bad token and an endless body", async () => {
    const started = Date.now();
    const reply = await raw(server, `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nContent-Length: 4000000\r\n\r\n${" ".repeat(200000)}`);
    assert.equal(reply.status, 401, `after ${Date.now() - started} ms: ${reply.whole ?? "nothing"}`);
    const chunked = await raw(server, `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${`10000\r\n${" ".repeat(0x10000)}\r\n`.repeat(3)}`);
    assert.equal(chunked.status, 401, "chunked");
  });
  // A client that was told 401 comes back with a token, on the same connection if it may (RFC 9112, 9.6).
  for (const [name, line] of [["no token", []], ["a bad token", ["Authorization: Bearer bad.bad.bad"]]]) {
    for (const size of [1000, 60000, 200000, 1000000]) {
      test(`${name} and ${size} bytes: the client sees its 401, and the connection goes on or is said to end`, async (t) => {
        const { connect } = await import("node:net");
        const outcomes = {};
        for (let times = 0; times < 10; times += 1) {
          const outcome = await new Promise((resolve) => {
            const socket = connect(server.port, "127.0.0.1");
            let text = "";
            let again = false;
            const timer = setTimeout(() => socket.destroy(), 60_000);
            socket.on("error", () => {});
            socket.on("close", () => {
              clearTimeout(timer);
              resolve(!again ? `no answer: ${text.slice(0, 20)}` : "reset on the second request");
            });
            socket.on("data", (chunk) => {
              text += chunk;
              const end = text.indexOf("\r\n\r\n");
              const length = Number(/content-length: (\d+)/i.exec(text)?.[1]);
              if (end < 0 || text.length < end + 4 + length) return;
              const status = text.slice(9, 12);
              if (again || /^connection: close/im.test(text.slice(0, end))) {
                clearTimeout(timer);
                socket.removeAllListeners("close");
                socket.destroy();
                return resolve(status === "401" ? (again ? "goes on" : "said to end") : status);
              }
              if (status !== "401") return socket.destroy();
              [again, text] = [true, ""];
              // The client has its answer and sends the next request a moment later.
              setTimeout(() => socket.write(bytes(server, { headers: line })), 5);
            });
            socket.write(bytes(server, { headers: line, body: badCall(1, `,"x":"${"y".repeat(size)}"`) }));
          });
          outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
        }
        t.diagnostic(JSON.stringify(outcomes));
        assert.deepEqual(Object.keys(outcomes).filter((outcome) => !["goes on", "said to end"].includes(outcome)), [], JSON.stringify(outcomes));
      });
    }
  }
  // What follows an early 401 on its connection is either the next request or part of the refused body, never the wrong one.
  for (const [name, line] of [["no token", ""], ["a bad token", "Authorization: Bearer x\r\n"]]) {
    for (const expect of ["", "Expect: 100-continue\r\n"]) {
      test(`a request inside the body of a refused one is not answered: ${name}${expect && ", Expect"}`, async (t) => {
        const { connect } = await import("node:net");
        const inner = bytes(server, { method: "GET", target: "/metrics", headers: [`Authorization: Bearer ${good({ scope: "metrics.read" })}`] });
        const talk = (first, later) =>
          new Promise((resolve) => {
            const socket = connect(server.port, "127.0.0.1", () => socket.write(first));
            let all = "";
            socket.on("data", (chunk) => (all += chunk));
            socket.on("error", () => {});
            socket.on("close", () => resolve(all));
            // The pause is what is tested: the body comes when the server may have answered. That nothing else is answered can only
            // be tested by waiting for a while.
            if (later) setTimeout(() => socket.write(later), 100);
            setTimeout(() => socket.destroy(), 500);
          });
        const head = (length) => `POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${line}${expect}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`;
        const all = await Promise.all([0, 5000, 100000, 5000000].flatMap((size) => {
          const body = inner + " ".repeat(size);
          return [talk(head(body.length) + body), talk(head(body.length), body)];
        }));
        for (const text of all) {
          assert.ok(!text.includes("# HELP"), "the inner request was answered");
          assert.ok((text.match(/HTTP\/1\.1 [2-5]/g) ?? []).length <= 1, text.slice(0, 600));
        }
        const ended = await talk(head(100), bytes(server));
        t.diagnostic(`the body that was announced does not come: ${JSON.stringify(ended.match(/HTTP\/1\.1 \d+/g))}, said to end: ${/connection: close/i.test(ended)}`);
      });
    }
  }
  test("chunks: the next request is the next request", async () => {
    const { connect } = await import("node:net");
    for (const line of ["", "Authorization: Bearer x\r\n"]) {
      const inner = bytes(server, { method: "GET", target: "/metrics" });
      const next = bytes(server, { headers: [`Authorization: Bearer ${good()}`, "Connection: close"] });
      const text = await new Promise((resolve) => {
        const socket = connect(server.port, "127.0.0.1", () => socket.write(`POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n${line}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n${next}`));
        let all = "";
        socket.on("data", (chunk) => (all += chunk));
        socket.on("error", () => {});
        socket.on("close", () => resolve(all));
        setTimeout(() => socket.destroy(), 60_000).unref();
      });
      assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 401", "HTTP/1.1 200"]);
    }
  });
  test("2026-07-28 peers get their form of result", async () => {
    const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientInfo": { name: "t", version: "1" }, "io.modelcontextprotocol/clientCapabilities": {} };
    const reply = await rpc(server, "tools/call", { name: "manual_list", arguments: {}, _meta: meta }, { headers: [...headers, "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "manual_list"] });
    assert.equal(reply.status, 401);
    refusedResult(reply, "invalid_token");
    assert.equal(reply.json.result.resultType, "complete");
  });
  test("an unknown tool is no reason to sign in again", async () => {
    const reply = await call(server, "no_such_tool", {}, { token: good() });
    assert.ok([200, 400, 404].includes(reply.status), `${reply.status}`);
    assert.ok(!("www-authenticate" in reply.headers));
  });
  test("other routes do not read tokens", async () => {
    for (const path of ["/health", "/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/mcp"]) {
      for (const value of ["Bearer bad.bad.bad", "Bearer", `Bearer annai_${"A".repeat(43)}`]) {
        const reply = await request(server, { method: "GET", path, headers: { Authorization: value } });
        assert.equal(reply.status, 200, `${path} ${value}: ${reply.text}`);
      }
    }
    assert.equal((await get(server, "/nowhere", "bad.bad.bad")).status, 404);
  });
  test("a connection remembers nobody", async () => {
    const line = `Authorization: Bearer ${good()}`;
    const socketed = bytes(server, { headers: [line] }) + bytes(server) + bytes(server, { headers: [line] }) + bytes(server, { headers: ["Connection: close"] });
    const all = await new Promise((resolve) => {
      import("node:net").then(({ connect }) => {
        const socket = connect(server.port, "127.0.0.1", () => socket.write(socketed));
        let text = "";
        socket.on("data", (chunk) => (text += chunk));
        socket.on("close", () => resolve(text));
        setTimeout(() => socket.destroy(), 60_000).unref();
      });
    });
    assert.deepEqual(all.match(/HTTP\/1\.1 \d+/g), ["HTTP/1.1 200", "HTTP/1.1 401", "HTTP/1.1 200", "HTTP/1.1 401"]);
  });
  test("replies to people are not for caches", async () => {
    for (const reply of [await read(server, { token: good() }), await read(server)]) {
      assert.ok(!/public|max-age=[1-9]/.test(reply.headers["cache-control"] ?? ""), reply.headers["cache-control"]);
    }
  });
  test("what one person found is not another's", async () => {
    const find = (sub) => call(server, "manual_find", { query: "rate limit" }, { token: good({ sub }) });
    const { trace_id } = (await find("alice")).json.result.structuredContent;
    const hits = (token) => call(server, "manual_hits", { trace_id, kind: "candidates" }, { token });
    const hers = await hits(good({ sub: "alice" }));
    assert.ok(!hers.json.result.isError, hers.text);
    for (const sub of ["bob", "Alice", "alice ", "alice\u0000", "alice/"]) {
      const his = await hits(good({ sub }));
      assert.equal(his.json.result.isError, true, `${sub}: ${his.text}`);
    }
  });
  test("with tokens from all sides at once, each gets its own answer", async () => {
    const jobs = Array.from({ length: 120 }, (_, n) => n);
    const statuses = await Promise.all(jobs.map(async (n) => {
      if (n % 4 === 0) return (await read(server, { token: good({ sub: `u${n}` }) })).status;
      if (n % 4 === 1) return (await read(server, { token: jws(attacker, claims()) })).status;
      if (n % 4 === 2) return (await read(server, { token: good({ scope: "openid" }) })).status;
      return (await read(server)).status;
    }));
    assert.deepEqual(statuses, jobs.map((n) => [200, 401, 403, 401][n % 4]));
  });
});

test("after all this the issuer was asked for keys only", async () => {
  assert.equal(issuer.counts.userinfo, 0, "the library needs no e-mail");
  assert.deepEqual(issuer.counts.others.filter((path) => !path.startsWith("/.well-known/")), []);
  // Each server loads once and has three refetches for unknown kids, and one a second.
  assert.ok(issuer.counts.jwks <= servers.length * (4 + performance.now() / 1000), `${issuer.counts.jwks} fetches by ${servers.length} servers`);
  assert.ok(server.alive() && trusted.alive());
  await accepted(good());
  assert.equal((await request(server, { method: "GET", path: "/health" })).status, 200);
});
