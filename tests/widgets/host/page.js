// A host of MCP Apps, as a chat program is one: the official bridge over a sandbox on another origin. Tools are called by
// the test, outside of the browser, as a chat program's back end does it.
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

const SANDBOX_READY = "ui/notifications/sandbox-proxy-ready";
let bridge;

/** What the page did to its host. */
window.seen = { sizes: [], messages: [], links: [], contexts: [], logs: [] };

/** Displays a page in the sandbox and hands it the input and the result of its tool. */
window.mount = async ({ html, sandboxUrl, sandbox, context, capabilities, input, result, width }) => {
  const frame = document.createElement("iframe");
  frame.id = "widget";
  frame.style.width = width ? `${width}px` : "100%";
  frame.style.height = "600px";
  document.body.replaceChildren(frame);
  const ready = new Promise((resolve) => {
    addEventListener("message", function listen(event) {
      if (event.source !== frame.contentWindow || event.data?.method !== SANDBOX_READY) return;
      removeEventListener("message", listen);
      resolve();
    });
  });
  frame.src = sandboxUrl;
  await ready;
  bridge = new AppBridge(null, { name: "test-host", version: "1.0.0" }, capabilities, { hostContext: context });
  bridge.onsizechange = ({ height }) => {
    window.seen.sizes.push(height);
    if (height) frame.style.height = `${height}px`;
  };
  bridge.onmessage = async (params) => {
    window.seen.messages.push(params);
    return {};
  };
  bridge.onopenlink = async ({ url }) => {
    window.seen.links.push(url);
    return {};
  };
  bridge.onupdatemodelcontext = async (params) => {
    window.seen.contexts.push(params);
    return {};
  };
  bridge.oncalltool = (params) => window.callTool(params);
  const initialized = new Promise((resolve) => {
    bridge.oninitialized = resolve;
  });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await bridge.sendSandboxResourceReady({ html, sandbox });
  await initialized;
  if (input !== undefined) await bridge.sendToolInput({ arguments: input });
  if (result !== undefined) await bridge.sendToolResult(result);
};

window.changeContext = (context) => bridge.setHostContext(context);
window.sendResult = (result) => bridge.sendToolResult(result);
window.sendPartial = (input) => bridge.sendToolInputPartial({ arguments: input });
window.cancel = () => bridge.sendToolCancelled({ reason: "user action" });
window.teardown = () => bridge.teardownResource({});
