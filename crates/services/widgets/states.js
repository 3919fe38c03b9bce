// What is shown instead of data: loading, a problem, and the notice below a form.

/** Why something failed, for the model: the code, and the server's sentence, which may quote a sponsor. */
const reason = ({ code, message }) => bySponsor(`${code}: ${message}`.slice(0, 500));

/** Grey shapes in the places of what is coming, and as large, so that nothing moves when it comes. */
function loadingView(app, { target, input }) {
  const bone = (kind) => h(`div.bone.${kind}`);
  /** A text in the room that another one will need. */
  const over = (text, later) => h("span.over", h("span", text), h("span.ghost", later));
  const ghost = (key, symbol) => button(t(key), { kind: "quiet ghost", symbol });
  const top = (...parts) => h("header.top", target === "list" ? null : bone("monogram"), parts);
  const heading = (title, ...lead) => h("div.heading", h("h1", title), h("p.lead", { dir: "auto" }, lead));
  const cards = (...kinds) => {
    const head = () => h("div.card-head", bone("monogram"), h("div.fill", bone("line"), bone("small")));
    const card = () => h("div.card", head(), kinds.map(bone), bone("block"));
    return h("div.grid", card(), card(), card());
  };
  const title = t(`${target}Loading`);
  if (target === "list") {
    const wanted = [input?.intent, input?.q, input?.category].find((text) => textOr(text)) ?? "";
    // It needs no more lines than the text that follows: 18 Japanese letters or pairs of Latin ones.
    const lead = over(wanted.replace(/^(?=((?:[\x20-~]{2}|.){0,18}))\1.+/su, "$1…"), t("listLead"));
    const later = listTitle(t("listCount", { n: 10 }));
    return [top(heading(over(title, later), lead), ghost("toDashboard")), cards("block", "small", "small")];
  }
  if (target === "dashboard") {
    const services = h("section.stack-s", h("h2", t("services")), cards("small"));
    return [top(heading(title, bone("half"), bone("half")), ghost("toList", "search")), services];
  }
  const benefit = t("benefit", { sponsor: t("aSponsor"), amount: speech.money(100) });
  const column = (...parts) => h("div.stack", parts, bone("block"), bone("block"));
  return [
    top(heading(title, bone("half"))),
    h("div.columns", column(h("p.benefit.bone", icon("gift"), h("span.ghost", benefit))), column(bone("block"))),
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
