// What the tests of the packages share.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { names, root, version } from "../../packaging/facts.mjs";
import { temporaryFolder } from "../leftovers.mjs";

export { names, root, version };

/** An empty folder. */
export const emptyFolder = () => temporaryFolder("annai-package-");

/** Runs a command to its end; never fails. */
export function run(command, args, options = {}) {
  return new Promise((resolve) => {
    execFile(command, args, { maxBuffer: 1 << 26, ...options }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : (error.code ?? error.signal), stdout, stderr });
    });
  });
}

/** Runs a command that must succeed, and returns what it prints. */
export async function succeed(command, args, options) {
  const done = await run(command, args, options);
  assert.equal(done.status, 0, `${command} ${args.join(" ")}\n${done.stdout}\n${done.stderr}`);
  return done.stdout;
}

/** An environment in which nothing of this machine's user is found, except the programs. */
export const cleanEnvironment = (home, more = {}) => ({ PATH: process.env.PATH, HOME: home, ...more });

/** The official client starts a server that calls itself `name`, and hands the connection to `use`. */
export async function connect(command, args, { name = "annai", ...options }, use) {
  const client = new Client({ name: "package-tests", version: "1.0.0" });
  await client.connect(new StdioClientTransport({ command, args, stderr: "ignore", ...options }));
  try {
    assert.deepEqual([client.getServerVersion().name, client.getServerVersion().version], [name, version]);
    return await use(client);
  } finally {
    await client.close();
  }
}

/** A whole program: all toolsets are there, and a question to the example manuals is answered. */
export async function isAnnai(command, args, home) {
  const env = cleanEnvironment(home, { WORKSPACE_ROOT: join(root, "examples/workspace"), VAULT_ROOT: join(home, "vault") });
  await connect(command, [...args, "--stdio"], { env }, async (client) => {
    const { tools } = await client.listTools();
    const listed = tools.map(({ name }) => name);
    for (const name of ["answer", "chatgpt_o3_search", "manual_find", "search_services"]) assert.ok(listed.includes(name), name);
    const { structuredContent } = await client.callTool({ name: "manual_find", arguments: { query: "how many requests per minute" } });
    assert.match(JSON.stringify(structuredContent), /rate-limits\.md/);
  });
}

/** What replaces openai-responses-mcp: its name, its three tools and no others, its error without a key. */
export async function isResponsesServer(command, args, home) {
  await connect(command, [...args, "--stdio"], { name: names.replaces.npm, env: cleanEnvironment(home) }, async (client) => {
    const { tools } = await client.listTools();
    assert.deepEqual(tools.map(({ name }) => name).sort(), ["answer", "answer_detailed", "answer_quick"]);
    await assert.rejects(client.callTool({ name: "answer", arguments: { query: "?" } }), /OPENAI_API_KEY/);
  });
}
