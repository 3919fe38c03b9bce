// The whole sign-in with a real OpenID provider and the official clients ends in a run that a sponsor paid for; and what
// an issuer may say, or not say, about an e-mail address.
import { after, before, describe, test } from "node:test";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { UnauthorizedError as Unauthorized1 } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2, UnauthorizedError as Unauthorized2 } from "@modelcontextprotocol/client";
import { Person, claims, signIn } from "../oauth/provider.mjs";
import { startProvider } from "./provider.mjs";
import { allScopes, assert, booksBalance, bothChannels, consent, dashboard, failure, fakeOpenai, freePort, newCampaign, people, shared, start } from "./parts.mjs";

const me = { name: "services-tests", version: "1.0.0" };
const words = (text) => text.split(" ").sort().join(" ");
const scopesOfServices = words(allScopes.join(" "));
const verified = (email) => ({ email, email_verified: true });

const t = shared();
let api;
before(async () => (api = await fakeOpenai(t)));
after(() => t.close());

/** A provider, annai that trusts it at a public URL, and a campaign that pays for answers. */
async function prepared(t, settings = {}) {
  const provider = await startProvider(t);
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const annai = await start(t, { port, settings: { ...api, OAUTH_ISSUER: provider.issuer, PUBLIC_URL: base, ...settings } });
  provider.resources.add(`${base}/mcp`);
  const campaign = await newCampaign(annai);
  const token = async (account, scope = allScopes.join(" ")) => {
    provider.account = account;
    return (await signIn(provider, { resource: `${base}/mcp`, scope })).access_token;
  };
  return { provider, annai, campaign, token, base };
}

for (const [name, Client, Http, Unauthorized, options] of [
  ["1.x", Client1, Http1, Unauthorized1, undefined],
  ["2.x, 2025-11-25", Client2, Http2, Unauthorized2, { versionNegotiation: { mode: "legacy" } }],
  ["2.x, 2026-07-28", Client2, Http2, Unauthorized2, { versionNegotiation: { mode: "auto" } }],
]) {
  test(`client ${name}: search, sign in, task, consent, a paid run`, async (t) => {
    const { provider, annai, campaign, base } = await prepared(t);
    provider.account = { sub: "hana-1", ...verified("hana@example.com"), inToken: verified("hana@example.com") };
    const person = new Person(provider);
    const connect = async () => {
      const transport = new Http(annai.url, { authProvider: person });
      const client = new Client(me, options);
      t.after(() => client.close());
      await client.connect(transport);
      return { client, transport };
    };
    // Nobody has signed in: the client connects, lists and searches.
    let { client, transport } = await connect();
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert.deepEqual(names.filter((name) => name === "answer"), [], "tools of other toolsets are not listed");
    assert.equal(names.length, 8, names.join(" "));
    const found = bothChannels(await client.callTool({ name: "search_services", arguments: { q: "tea" } })).structure;
    assert.equal(found.services[0].service_id, campaign.id);
    assert.equal(provider.authorizations.length, 0, "so far without a sign-in");

    // The first protected tool leads to the sign-in, for the scopes of all services tools at once.
    const details = { name: "get_task_details", arguments: { campaign_id: campaign.id } };
    await assert.rejects(client.callTool(details), Unauthorized);
    assert.equal(provider.authorizations.length, 1);
    const [asked] = provider.authorizations;
    assert.equal(words(asked.scope), scopesOfServices);
    assert.equal(asked.resource, `${base}/mcp`);
    assert.equal(asked.code_challenge_method, "S256");
    await transport.finishAuth(Client === Client2 ? person.callback : person.callback.get("code"));
    assert.equal(claims(person.tokens().access_token).sub, "hana-1");
    ({ client, transport } = await connect());
    assert.equal(bothChannels(await client.callTool(details)).structure.already_completed, false);
    const early = await client.callTool({ name: "run_service", arguments: { service: "answer", input: "weather in Tokyo" } });
    assert.equal(failure(early).code, "precondition_required");
    const completed = await client.callTool({ name: "complete_task", arguments: { campaign_id: campaign.id, task_name: "survey", details: "{}", consent } });
    assert.equal(bothChannels(completed).structure.can_use_service, true);
    const ran = bothChannels(await client.callTool({ name: "run_service", arguments: { service: "answer", input: "weather in Tokyo" } }));
    assert.equal(JSON.parse(ran.structure.output).used_search, true);
    assert.equal(ran.structure.sponsored_by, "Sencha Co");
    const status = bothChannels(await client.callTool({ name: "get_user_status", arguments: {} })).structure;
    assert.equal(status.email, "hana@example.com");
    assert.deepEqual(status.available_services, [{ service: "answer", sponsor: "Sencha Co", ready: true }]);
    assert.equal(provider.authorizations.length, 1, "one sign-in for all of it");
    assert.equal((await dashboard(annai, campaign)).spend_cents, 50);
    await booksBalance(annai);
    await annai.stop();
    for (const secret of provider.issued) assert.ok(!annai.log().includes(secret));
  });
}

test("a person who holds services.execute alone runs `answer`, which they may not call", async (t) => {
  const { annai, campaign, token } = await prepared(t);
  const account = { sub: "alone", ...verified("alone@example.com"), inToken: verified("alone@example.com") };
  const doing = await token(account, "tasks.write");
  const refused = await annai.call("run_service", { service: "answer", input: "x" }, { token: doing });
  assert.equal(refused.status, 403);
  assert.match(refused.headers["www-authenticate"], /error="insufficient_scope"/);
  assert.equal(words(/scope="([^"]*)"/.exec(refused.headers["www-authenticate"])[1]), "services.execute tasks.write");
  assert.equal(refused.result.content[0].text, "the token lacks the scope services.execute, which this needs; sign in again and allow it");
  await annai.done("complete_task", { campaign_id: campaign.id, task_name: "survey", consent }, { token: doing });
  const alone = await token(account, "services.execute");
  assert.deepEqual(claims(alone).scope, "services.execute");
  const ran = await annai.done("run_service", { service: "answer", input: "weather in Tokyo" }, { token: alone });
  assert.equal(JSON.parse(ran.output).used_search, true);
  for (const [name, args] of [["answer", { query: "x" }], ["get_user_status", {}], ["complete_task", { campaign_id: campaign.id, task_name: "survey", consent }]]) {
    assert.equal((await annai.call(name, args, { token: alone })).status, 403, name);
  }
  // Without a token: 401 in both forms, with the sentence of the seed.
  const nobody = await annai.call("run_service", { service: "answer", input: "x" });
  assert.equal(nobody.status, 401);
  assert.ok(!/error=/.test(nobody.headers["www-authenticate"]), "no error in the header");
  assert.equal(words(/scope="([^"]*)"/.exec(nobody.headers["www-authenticate"])[1]), scopesOfServices);
  assert.match(nobody.result.content[0].text, /^このアクションを実行するにはログインが必要です。/);
  const [challenge] = nobody.result._meta["mcp/www_authenticate"];
  assert.match(challenge, /error="[a-z_]+"/);
  assert.match(challenge, /error_description="[^"]+"/);
  assert.equal((await dashboard(annai, campaign)).spend_cents, 50);
});

test("what the provider says about the e-mail address decides", async (t) => {
  const { annai, token } = await prepared(t);
  const status = async (account) => annai.call("get_user_status", {}, { token: await token(account) });
  const refused = async (account) => {
    const reply = await status(account);
    assert.equal(reply.result?.isError, true, `${JSON.stringify(account)}: ${reply.text}`);
    assert.match(reply.result._meta["annai/error"].message, /e-mail/);
    return reply;
  };
  // The token has no address, and this provider's userinfo takes no token of another resource.
  await refused({ sub: "none", ...verified("none@example.com") });
  await refused({ sub: "unverified", email: "u@example.com", email_verified: false, inToken: { email: "u@example.com", email_verified: false } });
  await refused({ sub: "unsaid", email: "u@example.com", inToken: { email: "u@example.com" } });
  // Tools without a person work nevertheless.
  assert.equal((await annai.call("search_services", {}, { token: await token({ sub: "none" }) })).result.structuredContent.total_count, 1);
  const first = await status({ sub: "first", inToken: verified("one@example.com") });
  assert.equal(first.result.structuredContent.email, "one@example.com");
  const second = await status({ sub: "second", inToken: verified("ONE@example.com") });
  assert.equal(failure(second.result).code, "forbidden");
  // The same subject whose address has changed at the issuer stays the same person.
  const moved = await status({ sub: "first", inToken: verified("moved@example.com") });
  assert.equal(moved.result.structuredContent.user_id, first.result.structuredContent.user_id);
  const namespaced = await status({ sub: "namespaced", inToken: { "https://annai.example/email": "n@example.com", "https://annai.example/email_verified": true } });
  assert.equal(namespaced.result.structuredContent.email, "n@example.com");
});

describe("userinfo", () => {
  const reply = (document) => (_, response) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(document));
  let issuer, annai;
  before(async () => {
    issuer = await people();
    annai = await start(t, { settings: { ...issuer.settings, ...api } });
  });
  let count = 0;
  /** A person whose token says `inToken`, while the userinfo says `document`. */
  async function status(document, inToken = {}, sub = `u-${++count}`) {
    issuer.replies.userinfo = typeof document === "function" ? document : reply({ sub, ...document });
    const token = issuer.person(sub, { email: undefined, email_verified: undefined, ...inToken });
    return annai.call("get_user_status", {}, { token });
  }
  const refused = async (...args) => {
    const answer = await status(...args);
    assert.equal(answer.result?.isError, true, answer.text);
    assert.equal(answer.result._meta["annai/error"].code, "forbidden", answer.text);
  };

  test("a verified address of the same subject signs in, and is asked for once", async () => {
    const asked = issuer.counts.userinfo;
    issuer.replies.userinfo = reply({ sub: "info", ...verified("info@example.com") });
    const token = issuer.person("info", { email: undefined, email_verified: undefined });
    for (let times = 0; times < 3; times++) assert.equal((await annai.done("get_user_status", {}, { token })).email, "info@example.com");
    assert.equal(issuer.counts.userinfo - asked, 1);
    // A tool that needs no person asks nobody.
    await annai.done("search_services", {}, { token: issuer.person("quiet", { email: undefined, scope: "tasks.read" }) });
    assert.equal(issuer.counts.userinfo - asked, 1);
  });

  test("a search knows somebody whose address only the userinfo has, if their token allows it", async () => {
    const person = (more) => issuer.person("choosy", { email: undefined, email_verified: undefined, ...more });
    issuer.replies.userinfo = reply({ sub: "choosy", ...verified("choosy@example.com") });
    await newCampaign(annai, { name: "Avoided", task_schema: { task_type: "interview", required_fields: [], instructions: "Talk." } });
    await annai.done("set_preferences", { preferences: [{ task_type: "interview", level: "avoided" }] }, { token: person() });
    const found = async (token) => (await annai.done("search_services", { q: "Avoided" }, { token })).total_count;
    assert.equal(await found(undefined), 1);
    assert.equal(await found(person({ jti: "another token" })), 0, "their preferences apply");
    assert.equal(await found(person({ scope: "tasks.read" })), 1, "without user.read nobody looks at them");
    // An issuer that does not answer leaves a search without preferences, not without results.
    issuer.replies.userinfo = (_, response) => response.writeHead(500).end("{}");
    assert.equal(await found(person({ jti: "a third one" })), 1);
  });

  test("another subject, no verification, one place after the other", async () => {
    await refused({ ...verified("a@example.com"), sub: "somebody else" });
    await refused({ ...verified("a@example.com"), sub: undefined });
    await refused({ email: "a@example.com", email_verified: false });
    await refused({ email: "a@example.com", email_verified: "false" });
    await refused({ email: "a@example.com" });
    await refused({ email_verified: true });
    // The address of one place with the verification of another.
    await refused({ email_verified: true }, { email: "a@example.com" });
    await refused({ email: "a@example.com" }, { email_verified: true });
    await refused({}, { email: "a@example.com", "https://ns.example/email_verified": true });
    // False anywhere is refused everywhere.
    await refused(verified("a@example.com"), { email: "a@example.com", email_verified: false });
    await refused((_, response) => response.writeHead(500).end("{}"));
    await refused((_, response) => response.writeHead(200, { "content-type": "text/html" }).end("<html>"));
    for (const email of ["not an address", "", "a@b@c.example", "a\u0000@example.com"]) assert.equal((await status(verified(email))).result.isError, true, email);
  });

  test("a second subject for one e-mail, by token or by userinfo", async () => {
    assert.ok(!(await status(verified("twice@example.com"))).result.isError);
    const second = await status(verified("Twice@example.com"));
    assert.equal(failure(second.result).code, "forbidden");
    const third = await status({}, verified("twice@example.com"));
    assert.equal(failure(third.result).code, "forbidden");
  });
});
