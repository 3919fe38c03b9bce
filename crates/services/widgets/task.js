// The task of a campaign: its form, the consents, and what sending it achieved.

/** A task with everything that may be missing filled in. */
function readTask(data) {
  const format = isObject(data.task_input_format) ? data.task_input_format : {};
  return {
    id: textOr(data.campaign_id, ""),
    name: textOr(data.campaign_name, t("unnamed")),
    sponsor: textOr(data.sponsor, t("aSponsor")),
    task: textOr(data.required_task, ""),
    description: textOr(data.task_description, ""),
    instructions: textOr(format.instructions, ""),
    fields: [...new Set(textsOf(format.required_fields))],
    amount: speech.money(data.subsidy_amount_cents),
  };
}

const NO_CONSENT = { data_sharing_agreed: false, purpose_acknowledged: false, contact_permission: false };

/** `view`: data, values (by field), consent, mode ("form", "review", "completed" or "sent"), report, failure, isChecked, isBusy. */
function taskView(app, view) {
  view.values ??= {};
  view.consent ??= { ...NO_CONSENT };
  view.mode ??= view.data.already_completed === true ? "completed" : "form";
  const task = readTask(view.data);
  if (view.mode === "sent") return sentView(app, view, task);
  if (view.mode === "completed") return completedView(app, view, task);
  return formView(app, view, task);
}

function formView(app, view, task) {
  const { name, sponsor, amount } = task;
  const isReview = view.mode === "review";
  const fields = isReview ? [] : task.fields.map((each) => taskField(app, view, each));
  const consents = consentBoxes(app, view, task, isReview);
  const submit = button(t(isReview ? "save" : "send"), { kind: "primary wide" });
  setBusy(submit, view.isBusy === true);
  const send = () => {
    const [wrong] = checkAll();
    view.isChecked = Boolean(wrong);
    if (wrong) wrong.focus();
    else sendTask(app, view, task);
  };
  const checkAll = () => [...fields, ...consents].map(({ check }) => check()).filter(Boolean);
  // What was found wrong is still so in another language.
  if (view.isChecked) checkAll();
  const paragraphs = [task.description, task.instructions]
    .filter(Boolean)
    .map((text) => h("p.prose", { dir: "auto" }, text));
  const benefit = phrase(isReview ? "heldText" : amount ? "benefit" : "benefitPlain", { sponsor, amount });
  return [
    app.backBar(),
    h(
      "header.top",
      monogram(sponsor),
      h(
        "div.heading",
        h("h1", { dir: "auto" }, isReview ? t("reviewTitle") : name),
        h("p.lead", isReview ? bdi(name) : h("span", phrase("by", { sponsor }))),
      ),
    ),
    h(
      "div.columns",
      h(
        "div.stack",
        h("p.benefit", icon(isReview ? "lock" : "gift"), h("span", benefit)),
        isReview || paragraphs.length === 0 ? null : h("section.stack-s", h("h2", t("task")), paragraphs),
      ),
      sendable(
        "stack",
        submit,
        send,
        fields.length > 0
          ? h(
              "fieldset.stack-s",
              h("legend", t("fields")),
              fields.map(({ element }) => element),
            )
          : null,
        h(
          "fieldset.stack-s",
          h("legend", t("consent")),
          h("p.small", isReview ? t("reviewLead") : phrase("consentLead", { sponsor })),
          h(
            "div.consents",
            consents.map(({ element }) => element),
          ),
          privacyLink(app),
        ),
        submit,
        view.failure ? notice(app, view.failure) : null,
      ),
    ),
  ];
}

function taskField(app, view, name) {
  const change = (value) => {
    view.values[name] = value;
  };
  const value = Object.hasOwn(view.values, name) ? view.values[name] : "";
  return field(app, { name, label: speech.fieldName(name), kind: fieldKind(name), value, change });
}

function consentBoxes(app, view, { sponsor }, isReview) {
  const days = t("keptDays", { n: app.settings.retention_days });
  const box = (key, name, kept, isRequired) =>
    consentBox(app, {
      title: phrase(`${name}Title`, { sponsor }),
      purpose: phrase(`${name}Purpose`, { sponsor }),
      kept,
      isRequired,
      isChecked: isRequired && !isReview,
      value: view.consent[key],
      change: (value) => {
        view.consent[key] = value;
      },
    });
  return [
    box("data_sharing_agreed", "share", days, true),
    box("purpose_acknowledged", "keep", days, true),
    box("contact_permission", "contact", t("keptWithdrawn"), false),
  ];
}

function privacyLink(app) {
  const url = app.settings.privacy_url;
  if (!url) return null;
  // A host that does not open it leaves at least its address to copy.
  const open = (target) => app.bridge.openLink(url).catch(() => relabel(target, url));
  return h("div.flush", button(t("privacy"), { kind: "quiet", symbol: "link", click: open }));
}

async function sendTask(app, view, task) {
  const isReview = view.mode === "review";
  Object.assign(view, { isBusy: true, failure: null });
  app.redraw(view);
  const details = task.fields.length > 0 && !isReview ? { details: JSON.stringify(view.values) } : {};
  const args = { campaign_id: task.id, task_name: task.task, ...details, consent: { ...view.consent } };
  try {
    const { data } = await app.bridge.callTool("complete_task", args);
    if (!data) throw new Failure("no_data");
    Object.assign(view, { report: data, mode: "sent", isBusy: false });
    const state = data.can_use_service === true ? "can be used now" : "cannot be used";
    const what = isReview ? "changed their consent to the task" : "completed the task";
    app.did(`${what} of the campaign`, task.id, `Its services ${state}. ${bySponsor(task.name)}`);
    app.refresh(view);
  } catch (failure) {
    Object.assign(view, { isBusy: false, failure });
    app.did("failed to send the task of the campaign", task.id, reason(failure));
    app.redraw(view, ".wide");
  }
}

function outcome(app, { symbol, title, text, actions }) {
  return [
    app.backBar(),
    h("section.state", h("span.emblem.accent", icon(symbol)), h("h1", title), h("p", text), h("div.actions", actions)),
  ];
}

function outcomeActions(app, view, isUsable) {
  const review = () => {
    Object.assign(view, { mode: "review", consent: { ...NO_CONSENT }, failure: null });
    app.refresh(view);
  };
  const use = button(t("toServices"), { kind: "primary", click: (target) => app.openDashboard(target) });
  const change = button(t("review"), { kind: isUsable ? "quiet" : "primary", click: review });
  return isUsable ? [use, change] : [change];
}

function sentView(app, view, { name: campaign, sponsor }) {
  const isUsable = view.report.can_use_service === true;
  const hasConsent = view.consent.data_sharing_agreed && view.consent.purpose_acknowledged;
  const kind = isUsable ? "done" : hasConsent ? "paused" : "held";
  const text = phrase(`${kind}Text`, { campaign, sponsor });
  return outcome(app, {
    symbol: isUsable ? "check" : "alert",
    title: t(`${kind}Title`),
    text,
    actions: outcomeActions(app, view, isUsable),
  });
}

function completedView(app, view, { sponsor, amount }) {
  const text = amount ? phrase("completedText", { sponsor, amount }) : null;
  return outcome(app, { symbol: "check", title: t("completedTitle"), text, actions: outcomeActions(app, view, true) });
}
