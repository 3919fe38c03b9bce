// The fields of a form: what their names make of them, and what they take.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as data from "./data.mjs";
import { stage } from "./stage.mjs";

/** A form with these fields; `sent` waits until it is sent, and returns the answers. */
async function form(fields, context = {}) {
  let details;
  const { tab, frame } = await stage.host.mount({
    html: stage.pages.task,
    result: data.task({ task_input_format: { task_type: "survey", required_fields: fields, instructions: "" } }),
    callTool: async (params) => {
      details = JSON.parse(params.arguments.details);
      return data.completion();
    },
    context,
  });
  await frame.locator("main[aria-busy=false]").waitFor();
  const sent = async () => {
    await frame.locator(".emblem").waitFor();
    return details;
  };
  const close = () => tab.context().close();
  return { tab, frame, sent, close, submit: frame.locator(".button.wide") };
}

test("a field refuses only what its name cannot mean", async () => {
  const expected = {
    email: "email",
    work_email: "email",
    phone: "tel",
    website: "url",
    birthday: "date",
    start_date: "date",
    age: "number",
    headcount: "number",
    参加人数: "number",
    age_group: "text",
    order_number: "text",
    company_size: "text",
    favorite_day: "text",
    希望日時: "text",
    budget: "text decimal",
    予算: "text decimal",
    region: "text",
    feedback: "textarea",
  };
  const { frame, close } = await form(Object.keys(expected));
  const types = await frame
    .locator("input:not([type=checkbox]), textarea")
    .evaluateAll((all) => all.map(({ name, type, inputMode }) => [name, `${type} ${inputMode}`.trim()]));
  assert.deepEqual(Object.fromEntries(types), expected);
  await close();
});

test("what people write is sent as they write it, and an address gets its scheme", async () => {
  const { tab, frame, sent, close, submit } = await form(["order_number", "company_size", "budget", "website", "blog_url"]);
  const typed = ["A-123", "10-50", "1,000円", "example.com", "http://example.org/a"];
  for (const [index, text] of typed.entries()) {
    await frame.locator("input").nth(index).focus();
    await tab.keyboard.type(text);
  }
  await frame.getByRole("checkbox").first().focus();
  assert.equal(await frame.getByLabel("Website").inputValue(), "https://example.com");
  for (const index of [0, 1]) await frame.getByRole("checkbox").nth(index).check();
  await submit.click();
  const [order_number, company_size, budget, , blog_url] = typed;
  assert.deepEqual(await sent(), { order_number, company_size, budget, website: "https://example.com", blog_url });
  await close();
});

test("Enter completes an address, too", async () => {
  const { frame, sent, close } = await form(["website"]);
  for (const index of [0, 1]) await frame.getByRole("checkbox").nth(index).check();
  await frame.getByLabel("Website").fill("example.com/a");
  await frame.getByLabel("Website").press("Enter");
  assert.deepEqual(await sent(), { website: "https://example.com/a" });
  await close();
});

test("what is wrong is said with an example", async () => {
  for (const [locale, expected] of [
    [
      "en-US",
      [
        "Write it like this: name@example.com",
        "Write it like this: example.com",
        "Write it like this: 12",
        "Enter year, month and day.",
      ],
    ],
    [
      "ja-JP",
      [
        "次のように入力してください：name@example.com",
        "次のように入力してください：example.com",
        "次のように入力してください：12",
        "年・月・日をすべて入力してください。",
      ],
    ],
  ]) {
    const { tab, frame, close, submit } = await form(["email", "website", "age", "birthday"], { locale });
    for (const [index, text] of ["me", "not an address", "1e", "0101"].entries()) {
      await frame.locator("input").nth(index).focus();
      await tab.keyboard.type(text);
    }
    await submit.click();
    assert.deepEqual(await frame.locator(".field .wrong").allInnerTexts(), expected);
    await close();
  }
});
