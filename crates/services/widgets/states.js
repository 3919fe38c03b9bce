// What is shown instead of data: loading, a problem, and the notice below a form.

/** Grey shapes in the places of what is coming. */
function loadingView(app, { target, input }) {
  const bar = (kind) => h(`div.bone.${kind}`);
  const card = () => h("div.card", bar("title"), bar("line"), bar("line"), bar("block"));
  const wanted = [input?.intent, input?.q, input?.category].find((text) => textOr(text));
  return [
    h("header.top", h("div.heading", h("h1", t(`${target}Loading`)), h("p.lead", { dir: "auto" }, wanted))),
    h(
      "div",
      { class: target === "list" ? "grid" : "stack", "aria-hidden": "true" },
      card(),
      card(),
      target === "list" ? card() : null,
    ),
  ];
}

/** Icon, title, sentence and remedies of a failure, and the server's own sentence, which is English. */
function problemParts(app, failure, retry, title) {
  const { code, message } = failure;
  const isOurs = ["unauthorized", "cancelled", "silent"].includes(code);
  const name = isOurs ? code : "other";
  const text = isOurs ? t(`${code}Text`) : speech.failure(failure);
  const detail = message && !isOurs ? h("p.small", { lang: "en", dir: "auto" }, message.slice(0, 1000)) : null;
  const symbol = icon(code === "unauthorized" ? "lock" : "alert");
  return [symbol, h(title, t(`${name}Title`)), h("p", text), detail, h("div.actions", remedies(app, failure, retry))];
}

/** What can be done about a failure: open the task that it names, sign in, or do the same again. */
function remedies(app, failure, retry) {
  const { campaign_id: campaign } = failure.details ?? {};
  const buttons = [];
  if (failure.code === "precondition_required" && typeof campaign === "string") {
    const open = (target) => app.openTask(target, campaign);
    buttons.push(button(t("openTask"), { kind: "primary", symbol: "task", click: open }));
  } else if (retry) buttons.push(button(t("retry"), { kind: "primary", click: (target) => retry(target) }));
  if (failure.code === "unauthorized" && app.bridge.canSend()) {
    buttons.push(button(t("signInChat"), { click: (target) => app.say(target, t("signInPrompt")) }));
  }
  return buttons;
}

/** A whole view for a problem. */
function problemView(app, { failure, retry }) {
  const [symbol, ...parts] = problemParts(app, failure, retry, "h1");
  return [app.backBar(), h("section.state", h("span.emblem", symbol), parts)];
}

/** A problem at the end of a form. Nothing is below it that could move. */
function notice(app, failure) {
  const [symbol, ...parts] = problemParts(app, failure, null, "strong");
  return h("div.notice", { role: "alert" }, symbol, h("div.stack-s", parts));
}
