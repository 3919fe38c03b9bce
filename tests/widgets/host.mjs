// Hosts in a real browser: one that speaks MCP Apps through a sandbox on another origin, and one that has only
// `window.openai`. Both serve a page under the content security policy that its description asks for.
import http from "node:http";
import { join } from "node:path";
import { build } from "esbuild";
import { chromium } from "playwright-core";

/** The policy that a host makes from empty lists of domains. */
const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; font-src 'none'; connect-src 'none'; frame-src 'self'; base-uri 'none'; form-action 'none'";
/** What a page may do in the sandbox. Forms are not among it, because not every host allows them. */
export const SANDBOX = "allow-scripts";
export const CAPABILITIES = {
  openLinks: {},
  serverTools: {},
  message: { text: {} },
  updateModelContext: { text: {}, structuredContent: {} },
};
export const CONTEXT = {
  theme: "light",
  locale: "en-US",
  timeZone: "Asia/Tokyo",
  displayMode: "inline",
  platform: "web",
};

/** The outer frame of the sandbox: it shows the page in an inner one and passes messages on, both ways. */
const PROXY = `<!doctype html><title>Sandbox</title><style>html,body,iframe{margin:0;border:0;width:100%;height:100%;display:block}body{overflow:hidden}</style><body><script>
let inner;
addEventListener("message", ({ source, data }) => {
  if (source === parent) {
    if (data.method === "ui/notifications/sandbox-resource-ready") {
      inner = document.createElement("iframe");
      inner.setAttribute("sandbox", data.params.sandbox);
      inner.title = "Widget";
      inner.srcdoc = data.params.html;
      document.body.append(inner);
    } else inner?.contentWindow.postMessage(data, "*");
  } else if (source === inner?.contentWindow) parent.postMessage(data, "*");
});
parent.postMessage({ jsonrpc: "2.0", method: "ui/notifications/sandbox-proxy-ready", params: {} }, "*");
</script>`;

/** Keeps the layout shifts and refused loads of a page. */
function watch() {
  window.shifts = [];
  window.violations = [];
  const place = ({ node, previousRect, currentRect }) =>
    `${node?.nodeName}.${node?.className} ${JSON.stringify(previousRect)} → ${JSON.stringify(currentRect)}`;
  // On a busy machine the browser lays a frame out before it knows its width. What moves when it learns it is not the page's.
  let sizedAt = innerWidth < 100 ? Infinity : -Infinity;
  addEventListener("resize", () => {
    if (sizedAt === Infinity && innerWidth >= 100) sizedAt = performance.now();
  });
  const isSized = ({ startTime }) => sizedAt === -Infinity || startTime > sizedAt + 200;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries())
      if (!entry.hadRecentInput && isSized(entry)) window.shifts.push(`${entry.value}: ${entry.sources.map(place).join(", ")}`);
  }).observe({ type: "layout-shift", buffered: true });
  addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
}

/** A page with a script before its own. The browser's driver may come too late for frames. */
export const withScript = (page, script) => page.replace("<head>", () => `<head><script>${script}</script>`);

const listen = (handler) =>
  new Promise((resolve) => {
    const server = http.createServer(handler).listen(0, "127.0.0.1", () => resolve(server));
  });
const html = (response, text, headers = {}) =>
  response.writeHead(200, { "content-type": "text/html;charset=utf-8", ...headers }).end(text);

/** Starts the browser and the two origins of the host. */
export async function startHost() {
  const bundle = await build({
    entryPoints: [join(import.meta.dirname, "host/page.js")],
    bundle: true,
    write: false,
    format: "iife",
    logLevel: "error",
  });
  const script = bundle.outputFiles[0].text;
  let openaiPage = "";
  const origin = await listen((request, response) => {
    if (request.url === "/host.js") return response.writeHead(200, { "content-type": "text/javascript" }).end(script);
    html(
      response,
      `<!doctype html><html lang="en"><title>Host</title><style>body{margin:0}iframe{border:0;display:block}</style><body></body><script src="/host.js"></script></html>`,
    );
  });
  const sandbox = await listen((request, response) =>
    html(response, request.url === "/openai" ? openaiPage : PROXY, { "content-security-policy": POLICY }),
  );
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu"],
  });
  const url = (server) => `http://127.0.0.1:${server.address().port}`;
  const newPage = async ({ width = 720, height = 900, ...options } = {}) => {
    const context = await browser.newContext({
      viewport: { width, height },
      reducedMotion: "reduce",
      locale: "en-US",
      ...options,
    });
    const page = await context.newPage();
    page.setDefaultTimeout(8000);
    page.problems = [];
    page.on("pageerror", (error) => page.problems.push(String(error)));
    page.on("console", (message) => message.type() === "error" && page.problems.push(message.text()));
    return page;
  };

  /** Displays a page in the host of MCP Apps. `callTool` answers its calls; the widget's frame is returned. */
  async function mount({
    html: page,
    callTool = () => new Promise(() => {}),
    context = {},
    capabilities = CAPABILITIES,
    sandbox: allowed = SANDBOX,
    input,
    result,
    page: existing,
    iframeWidth,
    ...options
  }) {
    const tab = existing ?? (await newPage(options));
    if (!existing) await tab.exposeFunction("callTool", (params) => tab.answer(params));
    tab.answer = callTool;
    await tab.goto(url(origin));
    await tab.evaluate((params) => window.mount(params), {
      html: withScript(page, `(${watch})()`),
      sandboxUrl: url(sandbox),
      sandbox: allowed,
      context: { ...CONTEXT, ...context },
      capabilities,
      input,
      result,
      width: iframeWidth,
    });
    const frame = tab.frames().find((each) => each.parentFrame()?.parentFrame());
    return { tab, frame, seen: () => tab.evaluate(() => window.seen) };
  }

  /** Displays a page in a host that has only `window.openai`. `globals` are its values; `state` is kept by the caller. */
  async function mountOpenai({
    html: page,
    callTool = () => new Promise(() => {}),
    globals = {},
    methods = ["callTool", "sendFollowUpMessage", "openExternal", "setWidgetState", "notifyIntrinsicHeight"],
    page: existing,
    ...options
  }) {
    const tab = existing ?? (await newPage(options));
    if (!existing) {
      tab.calls = [];
      await tab.exposeFunction("openaiCall", (method, args) => {
        tab.calls.push([method, ...args]);
        if (method === "callTool") return tab.answer({ name: args[0], arguments: args[1] });
        return null;
      });
    }
    tab.answer = callTool;
    const values = {
      theme: "light",
      locale: "en-US",
      displayMode: "inline",
      maxHeight: 900,
      safeArea: { insets: { top: 0, right: 0, bottom: 0, left: 0 } },
      toolInput: null,
      toolOutput: null,
      toolResponseMetadata: null,
      widgetState: null,
      ...globals,
    };
    const api = `(${watch})(); window.openai = ${JSON.stringify(values).replaceAll("<", "\\u003c")};
      for (const method of ${JSON.stringify(methods)}) window.openai[method] = (...args) => window.openaiCall(method, args);
      window.openai.setGlobals = (globals) => { Object.assign(window.openai, globals); dispatchEvent(new CustomEvent("openai:set_globals", { detail: { globals } })); };`;
    openaiPage = withScript(page, api);
    await tab.goto(url(origin));
    await tab.evaluate(
      (src) => {
        const frame = document.createElement("iframe");
        Object.assign(frame, { id: "widget", src, title: "Widget" });
        frame.style.cssText = "width:100%;height:900px;border:0";
        document.body.replaceChildren(frame);
      },
      `${url(sandbox)}/openai`,
    );
    const frame = tab.frames().find((each) => each.parentFrame());
    await frame.waitForLoadState();
    return { tab, frame };
  }

  return {
    mount,
    mountOpenai,
    newPage,
    browser,
    async stop() {
      await browser.close();
      for (const server of [origin, sandbox]) {
        server.closeAllConnections();
        server.close();
      }
    },
  };
}
