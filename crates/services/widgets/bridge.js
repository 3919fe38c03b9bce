// The bridge to the host: MCP Apps (JSON-RPC over postMessage) where the host speaks it, `window.openai` where it has only
// that. Widget state exists in `window.openai` alone, so it is used wherever it is found.

const PROTOCOL_VERSION = "2026-01-26";
/** How long a host may take to answer `ui/initialize` before the page says that it is alone. */
const INITIALIZE_MS = 10_000;
/** How long a tool may take. Services have limits of their own; this one ends the wait for a host that lost the call. */
const CALL_MS = 120_000;

/** Why a call gave nothing: `code` chooses the sentence that people read, `message` is the server's own. */
class Failure extends Error {
  constructor(code, message = "", details = {}) {
    super(message);
    this.code = code;
    this.details = isObject(details) ? details : {};
  }
}

function parseObject(text) {
  try {
    const value = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/**
 * Reads a tool result wherever hosts put its parts: in the result, in its `_meta.mcp_tool_result`, in a `result` string,
 * or, where a host passes texts only, in the JSON among these. Throws a `Failure` for a result that is an error.
 */
function readResult(raw) {
  let result = isObject(raw) ? raw : {};
  for (const inner of [result.mcp_tool_result, result._meta?.mcp_tool_result]) {
    if (isObject(inner)) result = { ...result, ...inner };
  }
  if (typeof result.result === "string") result = { content: [{ type: "text", text: result.result }], ...result };
  const meta = isObject(result._meta) ? result._meta : {};
  const content = Array.isArray(result.content) ? result.content : [];
  const texts = content.map((item) => item?.text).filter((text) => typeof text === "string");
  const error = isObject(meta["annai/error"]) ? meta["annai/error"] : null;
  if (result.isError || error) {
    const needsSignIn = meta["mcp/www_authenticate"] || error?.code === "unauthorized";
    throw new Failure(
      needsSignIn ? "unauthorized" : (error?.code ?? "internal"),
      error?.message ?? texts[0],
      error?.details,
    );
  }
  let data = isObject(result.structuredContent) ? result.structuredContent : null;
  if (!data) {
    const parsed = texts.map(parseObject).filter(Boolean);
    if (parsed.length > 0) data = Object.assign({}, ...parsed);
  }
  return { data, meta };
}

/** Turns whatever a host threw or sent as a JSON-RPC error into a `Failure`. */
function asFailure(error) {
  if (error instanceof Failure) return error;
  const message = typeof error?.message === "string" ? error.message : "";
  const signIn = error?.data?.["mcp/www_authenticate"] || /\b401\b|unauthori[sz]ed/i.test(message);
  return new Failure(signIn ? "unauthorized" : "internal", message);
}

/**
 * `handlers`: context(context), input(arguments), result(raw), cancelled(), silent() when no host answers, teardown().
 */
function createBridge(appInfo, handlers) {
  const pending = new Map();
  let lastId = 0;
  let origin = null;
  let isConnected = false;
  let isClosed = false;
  let capabilities = {};
  let lastHeight = 0;

  const openai = () => (isObject(window.openai) ? window.openai : null);
  const has = (method) => typeof openai()?.[method] === "function";
  // A sandbox without an origin of its own cannot be named as a target.
  const post = (message) =>
    window.parent.postMessage({ jsonrpc: "2.0", ...message }, origin && origin !== "null" ? origin : "*");
  const notify = (method, params = {}) => isConnected && post({ method, params });

  function settle(id, finish) {
    const waiting = pending.get(id);
    if (!waiting) return;
    pending.delete(id);
    clearTimeout(waiting.timer);
    finish(waiting);
  }

  function request(method, params, ms) {
    return new Promise((resolve, reject) => {
      const id = ++lastId;
      const expire = () => settle(id, () => reject(new Failure("timed_out")));
      pending.set(id, { resolve, reject, timer: setTimeout(expire, ms), isInitialize: method === "ui/initialize" });
      post({ id, method, params });
    });
  }

  function within(ms, promise) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Failure("timed_out")), ms);
    });
    return Promise.race([promise, late]).finally(() => clearTimeout(timer));
  }

  function receive(event) {
    // Only the host: its window, and after the handshake its origin.
    if (event.source !== window.parent || (origin !== null && event.origin !== origin)) return;
    const message = event.data;
    if (!isObject(message) || message.jsonrpc !== "2.0") return;
    if (typeof message.method === "string") {
      if (message.id !== undefined) answer(message);
      else if (isConnected) notified(message.method, isObject(message.params) ? message.params : {});
      return;
    }
    settle(message.id, ({ resolve, reject, isInitialize }) => {
      if (isInitialize && !message.error) origin = event.origin;
      if (message.error) reject(asFailure(message.error));
      else resolve(message.result);
    });
  }

  function answer({ id, method }) {
    if (method === "ping") post({ id, result: {} });
    else if (method === "ui/resource-teardown" && isConnected) {
      post({ id, result: {} });
      close();
    } else post({ id, error: { code: -32601, message: "Method not found" } });
  }

  function notified(method, params) {
    if (method === "ui/notifications/tool-input" || method === "ui/notifications/tool-input-partial") {
      handlers.input(isObject(params.arguments) ? params.arguments : {});
    } else if (method === "ui/notifications/tool-result") handlers.result(params);
    else if (method === "ui/notifications/tool-cancelled") handlers.cancelled();
    else if (method === "ui/notifications/host-context-changed") handlers.context(params);
  }

  /** What `window.openai` knows, in the terms of MCP Apps. */
  function readGlobals() {
    const api = openai();
    if (!api || isClosed) return;
    const { theme, locale, displayMode, safeArea, maxHeight } = api;
    const context = {
      theme,
      locale,
      displayMode,
      safeAreaInsets: safeArea?.insets,
      containerDimensions: { maxHeight },
    };
    // Where the host says it twice, MCP Apps counts: the two may differ, and would change the page back and forth.
    if (!isConnected) handlers.context(JSON.parse(JSON.stringify(context)));
    if (isObject(api.toolInput)) handlers.input(api.toolInput);
    const { toolOutput, toolResponseMetadata: meta } = api;
    if (!isObject(toolOutput) && !isObject(meta)) return;
    const inner = isObject(toolOutput?.structuredContent) ? toolOutput : { structuredContent: toolOutput };
    handlers.result({ ...inner, _meta: { ...meta } });
  }

  const canMessage = () => isConnected && capabilities.message !== undefined;
  /** Asks the host for something that it may refuse. */
  async function ask(method, params) {
    const result = await request(method, params, INITIALIZE_MS);
    if (result?.isError) throw new Failure("refused");
  }

  async function connect() {
    if (window.parent === window) {
      if (!openai()) handlers.silent();
      return;
    }
    const appCapabilities = { availableDisplayModes: ["inline", "fullscreen"] };
    const params = { protocolVersion: PROTOCOL_VERSION, appInfo, appCapabilities };
    try {
      const result = await request("ui/initialize", params, INITIALIZE_MS);
      if (isClosed) return;
      isConnected = true;
      capabilities = isObject(result?.hostCapabilities) ? result.hostCapabilities : {};
      handlers.context(isObject(result?.hostContext) ? result.hostContext : {});
      notify("ui/notifications/initialized");
      if (lastHeight > 0) notify("ui/notifications/size-changed", { height: lastHeight });
    } catch {
      if (!isClosed && !openai()) handlers.silent();
    }
  }

  function close() {
    isClosed = true;
    removeEventListener("message", receive);
    removeEventListener("openai:set_globals", readGlobals);
    for (const id of [...pending.keys()]) settle(id, () => {});
    handlers.teardown();
  }

  return {
    start() {
      addEventListener("message", receive);
      addEventListener("openai:set_globals", readGlobals);
      readGlobals();
      connect();
    },
    connect,
    isConnected: () => isConnected || has("callTool"),

    /** Calls a tool. `key` lets the server recognize a repeated run; only MCP Apps can carry it. */
    async callTool(name, args, key) {
      try {
        if (isConnected) {
          const meta = key ? { _meta: { "annai/idempotencyKey": key } } : {};
          return readResult(await request("tools/call", { name, arguments: args, ...meta }, CALL_MS));
        }
        if (has("callTool")) return readResult(await within(CALL_MS, openai().callTool(name, args)));
      } catch (error) {
        throw asFailure(error);
      }
      throw new Failure("no_host");
    },

    canSend: () => canMessage() || has("sendFollowUpMessage"),
    /** Says something in the conversation, in the name of the user. */
    async send(text) {
      if (canMessage()) await ask("ui/message", { role: "user", content: [{ type: "text", text }] });
      else await openai().sendFollowUpMessage({ prompt: text });
    },

    /** Opens a page outside of the host's sandbox. */
    async openLink(url) {
      if (isConnected) await ask("ui/open-link", { url });
      else await openai().openExternal({ href: url });
    },

    /** Tells the model what the user did here: it sees neither clicks nor the results of a page's calls. */
    tell(text, structuredContent) {
      if (!isConnected || capabilities.updateModelContext === undefined) return;
      ask("ui/update-model-context", { content: [{ type: "text", text }], structuredContent }).catch(() => {});
    },

    savedState: () => (isObject(openai()?.widgetState) ? openai().widgetState : {}),
    saveState(state) {
      if (has("setWidgetState")) Promise.resolve(openai().setWidgetState(state)).catch(() => {});
    },

    /** Reports the height that the page needs. */
    resize(height) {
      if (height === lastHeight || isClosed) return;
      lastHeight = height;
      notify("ui/notifications/size-changed", { height });
      if (has("notifyIntrinsicHeight")) openai().notifyIntrinsicHeight(height);
    },
  };
}
