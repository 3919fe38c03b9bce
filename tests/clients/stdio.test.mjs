// The official TypeScript clients over stdio. ANNAI and FIXTURE name the executables, OPENAI_… the API.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Client as Client1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as Stdio1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { CallToolResultSchema, CreateMessageRequestSchema, ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Client as Client2 } from "@modelcontextprotocol/client";
import { StdioClientTransport as Stdio2 } from "@modelcontextprotocol/client/stdio";
import { canBeCancelled, everyNegotiation, reportsProgress, withAnnai, withFixture } from "./conversation.mjs";

const annai = { command: process.env.ANNAI, args: ["--stdio"], stderr: "ignore", env: process.env };
const fixture = { command: process.env.FIXTURE, args: [], stderr: "ignore" };
const me = { name: "client-tests", version: "1.0.0" };

test("sdk 1.x, handshake", async () => {
  const client = new Client1(me, { capabilities: { sampling: {}, elicitation: {} } });
  client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => ({
    role: "assistant",
    model: "none",
    content: { type: "text", text: `heard ${params.messages[0].content.text}` },
  }));
  client.setRequestHandler(ElicitRequestSchema, () => ({ action: "accept", content: { username: "u", email: "e@x.org" } }));
  await client.connect(new Stdio1(fixture));
  await withFixture(client, "2025-11-25");
  const call = (params, options) => client.callTool(params, CallToolResultSchema, options);
  await reportsProgress(call);
  await canBeCancelled(call);
  const sampled = await client.callTool({ name: "test_sampling", arguments: { prompt: "hello" } });
  assert.equal(sampled.content[0].text, "LLM response: heard hello");
  const elicited = await client.callTool({ name: "test_elicitation", arguments: { message: "who?" } });
  assert.match(elicited.content[0].text, /action=accept/);
  await client.close();
});

everyNegotiation(test, Client2, me, () => new Stdio2(fixture));

test("annai itself, both clients", async () => {
  for (const [client, transport, modern] of [
    [new Client1(me), new Stdio1(annai), false],
    [new Client2(me, { versionNegotiation: { mode: "legacy" } }), new Stdio2(annai), false],
    [new Client2(me, { versionNegotiation: { mode: { pin: "2026-07-28" } } }), new Stdio2(annai), true],
  ]) {
    await client.connect(transport);
    await withAnnai(client, { modern });
    await client.close();
  }
});
