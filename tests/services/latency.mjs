// How much a services call over MCP costs more than its REST twin: both on one server over connections that stay open, in
// alternation, as medians; once as somebody with an access token, once as the development user. For scripts/bench; ANNAI
// names a release build. Exit status 1 where MCP costs over 0.3 ms more.
//
//   node latency.mjs [ROUNDS]
import http from "node:http";
import { consent, keys, newApi, newCampaign, people, shared, sponsoredService, start } from "./parts.mjs";

const LIMIT_MS = 0.3;
const rounds = Number(process.argv[2] ?? 1000);
const t = shared();

function client(port) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  return ({ method, path, headers, body }) =>
    new Promise((resolve, reject) => {
      const begin = process.hrtime.bigint();
      const content = body ? { "content-type": "application/json", accept: "application/json", "content-length": Buffer.byteLength(body) } : {};
      const sent = http.request({ host: "127.0.0.1", port, method, path, agent, headers: { ...content, ...headers } }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (more) => (text += more)).on("end", () => {
          const ms = Number(process.hrtime.bigint() - begin) / 1e6;
          if (response.statusCode !== 200 || text.includes('"isError":true')) reject(new Error(`${path}: ${response.statusCode} ${text}`));
          else resolve(ms);
        });
      });
      sent.on("error", reject).end(body);
    });
}
const quantile = (sorted, share) => sorted[Math.floor((sorted.length - 1) * share)];

async function measure(title, { settings, token, email }, service) {
  const annai = await start(t, { settings: { ...settings, RATE_LIMIT_PER_MIN: "1000000" }, toolsets: ["services"] });
  const campaign = await newCampaign(annai, { target_tools: ["echo"], budget_cents: 100_000_000, subsidy_per_call_cents: 1 });
  await newApi(annai, service, { price_cents: 1 });
  await annai.done("complete_task", { campaign_id: campaign.id, task_name: "survey", consent }, { token });
  const { session_token } = (await annai.call("authenticate_user", { email, region: "JP" }, { token })).result._meta;
  const gpt = { authorization: `Bearer ${keys.gpt}` };
  const person = token ? { authorization: `Bearer ${token}` } : {};
  const mcp = (name, args) => ({ method: "POST", path: "/mcp", headers: person, body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }) });
  const get = (path) => ({ method: "GET", path: `${path}${path.includes("?") ? "&" : "?"}session_token=${session_token}`, headers: gpt });
  const post = (path, body) => ({ method: "POST", path, headers: gpt, body: JSON.stringify({ session_token, ...body }) });
  const pairs = {
    search_services: [mcp("search_services", { q: "tea" }), get("/gpt/services?q=tea")],
    get_task_details: [mcp("get_task_details", { campaign_id: campaign.id }), get(`/gpt/tasks/${campaign.id}`)],
    get_user_status: [mcp("get_user_status", {}), get("/gpt/user/status")],
    get_preferences: [mcp("get_preferences", {}), get("/gpt/preferences")],
    run_service: [mcp("run_service", { service: "echo", input: "x" }), post("/gpt/services/echo/run", { input: "x" })],
  };
  const clients = [client(annai.port), client(annai.port)];
  let isMissed = false;
  console.log(`${title}: medians in ms of alternating calls (p95)`);
  console.log("                    MCP            REST           more");
  for (const [name, requests] of Object.entries(pairs)) {
    // Runs write to the disk, so there are fewer of them.
    const count = name === "run_service" ? Math.min(rounds, 200) : rounds;
    const times = [[], []];
    for (let round = -50; round < count; round++) {
      for (const which of round % 2 ? [0, 1] : [1, 0]) {
        const ms = await clients[which](requests[which]);
        if (round >= 0) times[which].push(ms);
      }
    }
    const [own, rest] = times.map((list) => list.sort((a, b) => a - b));
    const more = quantile(own, 0.5) - quantile(rest, 0.5);
    isMissed ||= more > LIMIT_MS;
    const cell = (list) => `${quantile(list, 0.5).toFixed(3)} (${quantile(list, 0.95).toFixed(3)})`;
    console.log(`  ${name.padEnd(17)} ${cell(own)}  ${cell(rest)}  ${more.toFixed(3)}${more > LIMIT_MS ? "  over the limit" : ""}`);
  }
  return isMissed;
}

try {
  const [issuer, service] = [await people(), await sponsoredService(t)];
  const hana = { settings: issuer.settings, token: issuer.person("hana"), email: "hana@example.com" };
  const dev = { settings: { ANNAI_DEV_USER: "dev@example.com" }, email: "dev@example.com" };
  const missed = [await measure("with an access token", hana, service), await measure("the development user", dev, service)];
  process.exitCode = missed.includes(true) ? 1 : 0;
} finally {
  await t.close();
}
process.exit();
