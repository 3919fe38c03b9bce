// What every official TypeScript client, whatever its version, must be able to do with our servers.
import assert from "node:assert/strict";

/** The fixture: everything that the protocol offers. `protocol` is what was agreed on. */
export async function withFixture(client, protocol) {
  const modern = protocol >= "2026-07-28";
  assert.equal(client.getServerVersion().name, "fixture");

  const { tools } = await client.listTools();
  assert.ok(tools.length > 15);
  const strict = tools.find((tool) => tool.name === "strict");
  assert.equal(strict.inputSchema.additionalProperties, false);
  assert.equal(strict.annotations.readOnlyHint, true);

  // The clients check structuredContent against the output schema, also of failures.
  const result = await client.callTool({ name: "strict", arguments: { query: "案内", limit: 3 } });
  assert.deepEqual(result.structuredContent, { query: "案内", limit: 3, mode: null, time_ms: null });
  const failed = await client.callTool({ name: "strict", arguments: { query: "x", limit: 99 } });
  assert.equal(failed.isError, true);
  assert.equal(failed._meta["annai/error"].message, "limit: expected an integer from 1 to 10, got 99");

  if (modern) {
    const refused = await client.callTool({ name: "refuses", arguments: {} });
    assert.equal(refused._meta["annai/error"].details.code, -32050);
  } else {
    await assert.rejects(client.callTool({ name: "refuses", arguments: {} }), { code: -32050 });
    await client.ping();
  }
  await assert.rejects(client.callTool({ name: "no_such_tool", arguments: {} }), /unknown tool/);

  for (const [name, type] of [["test_image_content", "image"], ["test_audio_content", "audio"]]) {
    const { content } = await client.callTool({ name, arguments: {} });
    assert.equal(content[0].type, type);
  }
  const { resources } = await client.listResources();
  assert.ok(resources.some((resource) => resource.uri === "test://static-text"));
  const { contents } = await client.readResource({ uri: "test://template/123/data" });
  assert.equal(JSON.parse(contents[0].text).id, "123");
  await assert.rejects(client.readResource({ uri: "test://none" }), { code: modern ? -32602 : -32002 });
  const prompt = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "a", arg2: "b" } });
  assert.match(prompt.messages[0].content.text, /arg1='a', arg2='b'/);
}

/** Progress in order, before the result. */
export async function reportsProgress(call) {
  const seen = [];
  await call({ name: "test_tool_with_progress", arguments: {} }, { onprogress: (step) => seen.push(step.progress) });
  assert.deepEqual(seen, [0, 50, 100]);
}

/** An aborted call is over at once, and the connection goes on. */
export async function canBeCancelled(call) {
  const abort = new AbortController();
  const running = call({ name: "sleep", arguments: { ms: 60000 } }, { signal: abort.signal });
  // Whenever it is aborted, before it has begun or after, the outcome must be the same.
  setTimeout(() => abort.abort("enough"), 100);
  await assert.rejects(running);
  const after = await call({ name: "test_simple_text", arguments: {} }, {});
  assert.equal(after.content[0].text, "This is a simple text response for testing.");
}

/** The product: its name, its list, and an answer from the API that OPENAI_BASE_URL names. */
export async function withAnnai(client, { modern }) {
  assert.equal(client.getServerVersion().name, "annai");
  const { tools } = await client.listTools();
  assert.ok(Array.isArray(tools));
  for (const tool of tools) {
    assert.ok(tool.title && tool.description && tool.annotations && tool.outputSchema, tool.name);
    assert.equal(tool.inputSchema.additionalProperties, false, tool.name);
  }

  const { structuredContent: found, content } = await client.callTool({ name: "answer", arguments: { query: "weather in Tokyo" } });
  assert.equal(found.used_search, true);
  const [first, second] = content.map((item) => JSON.parse(item.text));
  assert.deepEqual(Object.keys(first), ["answer", "used_search", "citations", "model"]);
  assert.deepEqual({ ...first, ...second }, found);
  const searched = await client.callTool({ name: "chatgpt_o3_search", arguments: { query: "rust", limit: 1 } });
  assert.equal(searched.structuredContent.results.length, 1);
  const wrong = { name: "answer", arguments: { query: "x", max_results: 99 } };
  if (modern) {
    const failed = await client.callTool(wrong);
    assert.equal(failed._meta["annai/error"].details.code, -32001);
  } else {
    await assert.rejects(client.callTool(wrong), { code: -32001 });
  }
}

/** The client of 2.x in every way that it can agree on a version; `transport` makes a new one to the fixture. */
export function everyNegotiation(test, Client, me, transport) {
  for (const [mode, protocol] of [["legacy", "2025-11-25"], ["auto", "2026-07-28"], [{ pin: "2026-07-28" }, "2026-07-28"]]) {
    test(`client 2.x, ${JSON.stringify(mode)}`, async () => {
      const client = new Client(me, { versionNegotiation: { mode } });
      await client.connect(transport());
      assert.equal(client.getNegotiatedProtocolVersion(), protocol);
      await withFixture(client, protocol);
      const call = (params, options) => client.callTool(params, options);
      await reportsProgress(call);
      await canBeCancelled(call);
      await client.close();
    });
  }
}
