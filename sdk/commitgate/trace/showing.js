"use strict";
const state = { request: Math.max(0, trace.requests.length - 1), at: 0 };
const pieces = () => (trace.requests[state.request] ? trace.requests[state.request].pieces : []);
const KINDS = {
  drawn: "The model chose this token.", forced: "Only this text could follow; the model was not asked.",
  thought: "A thought, before the answer.", stop: "The model chose to end.", dead_end: "No token was legal.",
};

function facts(box, rows) {
  box.replaceChildren(...rows.filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value))));
}

function showHead() {
  const all = pieces();
  const wishes = all.flatMap((piece, index) => (isWish(piece) ? [index] : []));
  const steps = all.filter((piece) => piece.step).length;
  byId("headline").textContent = !steps
    ? "This backend tells no steps: only what arrived, and when."
    : wishes.length === 0
      ? `The model's own first choice was allowed at each of ${steps} steps.`
      : `At ${wishes.length} of ${steps} steps the model wanted something that the contract forbids.`;
  const box = byId("wishes");
  box.replaceChildren();
  const worst = [...wishes].sort((a, b) => likeliest(all[b].step)[2] - likeliest(all[a].step)[2]).slice(0, 6).sort((a, b) => a - b);
  for (const index of worst) {
    const [, data, probability] = likeliest(all[index].step);
    const button = make("button", "", `${spelled(data) ?? "the end"} ${percent(probability)}`);
    button.type = "button";
    button.title = `go to step ${index + 1}`;
    button.setAttribute("aria-label", `Step ${index + 1}: it wanted ${spelled(data) ?? "to end"}, ${percent(probability)}`);
    button.addEventListener("click", () => go(index));
    box.append(button);
  }
  facts(byId("about"), [
    ["model", `${trace.backend ?? "none"}${trace.model ? `/${trace.model}` : ""}`],
    ["contract", trace.contract.name + (trace.contract.version ? ` ${trace.contract.version}` : "")],
    ["tool", trace.tool], ["effect", trace.effect], ["took", duration(trace.total_s)],
  ]);
  const chooser = byId("requests");
  chooser.hidden = trace.requests.length < 2;
  chooser.replaceChildren(...trace.requests.map((request, number) => {
    const button = make("button", "", `request ${request.number}: ${request.ending ?? "runs"}`);
    button.type = "button";
    button.setAttribute("aria-pressed", String(number === state.request));
    button.addEventListener("click", () => { state.request = number; state.at = 0; showAll(); });
    return button;
  }));
}

function showStrip() {
  byId("strip").replaceChildren(...pieces().map((piece) => {
    const step = piece.step;
    const mass = step ? step.mass : piece.mass ?? null;
    const column = make("i", !step ? "piece" : step.kind === "forced" ? "forced" : isWish(piece) ? "wish" : "");
    const height = `${Math.max(mass === null || mass === undefined ? 22 : mass * 100, 5)}%`;
    /* A forbidden wish has little legal mass, so that its column alone would hardly be seen. */
    if (isWish(piece)) column.style.background = `linear-gradient(to top, var(--bad) ${height}, var(--bad-ground) ${height})`;
    column.style.height = isWish(piece) ? "100%" : height;
    return column;
  }));
  byId("strip").setAttribute("aria-valuemax", String(Math.max(1, pieces().length)));
}

function showVerdict(piece) {
  const step = piece.step;
  const box = byId("verdict");
  const written = spelled(piece.bytes);
  if (!step) {
    box.className = "verdict";
    box.replaceChildren(make("span", "", "It wrote "), make("code", "", written));
    return;
  }
  const wish = step.choices.length ? likeliest(step) : null;
  if (wish && !wish[3] && step.kind !== "thought") {
    box.className = "verdict bad";
    const taken = step.kind === "stop" ? "the end" : step.kind === "dead_end" ? "nothing" : written;
    box.replaceChildren(make("span", "", "The model wanted "), make("code", "", spelled(wish[1]) ?? "to end"),
      make("span", "", ` (${percent(wish[2])}). The contract forbids it here; it took `), make("code", "", taken), make("span", "", "."));
    return;
  }
  box.className = "verdict";
  box.replaceChildren(make("span", "", `${KINDS[step.kind]} `), make("code", "", step.kind === "stop" ? "" : written));
}

function showChoices(step) {
  const list = byId("choices");
  list.replaceChildren();
  byId("choices-title").hidden = !step || !step.choices.length;
  byId("rest").textContent = "";
  if (!step || !step.choices.length) return;
  const taken = step.ids[0];
  for (const [id, data, probability, isLegal] of step.choices) {
    const notes = [isLegal ? null : "forbidden", id === taken ? "taken" : null].filter(Boolean).join(", ");
    const fill = make("i");
    fill.style.width = `${probability * 100}%`;
    const name = make("span", "", make("code", "", spelled(data) ?? "⟨end or special⟩"), notes ? make("small", "", notes) : null);
    const line = make("li", `${isLegal ? "" : "illegal"}${id === taken ? " taken" : ""}`, name,
      make("span", "part", fill), make("span", "number", percent(probability)));
    list.append(line);
  }
  if (step.mass !== null) {
    byId("rest").textContent = `The mask left ${step.legal.toLocaleString("en")} of ${step.of.toLocaleString("en")} tokens, ` +
      `which had ${percent(step.mass)} of the model's probability; it removed ${percent(1 - step.mass)}.`;
  }
}

function branch(value, final, pointer, name) {
  const label = name === null ? "" : `${name}: `;
  const kind = final.has(pointer) || final.has("") ? "final" : "open";
  if (value instanceof Map || Array.isArray(value)) {
    const entries = value instanceof Map ? [...value] : value.map((item, index) => [String(index), item]);
    const [opening, closing] = value instanceof Map ? ["{", "}"] : ["[", "]"];
    const inner = entries.map(([key, item]) =>
      branch(item, final, `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`, value instanceof Map ? key : null));
    return make("div", "", make("span", "", label), make("span", kind, opening),
      make("div", "nest", ...inner), make("span", kind, closing));
  }
  const shown = value !== null && typeof value === "object" ? value.number : JSON.stringify(value);
  const line = make("div", "", make("span", "", label), make("span", kind, shown));
  line.title = kind === "final" ? "final" : "still open";
  return line;
}

function showObject() {
  const { value, final } = valueAt(pieces(), state.at);
  byId("object").replaceChildren(value === undefined ? make("span", "note", "nothing yet") : branch(value, final, "", null));
  const all = pieces();
  byId("text").replaceChildren(document.createTextNode(harmless(joined(all.slice(0, state.at)))),
    make("mark", "", joined(all.slice(state.at, state.at + 1))));
}

function showStep() {
  const all = pieces();
  const piece = all[state.at];
  byId("where").textContent = piece ? `step ${state.at + 1} of ${all.length}` : "no step";
  if (!piece) { byId("verdict").textContent = "Nothing arrived."; showChoices(null); return; }
  const step = piece.step;
  showVerdict(piece);
  facts(byId("facts"), [
    ["could come next", step && step.state], ["place in the schema", step && step.place !== null ? step.place || "the root" : null],
    ["legal mass", step ? (step.mass === null ? (step.kind === "forced" ? "forced" : null) : percent(step.mass)) : piece.mass === undefined ? null : percent(piece.mass)],
    ["mask", step && step.choices.length ? duration(step.mask_s) : null], ["step", step ? duration(step.step_s) : null],
    ["at", duration(piece.at_s)], ["tokens", step && step.ids.length > 1 ? step.ids.length : null],
  ]);
  showChoices(step);
  showObject();
  const columns = byId("strip").children;
  for (const column of byId("strip").querySelectorAll(".now")) column.classList.remove("now");
  if (columns[state.at]) columns[state.at].classList.add("now");
  byId("strip").setAttribute("aria-valuenow", String(state.at + 1));
  byId("strip").setAttribute("aria-valuetext", `step ${state.at + 1}${isWish(piece) ? ", forbidden wish" : ""}`);
}

function showEnd() {
  const mood = trace.outcome === "committed" ? "good" : trace.outcome === null ? "" : ["in_doubt", "needs_approval"].includes(trace.outcome) ? "doubt" : "bad";
  byId("ending").className = `verdict ${mood}`;
  byId("ending").textContent = trace.outcome === null
    ? (trace.error ? `It raised ${harmless(trace.error)}.` : "It has not ended.") : `${harmless(trace.outcome)}: ${harmless(trace.summary)}`;
  byId("layers").replaceChildren(...trace.layers.map((layer) => {
    const told = layer.passed === null ? "not asked" : layer.passed ? "passed" : layer.failures.map((each) => `${each.code}${each.pointer ? ` at ${each.pointer}` : ""}`).join(", ") || "no";
    return make("li", layer.passed === null ? "" : layer.passed ? "passed" : "failed", `${layer.layer}: ${told}${layer.ran ? `, ${duration(layer.time_s)}` : ""}`);
  }));
  const receipt = trace.receipt || {};
  facts(byId("receipt"), [
    ["finish", receipt.finish && `${receipt.finish} (${receipt.finish_native})`], ["first token", receipt.time_to_first_token_s != null ? duration(receipt.time_to_first_token_s) : null],
    ["each token", receipt.time_per_token_s != null ? duration(receipt.time_per_token_s) : null], ["least legal mass", receipt.legal_mass_min != null ? percent(receipt.legal_mass_min) : null],
    ["tokens", receipt.output_tokens != null ? `${receipt.input_tokens ?? "?"} read, ${receipt.output_tokens} written` : null],
    ["compiled in", receipt.compile_s != null ? duration(receipt.compile_s) : null], ["fallback", receipt.fallback],
    ["warnings", (receipt.warnings || []).join(", ")], ["ledger", trace.ledger_state], ["replayed", trace.is_replayed ? "yes" : null],
    ["revision", receipt.model_revision], ["pieces", trace.is_cut ? "cut: there were too many" : null],
  ]);
  const request = trace.requests[state.request];
  byId("messages").replaceChildren(...(request ? request.messages : []).flatMap((message) =>
    [make("h3", "", message.role), make("pre", "text", message.content)]));
  byId("schema").textContent = harmless(JSON.stringify(trace.contract.schema, null, 2));
}
