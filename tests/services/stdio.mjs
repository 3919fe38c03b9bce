// annai over stdio, with every message in the hands of the test.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { ANNAI, environment, stop, temporary, within } from "./parts.mjs";

export class Stdio {
  #last = 0;
  #replies = new Map();
  #waiting = new Map();
  log = "";

  static async start(t, { home, settings = {}, toolsets = ["services", "answers"] } = {}) {
    const stdio = new Stdio();
    const args = ["--stdio", ...toolsets.flatMap((name) => ["--toolset", name])];
    stdio.child = spawn(ANNAI, args, { env: environment(home ?? temporary(), settings), stdio: ["pipe", "pipe", "pipe"] });
    t.after(() => stop(stdio.child));
    stdio.ended = new Promise((resolve) => stdio.child.once("close", resolve));
    stdio.child.stdin.on("error", () => {});
    stdio.child.stderr.setEncoding("utf8").on("data", (text) => (stdio.log += text));
    createInterface({ input: stdio.child.stdout }).on("line", (line) => {
      const message = JSON.parse(line);
      stdio.#replies.set(message.id, message);
      stdio.#waiting.get(message.id)?.(message);
    });
    const hello = stdio.send("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "tests", version: "1" } });
    stdio.initialized = (await stdio.reply(hello)).result;
    stdio.notify("notifications/initialized");
    return stdio;
  }

  /** Sends a request; its id. */
  send(method, params = {}) {
    const id = ++this.#last;
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    return id;
  }

  notify(method, params = {}) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", method, params })}\n`);
  }

  answered = (id) => this.#replies.has(id);

  reply(id) {
    const arrives = this.#replies.get(id) ?? new Promise((resolve) => this.#waiting.set(id, resolve));
    return within(20_000, `the reply ${id}`, Promise.resolve(arrives));
  }

  request = (method, params) => this.reply(this.send(method, params));

  /** A tool call: its result. */
  async call(name, args = {}, meta) {
    const { result, error } = await this.request("tools/call", { name, arguments: args, ...(meta && { _meta: meta }) });
    if (error) throw new Error(JSON.stringify(error));
    return result;
  }
}
