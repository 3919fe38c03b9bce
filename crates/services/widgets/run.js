// Running a service: its input, and its result below.

/** The longest input that the server takes. */
const MAX_INPUT = 200_000;
/** How much of a result is shown at once; the rest is one click away. */
const SHOWN_OUTPUT = 4000;
/** How much of a result the model is told. */
const TOLD_OUTPUT = 4000;

/** `view`: service, name, sponsor, isPayerOpen, input, key (of the attempt), result, failure, isBusy, isWhole. */
function runView(app, view) {
  const { name, sponsor } = view;
  // The header must not promise what the notice below denies.
  const isUnpaid = ["payment_required", "precondition_required"].includes(view.failure?.code);
  const payer = view.isPayerOpen ? t("aSponsor") : sponsor;
  const change = (value) => {
    view.input = value;
    // Another input is another run.
    view.key = null;
  };
  const input = field(app, {
    name: "input",
    label: t("runInput"),
    kind: "long",
    hint: t("runHint"),
    value: view.input ?? "",
    change,
    limit: MAX_INPUT,
  });
  const submit = button(t("run"), { kind: "primary wide", symbol: "play" });
  setBusy(submit, view.isBusy === true);
  const run = () => {
    const wrong = input.check();
    if (wrong) wrong.focus();
    else runService(app, view);
  };
  return [
    app.backBar(),
    h(
      "header.top",
      monogram(sponsor),
      h("div.heading", h("h1", { dir: "auto" }, name), h("p.lead", isUnpaid ? null : h("span", phrase("runLead", { sponsor: payer })))),
    ),
    sendable("stack-s", submit, run, input.element, submit),
    view.isBusy
      ? h("p.blank", t("running"))
      : view.result
        ? resultBlock(app, view)
        : view.failure
          ? notice(app, view.failure)
          : null,
  ];
}

/** A key for one run: the server runs it once, however often it is sent. */
function newKey() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

async function runService(app, view) {
  Object.assign(view, { isBusy: true, isWhole: false, result: null, failure: null, key: view.key ?? newKey() });
  app.redraw(view);
  app.announce(t("running"));
  try {
    const { data, meta } = await app.bridge.callTool(
      "run_service",
      { service: view.service, input: view.input },
      view.key,
    );
    if (!data) throw new Failure("no_data");
    const output = [meta.output, data.output].find((text) => typeof text === "string") ?? "";
    view.result = { output, sponsor: textOr(data.sponsored_by, view.sponsor), hash: data.tx_hash };
    view.key = null;
    const told = output.slice(0, TOLD_OUTPUT) + (output.length > TOLD_OUTPUT ? "…" : "");
    app.did("ran the service", view.service, `Its output: ${bySponsor(told)}`);
  } catch (failure) {
    view.failure = failure;
    app.did("failed to run the service", view.service, reason(failure));
  }
  view.isBusy = false;
  app.redraw(view, view.result ? "h2" : ".wide");
}

function resultBlock(app, view) {
  const { output, sponsor, hash } = view.result;
  const isCode = /^\s*(\{|<|\[(?!.*\]\())/.test(output);
  const text = h("div", { class: isCode ? "output code" : "output", dir: "auto" });
  const show = (shown) => text.replaceChildren(...(isCode ? [shown] : readMarks(app, shown)));
  const whole = button(t("showWhole", { n: output.length }), { kind: "quiet", click: () => open() });
  const open = () => {
    view.isWhole = true;
    show(output);
    whole.remove();
    text.tabIndex = -1;
    text.focus();
  };
  const isCut = !view.isWhole && output.length > SHOWN_OUTPUT;
  // An address that is cut would lead elsewhere.
  show(isCut ? output.slice(0, SHOWN_OUTPUT).replace(/https?:\/\/\S*$/, "") : textOr(output, t("emptyOutput")));
  const discuss = (target) => app.say(target, t("discussPrompt", { service: inSentence(view.service) }));
  return h(
    "section.stack-s",
    h("h2", { tabindex: "-1" }, t("result")),
    text,
    isCut ? whole : null,
    h("p.small", phrase("paidBy", { sponsor }), typeof hash === "string" ? [" · ", phrase("payment", { hash })] : null),
    h(
      "div.actions",
      app.bridge.canSend() ? button(t("discuss"), { click: discuss }) : null,
      button(t("toDashboard"), { kind: "quiet", click: (target) => app.openDashboard(target) }),
    ),
  );
}
