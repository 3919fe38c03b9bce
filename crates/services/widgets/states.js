// What is shown instead of data: loading, a problem, and the notice below a form.

/** Why something failed, for the model. */
const reason = ({ code, message }) => (message || code).slice(0, 500);

/** Grey shapes in the places of what is coming. */
function loadingView(app, { target, input }) {
  const bar = (kind) => h(`div.bone.${kind}`);
  const card = () => h("div.card", bar("title"), bar("line"), bar("line"), bar("block"));
  const wanted = [input?.intent, input?.q, input?.category].find((text) => textOr(text));
  return [
    h("header.top", h("div.heading", h("h1", t(`${target}Loading`)), h("p.lead", { dir: "auto" }, wanted))),
    h(
      "div",
      { class: target === "task" ? "stack" : "grid", "aria-hidden": "true" },
      card(),
      card(),
      target === "task" ? null : card(),
    ),
  ];
}

/** Icon, title, sentence and remedies of a failure, and the server's own sentence, which is English, where it says more. */
function problemParts(app, failure, retry, title) {
  const { code, message } = failure;
  const hasTitle = ["unauthorized", "cancelled", "silent"].includes(code);
  const name = hasTitle ? code : "other";
  const { text, isOurs } = hasTitle ? { text: t(`${code}Text`), isOurs: true } : speech.failure(failure);
  const said = h("span", { lang: "en", dir: "auto" }, message.slice(0, 1000));
  const detail = message && !isOurs ? h("p.small", t("serverSaid"), said) : null;
  const symbol = icon(code === "unauthorized" ? "lock" : "alert");
  const heading = t(code === "precondition_required" ? "waiting" : `${name}Title`);
  return [symbol, h(title, heading), h("p", text), detail, h("div.actions", remedies(app, failure, retry))];
}

/** What can be done about a failure: open the task that it names, sign in, or do the same again. */
function remedies(app, failure, retry) {
  const { campaign_id: campaign } = failure.details ?? {};
  const buttons = [];
  if (failure.code === "precondition_required" && typeof campaign === "string") {
    const open = (target) => app.openTask(target, campaign);
    buttons.push(button(t("openTask"), { kind: "primary", symbol: "task", click: open }));
    return buttons;
  }
  const canSignIn = failure.code === "unauthorized" && app.bridge.canSend();
  if (canSignIn) {
    const signIn = (target) => app.say(target, t("signInPrompt"));
    buttons.push(button(t("signInChat"), { kind: "primary", symbol: "lock", click: signIn }));
  }
  if (retry) buttons.push(button(t("retry"), { kind: canSignIn ? "soft" : "primary", click: (target) => retry(target) }));
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
