// What must hold of every view, measured in the browser.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Runs in the page: everything that breaks a rule, as sentences. */
function measure() {
  const problems = [];
  const say = (rule, element, what) =>
    problems.push(
      `${rule}: <${element.tagName.toLowerCase()} class="${element.getAttribute("class") ?? ""}"> ${(element.textContent ?? "").slice(0, 40)} ${what}`,
    );
  const all = [...document.body.querySelectorAll("*")].filter(
    (element) => element.checkVisibility() && !element.closest("svg, script, .unseen"),
  );
  const isNarrowHead = (element) => getComputedStyle(element.closest("thead") ?? element).position === "absolute";
  const seen = all.filter((element) => !isNarrowHead(element));
  const page = document.documentElement;
  if (page.scrollWidth > innerWidth) problems.push(`scroll: ${page.scrollWidth} > ${innerWidth}`);

  // Links in a text are as high as its lines: the size of targets (WCAG 2.5.5) leaves them out.
  for (const element of seen.filter((each) => each.matches("button, input, textarea, a:not(.output a), select"))) {
    const target = element.type === "checkbox" ? element.closest("label") : element;
    const { width, height } = target.getBoundingClientRect();
    if (width < 44 || height < 44) say("target", element, `${width} × ${height}`);
  }

  const sizes = new Set();
  const probe = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgb = (color) => {
    probe.clearRect(0, 0, 1, 1);
    probe.fillStyle = color;
    probe.fillRect(0, 0, 1, 1);
    return [...probe.getImageData(0, 0, 1, 1).data];
  };
  const luminance = ([r, g, b]) => {
    const linear = [r, g, b].map((value) =>
      value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4,
    );
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
  };
  const contrast = (one, other) => {
    const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const ground = (element) => {
    for (let each = element; each; each = each.parentElement) {
      const color = rgb(getComputedStyle(each).backgroundColor);
      if (color[3] === 255) return color;
    }
    return [255, 255, 255, 255];
  };
  const hue = ([r, g, b]) => {
    const max = Math.max(r, g, b);
    const chroma = max - Math.min(r, g, b);
    if (chroma < 32) return null;
    const sextant = max === r ? ((g - b) / chroma + 6) % 6 : max === g ? (b - r) / chroma + 2 : (r - g) / chroma + 4;
    return sextant * 60;
  };
  const accent = hue(rgb(getComputedStyle(page).getPropertyValue("--accent").trim() || "#165e83")) ?? 200;

  for (const element of seen) {
    const style = getComputedStyle(element);
    const texts = [...element.childNodes].filter((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (texts.length > 0 || element.matches("input:not([type=checkbox]), textarea")) {
      sizes.add(style.fontSize);
      const ratio = contrast(rgb(style.color), ground(element));
      if (ratio < 4.5 && !element.closest(":disabled")) say("contrast", element, ratio.toFixed(2));
    }
    for (const node of texts) {
      const range = document.createRange();
      range.selectNodeContents(node);
      for (const { left, right } of range.getClientRects())
        if (left < -0.5 || right > innerWidth + 0.5) say("clipped", element, `${left}–${right}`);
    }
    if (
      style.overflow !== "visible" &&
      element !== document.body &&
      !element.matches("textarea, input, .monogram, .bar") &&
      (element.scrollWidth > element.clientWidth + 1 || element.scrollHeight > element.clientHeight + 1)
    )
      say("clipped", element, "overflows");
    const spaces = ["paddingTop", "paddingRight", "paddingBottom", "paddingLeft", "rowGap", "columnGap", "lineHeight"];
    if (!element.matches(".card > .button, input")) spaces.push("marginTop", "marginBottom");
    if (!element.matches(".screen, .state")) spaces.push("marginLeft", "marginRight");
    for (const name of spaces) {
      const value = Number.parseFloat(style[name]);
      if (Number.isFinite(value) && value % 4 !== 0) say("grid", element, `${name} ${style[name]}`);
    }
    for (const name of ["color", "backgroundColor", "borderTopColor", "borderBottomColor"]) {
      const color = rgb(style[name]);
      const own = color[3] > 0 ? hue(color) : null;
      if (own !== null && Math.abs(own - accent) > 15) say("accent", element, `${name} ${style[name]}`);
    }
  }
  for (const size of sizes) if (!["13px", "15px", "20px"].includes(size)) problems.push(`type: ${size}`);
  return problems;
}

/** Runs in the page: walks with the focus and says where it cannot be seen. */
function focusProblem() {
  const element = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(element);
  if (element === document.body) return null;
  return outlineStyle === "none" || Number.parseFloat(outlineWidth) < 2 ? element.outerHTML.slice(0, 80) : "";
}

export async function assertRules({ tab, frame }, where) {
  assert.deepEqual(await frame.evaluate(measure), [], where);
  const shifts = await frame.evaluate(() => window.shifts);
  assert.deepEqual(shifts, [], `${where}: layout shift`);
  assert.deepEqual(await frame.evaluate(() => window.violations), [], `${where}: content security policy`);
  assert.deepEqual(tab.problems, [], `${where}: errors of the page`);
}

export async function assertAxe({ frame }, where) {
  await frame.evaluate(axe);
  const violations = await frame.evaluate(async () => {
    const { violations } = await window.axe.run(document, { iframes: false });
    return violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(" | ")}`);
  });
  assert.deepEqual(violations, [], `${where}: axe`);
}

/** Walks through a view with the keyboard; the number of stops. */
export async function assertFocus({ tab, frame }, where) {
  const count = await frame.locator("button:enabled:visible, input:visible, textarea:visible").count();
  await frame.locator("main").evaluate(() => document.activeElement?.blur());
  await frame
    .locator("h1")
    .first()
    .evaluate((heading) => {
      heading.tabIndex = -1;
      heading.focus();
    });
  for (let stop = 0; stop < Math.min(count, 12); stop += 1) {
    await tab.keyboard.press("Tab");
    const problem = await frame.evaluate(focusProblem);
    if (problem === null) break;
    assert.equal(problem, "", `${where}: focus ${stop}`);
  }
}
