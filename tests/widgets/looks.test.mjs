// Every state of every page: geometry, type, colour, contrast, focus and axe, from the narrowest phone to a desktop.
import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import assert from "node:assert/strict";
import { assertAxe, assertFocus, assertRules } from "./rules.mjs";
import { LOOKS, STATES, changeLook, enterState, picture } from "./screens.mjs";
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
