// Pictures of every state of every widget, light and dark, on a phone and on a desktop, in Japanese and English, and one
// sheet of them: node screens.mjs FOLDER [SHEET.png]
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as data from "./data.mjs";
import { startHost } from "./host.mjs";
import { startAnnai } from "./annai.mjs";
import { readPages } from "./pages.mjs";

const answers =
  (tools) =>
  async ({ name }) =>
    (typeof tools[name] === "function" ? tools[name]() : tools[name]) ?? new Promise(() => {});
const fill = async (frame) => {
  for (const [index, value] of [
    "me@example.com",
    "JP",
    "12",
    "https://example.com",
    "速い検索が役立ちました。",
  ].entries()) {
    await frame.locator("input:not([type=checkbox]), textarea").nth(index).fill(value);
  }
  for (const index of [0, 1]) await frame.getByRole("checkbox").nth(index).check();
};
const send = (frame) => frame.locator(".button.wide").click();

/** Each state: the page it begins on, the result and answers, what is clicked, and what is on the screen then. */
export const STATES = {
  list: { entry: "list", result: data.search() },
  "list-loading": { entry: "list", input: { intent: "ウェブページを集めたい" }, until: ".bone" },
  "list-empty": { entry: "list", result: data.nothing() },
  "list-chosen": {
    entry: "list",
    result: data.search(),
    tools: { get_task_details: data.task() },
    act: async (frame) => {
      await frame.locator("[data-service] button").first().click();
      await frame.locator(".back button").click();
    },
    until: ".chosen",
  },
  "sign-in": {
    entry: "list",
    result: data.search(),
    tools: { get_task_details: data.signIn() },
    act: (frame) => frame.locator("[data-service] button").first().click(),
    until: ".state",
  },
  error: {
    entry: "list",
    result: data.failed("unavailable", "the database is locked by another process; try again later"),
    until: ".state",
  },
  "error-explained": {
    entry: "list",
    result: data.failed("forbidden", "your sign-in contains no verified e-mail address, which services need; verify it with your identity provider"),
    until: ".state",
  },
  task: { entry: "task", result: data.task() },
  "task-loading": { entry: "task", input: {}, until: ".bone" },
  "task-missing": { entry: "task", result: data.task(), act: send, until: ".wrong .icon" },
  "task-busy": {
    entry: "task",
    result: data.task(),
    act: async (frame) => {
      await fill(frame);
      await send(frame);
    },
    until: "button:disabled",
  },
  "task-failed": {
    entry: "task",
    result: data.task(),
    tools: { complete_task: data.failed("rate_limited", "60 requests a minute are allowed; try again in 12 s") },
    act: async (frame) => {
      await fill(frame);
      await send(frame);
    },
    until: ".notice",
  },
  "task-done": {
    entry: "task",
    result: data.task(),
    tools: { complete_task: data.completion() },
    act: async (frame) => {
      await fill(frame);
      await send(frame);
    },
    until: ".emblem",
  },
  "task-held": {
    entry: "task",
    result: data.task({ already_completed: true }),
    tools: { complete_task: data.completion(false) },
    act: async (frame) => {
      await frame.locator(".actions .quiet").click();
      await send(frame);
    },
    until: ".emblem",
  },
  "task-review": {
    entry: "task",
    result: data.task({ already_completed: true }),
    act: (frame) => frame.locator(".actions .quiet").click(),
    until: ".consents",
  },
  "task-completed": { entry: "task", result: data.task({ already_completed: true }), until: ".emblem" },
  dashboard: { entry: "dashboard", result: data.status() },
  "dashboard-loading": { entry: "dashboard", input: {}, until: ".bone" },
  "dashboard-empty": { entry: "dashboard", result: data.newcomer() },
  run: {
    entry: "dashboard",
    result: data.status(),
    act: (frame) => frame.locator(".card .primary").first().click(),
    until: "textarea",
  },
  "run-result": {
    entry: "dashboard",
    result: data.status(),
    tools: { run_service: data.run() },
    act: async (frame) => {
      await frame.locator(".card .primary").first().click();
      await frame.locator("textarea").fill("https://example.com");
      await send(frame);
    },
    until: ".output",
  },
  "run-needs-task": {
    entry: "dashboard",
    result: data.status(),
    tools: {
      run_service: data.failed("precondition_required", "`scrape` is sponsored after its task", {
        details: { service: "scrape", campaign_id: "x", campaign_name: "開発者アンケート 2026", required_task: "developer_survey" },
      }),
    },
    act: async (frame) => {
      await frame.locator(".card .primary").first().click();
      await frame.locator("textarea").fill("https://example.com");
      await send(frame);
    },
    until: ".notice",
  },
  "run-failed": {
    entry: "dashboard",
    result: data.status(),
    tools: {
      run_service: data.failed(
        "upstream_error",
        "the upstream of `scrape` failed: it answered 500; nothing was charged",
      ),
    },
    act: async (frame) => {
      await frame.locator(".card .primary").first().click();
      await frame.locator("textarea").fill("https://example.com");
      await send(frame);
    },
    until: ".notice",
  },
};
/** How a state is looked at: the themes, a narrow phone and a desktop, both languages. */
export const LOOKS = [];
for (const device of ["phone", "desktop"])
  for (const locale of ["ja-JP", "en-US"])
    for (const theme of ["light", "dark"])
      LOOKS.push({
        theme,
        device,
        width: device === "phone" ? 320 : 960,
        locale,
        name: `${theme}-${device}-${locale.slice(0, 2)}`,
      });

/** Brings a page into a state. */
export async function enterState(
  host,
  pages,
  { entry, result, input, tools = {}, act, until = "h1" },
  { theme = "light", locale = "en-US", width = 720, ...options } = {},
) {
  const mounted = await host.mount({
    html: pages[entry],
    result,
    input,
    callTool: answers(tools),
    context: { theme, locale, styles: { variables: { "--font-sans": '"Noto Sans CJK JP", sans-serif' } } },
    width,
    height: 2600,
    colorScheme: theme,
    ...options,
  });
  const { frame } = mounted;
  if (result) await frame.locator("main[aria-busy=false]").waitFor();
  await act?.(frame);
  await frame.locator(until).first().waitFor();
  return mounted;
}

/** Changes theme, language and width of a page that is displayed. */
export async function changeLook({ tab, frame }, { theme, locale, width }) {
  await tab.setViewportSize({ width, height: 2600 });
  await tab.emulateMedia({ colorScheme: theme });
  await tab.evaluate((context) => window.changeContext(context), { theme, locale });
  await frame.locator(`html[lang=${locale.slice(0, 2)}][data-theme=${theme}]`).waitFor();
  await forgetShifts(frame);
}

/** What moved because the window did is no fault of the page. */
export const forgetShifts = (frame) =>
  frame.evaluate(async () => {
    for (let frames = 0; frames < 2; frames += 1) await new Promise(requestAnimationFrame);
    window.shifts.length = 0;
  });

/** Takes the picture of a widget. */
export const picture = ({ tab }, file) => tab.locator("#widget").screenshot({ path: file });

/** One picture of many: the states of one look a row, scaled down. */
async function makeSheet(host, folder, target) {
  const page = await host.newPage({ width: 1850, height: 1000 });
  const image = (state, look) =>
    `<img src="data:image/png;base64,${readFileSync(join(folder, `${state}-${look}.png`)).toString("base64")}">`;
  const looks = { "light-desktop-en": 292, "dark-desktop-ja": 292, "light-phone-ja": 132, "dark-phone-en": 132 };
  const figure = (state) =>
    `<figure><figcaption>${state}</figcaption><div>${Object.entries(looks)
      .map(([look, width]) => image(state, look).replace("<img", `<img width=${width}`))
      .join("")}</div></figure>`;
  await page.setContent(
    `<!doctype html><style>body{margin:24px;background:#70767d;font:600 15px/24px "Noto Sans CJK JP";columns:2;column-gap:32px}figure{margin:0 0 24px;break-inside:avoid}figcaption{color:#fff}div{display:flex;gap:12px;align-items:flex-start}img{border-radius:6px}</style>${Object.keys(STATES).map(figure).join("")}`,
  );
  await page.screenshot({ path: target, fullPage: true });
}

if (process.argv[1] === import.meta.filename) {
  const [folder, sheet] = process.argv.slice(2);
  const wanted = new RegExp(process.env.ONLY ?? ".");
  mkdirSync(folder, { recursive: true });
  const [annai, host] = await Promise.all([startAnnai(), startHost()]);
  const pages = await readPages(annai.client);
  for (const [state, steps] of Object.entries(STATES).filter(([name]) => wanted.test(name))) {
    const mounted = await enterState(host, pages, steps);
    for (const look of LOOKS) {
      await changeLook(mounted, look);
      await picture(mounted, join(folder, `${state}-${look.name}.png`));
    }
    await mounted.tab.context().close();
  }
  if (sheet) await makeSheet(host, folder, sheet);
  await Promise.all([annai.stop(), host.stop()]);
}
