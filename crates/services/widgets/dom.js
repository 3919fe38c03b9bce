// Elements. Data only ever becomes text nodes, and is isolated so that right-to-left text leaves its surroundings alone.

const ICONS = {
  alert: ["M12 8v5", "M12 16.5v.01", "M12 3l9.5 17h-19z"],
  back: ["M14.5 5.5L8 12l6.5 6.5"],
  check: ["M5 12.5l4.5 4.5L19 7.5"],
  gift: [
    "M4 11h16v9H4z",
    "M3 7.5h18V11H3z",
    "M12 7.5V20",
    "M12 7.5C9 7.5 7 6.5 7 5s3.5-2.5 5 2.5C13.5 2.5 17 3.5 17 5s-2 2.5-5 2.5z",
  ],
  link: ["M9 6H5v13h13v-4", "M13 5h6v6", "M19 5l-9 9"],
  lock: ["M6 11h12v9H6z", "M8.5 11V8a3.5 3.5 0 0 1 7 0v3"],
  play: ["M8 5.5l10 6.5-10 6.5z"],
  search: ["M11 4.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13z", "M16 16l4.5 4.5"],
  task: ["M6 4.5h12v15.5H6z", "M9 9.5h6", "M9 13.5h4"],
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
/** A text that says something, or what to say otherwise. */
const textOr = (value, otherwise) => (typeof value === "string" && value.trim() ? value : otherwise);
/** The entries of a list that say something. */
const textsOf = (list) => (Array.isArray(list) ? list.filter((text) => textOr(text)) : []);
const objectsOf = (list) => (Array.isArray(list) ? list.filter(isObject) : []);

/**
 * An element: `h("p.small", { dir: "auto" }, child, …)`. Attributes may be left out, listeners are functions, children are
 * nodes, text, lists of these, or nothing.
 */
function h(name, ...children) {
  const [tag, ...classes] = name.split(".");
  const element = document.createElement(tag);
  if (classes.length > 0) element.className = classes.join(" ");
  const attributes = isObject(children[0]) && !(children[0] instanceof Node) ? children.shift() : {};
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== ""));
  return element;
}

/** A decorative icon. */
function icon(name) {
  const namespace = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(namespace, "svg");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("aria-hidden", "true");
  svg.setAttribute("class", "icon");
  for (const d of ICONS[name]) {
    const path = document.createElementNS(namespace, "path");
    path.setAttribute("d", d);
    svg.append(path);
  }
  return svg;
}

/** Right-to-left scripts and controls of the direction, with some characters that need no isolation. */
const TURNING = /[\u0590-\u08ff\u200e-\u206f\ufb1d-\ufefc\u{10800}-\u{1efff}]/u;
/** Data within a sentence. Browsers set Latin letters apart from Japanese ones only where nothing is isolated. */
const bdi = (text) => h(TURNING.test(text) ? "bdi" : "span", text);

/** The first letter of a name on a tile. */
function monogram(name) {
  const [letter] = name.match(/[\p{L}\p{N}]\p{M}{0,4}/u) ?? ["・"];
  return h("span.monogram", { "aria-hidden": "true" }, letter.toLocaleUpperCase());
}

/** A button, which is handed to what it does when it is clicked. Its spinner takes the place of its label, so that it keeps its size. */
function button(label, { kind = "soft", symbol, click, description } = {}) {
  const name = description ? `${label}: ${description}` : undefined;
  const face = h("span.face", symbol ? icon(symbol) : null, h("span", label));
  const element = h("button", { class: `button ${kind}`, type: "button", "aria-label": name }, face);
  if (click) element.addEventListener("click", () => click(element));
  return element;
}

/**
 * A form that is sent by its button or by Enter in a field. It is no form element: a sandbox that does not allow forms
 * swallows their submit events.
 */
function sendable(kind, submit, send, ...children) {
  const start = () => !submit.disabled && send();
  submit.addEventListener("click", start);
  const keydown = (event) => {
    if (
      event.key !== "Enter" ||
      event.isComposing ||
      event.target.type === "checkbox" ||
      event.target.tagName !== "INPUT"
    )
      return;
    event.preventDefault();
    start();
  };
  return h(`div.${kind}`, { keydown }, children);
}

/** Gives a button another label; it becomes no narrower, so that its neighbours stay. */
function relabel(target, label) {
  target.style.minWidth = `${target.offsetWidth}px`;
  target.querySelector(".face").lastChild.textContent = label;
}

/** Disables a button while its call is pending. */
function setBusy(target, isBusy) {
  target.disabled = isBusy;
  target.setAttribute("aria-busy", isBusy);
}
