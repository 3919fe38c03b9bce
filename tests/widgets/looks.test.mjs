// Every state of every page: geometry, type, colour, contrast, focus and axe, from the narrowest phone to a desktop.
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import assert from "node:assert/strict";
import { assertAxe, assertFocus, assertRules } from "./rules.mjs";
import * as data from "./data.mjs";
import { LOOKS, STATES, changeLook, enterState, forgetShifts, picture } from "./screens.mjs";
import { stage } from "./stage.mjs";

/** Where the pictures go; they are the output of this test. */
const folder = process.env.WIDGET_PICTURES ?? join(tmpdir(), "annai-widget-pictures");
mkdirSync(folder, { recursive: true });

for (const [state, steps] of Object.entries(STATES)) {
  test(`looks: ${state}`, async () => {
    const mounted = await enterState(stage.host, stage.pages, steps);
    await assertRules(mounted, state);
    for (const look of LOOKS) {
      await changeLook(mounted, look);
      await picture(mounted, join(folder, `${state}-${look.name}.png`));
      const where = `${state} ${look.name}`;
      await assertRules(mounted, where);
      // Neither depends on the language, and axe takes a second.
      if (look.theme !== (look.locale === "ja-JP" ? "light" : "dark")) continue;
      await assertAxe(mounted, where);
      await assertFocus(mounted, where);
    }
    await mounted.tab.context().close();
  });
}

test("every width from a phone to a desktop fits, and both themes are readable", async () => {
  const mounted = await enterState(stage.host, stage.pages, STATES.task, {
    theme: "dark",
    width: 1200,
    locale: "en-US",
  });
  for (const width of [1200, 1000, 841, 839, 640, 561, 559, 400, 320]) {
    await mounted.tab.setViewportSize({ width, height: 2600 });
    await mounted.tab.evaluate((theme) => window.changeContext({ theme }), width % 2 ? "light" : "dark");
    const wide = await mounted.frame.evaluate(() => document.documentElement.scrollWidth <= innerWidth);
    assert.ok(wide, `${width} px`);
  }
  await mounted.tab.context().close();
});

test("no motion for those who want none, and some for the others", async () => {
  for (const [reducedMotion, expected] of [
    ["reduce", "none"],
    ["no-preference", "breathe"],
  ]) {
    const { tab, frame } = await enterState(stage.host, stage.pages, STATES["list-loading"], { reducedMotion });
    assert.equal(
      await frame
        .locator(".bone")
        .first()
        .evaluate((bone) => getComputedStyle(bone).animationName),
      expected,
    );
    await tab.context().close();
  }
});

/** Runs in the page: where the elements are that a selector names first. */
const places = (selectors) =>
  selectors.map((selector) => {
    const { x, y, width, height } = document.querySelector(selector).getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  });

const RESULTS = {
  list: [data.search(), ".card"],
  task: [data.task(), ".benefit"],
  dashboard: [data.status(), ".card"],
};
for (const [entry, [result, first]] of Object.entries(RESULTS)) {
  test(`nothing moves when the result of the ${entry} arrives`, async () => {
    // A new node is no layout shift for the browser, so that the places are compared.
    for (const locale of ["en-US", "ja-JP"])
      for (const width of [320, 400, 768, 1200])
        for (const intent of ["集める", "Compare the prices of all shops that sell tea in Uji"]) {
          const loading = { entry, input: { intent }, until: ".bone" };
          const { tab, frame } = await enterState(stage.host, stage.pages, loading, { locale, width });
          const measured = async () => {
            const [title, card] = await frame.evaluate(places, ["h1", first]);
            // How many lines the first text of a task has depends on the name of its sponsor.
            return entry === "task" ? [title, card.slice(0, 3)] : [title, card];
          };
          const before = await measured();
          await tab.evaluate((params) => window.sendResult(params), result);
          await frame.locator("main[aria-busy=false]").waitFor();
          assert.deepEqual(await measured(), before, `${locale} ${width}: ${intent}`);
          await tab.context().close();
        }
  });
}

test("the way to the user's page is in the line of the title, and nothing is below the last card", async () => {
  const mounted = await enterState(stage.host, stage.pages, STATES.list);
  for (const locale of ["en-US", "ja-JP"])
    for (const width of [320, 768, 1200]) {
      await changeLook(mounted, { theme: "light", locale, width });
      const [title, link, cards, main] = await mounted.frame.evaluate(places, ["h1", ".top .quiet", ".grid", "main"]);
      const where = `${locale} ${width}`;
      // The first line of the title is 28 px high.
      assert.equal(link[1] + link[3] / 2, title[1] + 14, where);
      assert.equal(main[1] + main[3] - (cards[1] + cards[3]), width < 840 ? 16 : 24, where);
    }
  await mounted.tab.context().close();
});

test("with the whole window a page is a column in its middle; on a phone it is as wide as that", async () => {
  const mounted = await enterState(stage.host, stage.pages, STATES.dashboard, { width: 1200 });
  const { tab, frame } = mounted;
  const column = () => frame.evaluate(places, ["main", "h2"]);
  const inline = await column();
  assert.deepEqual([inline[0][0], inline[0][2], inline[1][0]], [0, 1200, 24]);
  await tab.evaluate(() => window.changeContext({ displayMode: "fullscreen" }));
  await frame.locator("html[data-display=fullscreen]").waitFor();
  const whole = await column();
  assert.deepEqual([whole[0][0], whole[0][2], whole[1][0]], [80, 1040, 120]);
  await forgetShifts(frame);
  await assertRules(mounted, "fullscreen");
  await tab.setViewportSize({ width: 320, height: 2600 });
  const narrow = await column();
  assert.deepEqual([narrow[0][0], narrow[0][2], narrow[1][0]], [0, 320, 16]);
  await tab.context().close();
});

test("a Japanese number stays with its counter, and names have no spaces around them", async () => {
  const japanese = { locale: "ja-JP", width: 320 };
  const { tab, frame } = await enterState(stage.host, stage.pages, STATES.task, japanese);
  const benefit = frame.locator(".benefit");
  assert.equal(await benefit.innerText(), "完了すると、Northwindが1\u00a0回につき$0.50まで負担します。");
  assert.equal(await frame.locator(".consent-title > span").first().innerText(), "回答をNorthwindに提供する");
  for (let width = 280; width <= 400; width += 8) {
    await tab.setViewportSize({ width, height: 2600 });
    const lines = await benefit.evaluate((element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      while (!walker.nextNode().data.includes("1\u00a0回"));
      const top = (letter) => {
        const [range, at] = [document.createRange(), walker.currentNode.data.indexOf(letter)];
        range.setStart(walker.currentNode, at);
        range.setEnd(walker.currentNode, at + 1);
        return range.getBoundingClientRect().top;
      };
      return [top("1"), top("回")];
    });
    assert.equal(lines[0], lines[1], `${width} px`);
  }
  await tab.context().close();
});

test("the title of the page is that of its view, in its language", async () => {
  const mounted = await enterState(stage.host, stage.pages, { ...STATES.list, tools: { get_task_details: data.task() } });
  const { tab, frame } = mounted;
  const title = () => frame.evaluate(() => document.title);
  assert.equal(await title(), "Services that cost you nothing 4 services");
  await changeLook(mounted, { theme: "light", locale: "ja-JP", width: 720 });
  assert.equal(await title(), "無料で使えるサービス 4\u00a0件");
  await frame.locator(".card button").first().click();
  await frame.locator(".benefit").waitFor();
  assert.equal(await title(), "開発者アンケート 2026");
  await tab.context().close();
});
