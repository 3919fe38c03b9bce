// The real server with campaigns and sponsored APIs, the services behind them, and the official client.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const ANNAI = process.env.ANNAI ?? join(import.meta.dirname, "../../target/debug/annai");

/** A service as sponsors offer it: it answers with its input, fails for `fail`, and is slow for `slow`. */
function startUpstream() {
  const server = http.createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const { input } = JSON.parse(body);
    if (input === "fail") return response.writeHead(500).end("secret of the upstream");
    if (input === "slow") await new Promise((resolve) => setTimeout(resolve, 700));
    if (input === "long") return response.end("案内 ".repeat(4000));
    response.end(`Answer to: ${input}`);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

/** Starts the executable; resolves when it says where it listens. */
function startProcess(folder) {
  const env = {
    PATH: process.env.PATH,
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
    ANNAI_DEV_USER: "me@example.com",
    ALLOW_PRIVATE_UPSTREAMS: "true",
    RATE_LIMIT_PER_MIN: "100000",
  };
  const child = spawn(ANNAI, ["--http", "127.0.0.1:0", "--toolset", "services"], {
    env,
    stdio: ["ignore", "ignore", "pipe"],
  });
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`${ANNAI} ended with ${code}`)));
    createInterface({ input: child.stderr }).on("line", (line) => {
      const event = JSON.parse(line);
      if (event.msg === "listening") resolve({ child, url: new URL(event.url) });
    });
  });
}

/** Two campaigns and three sponsored APIs; the first campaign is returned. */
async function seed(url, upstream_url) {
  const post = async (path, body) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(new URL(path, url), { method: "POST", headers, body: JSON.stringify(body) });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const api = (name, sponsor, service_key, price_cents, budget_cents) =>
    post("/sponsored-apis", { name, sponsor, service_key, upstream_url, price_cents, budget_cents });
  await api("ウェブ記事の要約", "Aozora Press", "summarize", 5, 10_000);
  await api("Page scraping", "Northwind", "scrape", 25, 0);
  await api("ロゴデザイン", "Kumo Studio", "logo", 40, 0);
  const { campaign } = await post("/campaigns", {
    name: "開発者アンケート 2026",
    sponsor: "Northwind",
    required_task: "developer_survey",
    subsidy_per_call_cents: 50,
    budget_cents: 100_000,
    target_tools: ["scrape"],
    tags: ["web", "データ収集"],
    task_schema: {
      task_type: "survey",
      required_fields: ["email", "region", "team_size", "website", "feedback"],
      description: "開発でよく使うツールについて教えてください。2 分ほどで終わります。",
      instructions: "すべての項目に入力し、同意の内容を確認してから送信してください。",
    },
  });
  await post("/campaigns", {
    name: "Design newsletter",
    sponsor: "Kumo Studio",
    required_task: "newsletter_registration",
    subsidy_per_call_cents: 40,
    budget_cents: 4000,
    target_tools: ["logo"],
    tags: ["design", "branding"],
  });
  return campaign;
}

/** Starts annai for the user `me@example.com`, with services, and a client that is connected to it. */
export async function startAnnai() {
  const folder = mkdtempSync(join(tmpdir(), "annai-widgets-"));
  const upstream = await startUpstream();
  const { child, url } = await startProcess(folder);
  const stop = async () => {
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.kill();
    await ended;
    upstream.closeAllConnections();
    upstream.close();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const campaign = await seed(url, `http://127.0.0.1:${upstream.address().port}/`);
    const client = new Client({ name: "widget-tests", version: "1.0.0" });
    await client.connect(new StreamableHTTPClientTransport(url));
    return { client, campaign, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
