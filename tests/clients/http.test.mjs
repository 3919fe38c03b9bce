// The official TypeScript clients over HTTP. ANNAI and FIXTURE name the executables, OPENAI_… the API.
import { after, before, test } from "node:test";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as Http1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as Client2, StreamableHTTPClientTransport as Http2 } from "@modelcontextprotocol/client";
import { canBeCancelled, everyNegotiation, reportsProgress, withAnnai, withFixture } from "./conversation.mjs";
import { listening } from "./server.mjs";

const me = { name: "client-tests", version: "1.0.0" };
let annai, fixture;

before(async () => {
  annai = await listening(process.env.ANNAI, ["--http", "127.0.0.1:0"]);
  fixture = await listening(process.env.FIXTURE, ["--http", "127.0.0.1:0"]);
});
after(() => {
  annai.stop();
  fixture.stop();
});

test("sdk 1.x", async () => {
  const client = new Client1(me);
  await client.connect(new Http1(fixture.url));
  await withFixture(client, "2025-11-25");
  const call = (params, options) => client.callTool(params, CallToolResultSchema, options);
  await reportsProgress(call);
  await canBeCancelled(call);
  await client.close();
});

everyNegotiation(test, Client2, me, () => new Http2(fixture.url));

test("annai itself, both clients", async () => {
  for (const [client, transport, modern] of [
    [new Client1(me), new Http1(annai.url), false],
    [new Client2(me, { versionNegotiation: { mode: "auto" } }), new Http2(annai.url), true],
  ]) {
    await client.connect(transport);
    await withAnnai(client, { modern });
    await client.close();
  }
});
