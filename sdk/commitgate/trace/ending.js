"use strict";
const MOODS = { committed: "good", answered: "good", needs_approval: "doubt", in_doubt: "doubt" };
const MOST_CARDS = 6;
const ASKED = {
  finish: "did the model itself say that it had ended?", accept: "is the text whole?", parse: "is it strict JSON?",
  schema: "does it fit the schema?", type: "does it fit the type?", rules: "do the business rules hold?",
  content: "are its texts free of hidden characters?", evidence: "does the evidence bear it out?",
  authorize: "may the principal do this?",
};
const mood = () => (trace.outcome ? MOODS[trace.outcome] || "bad" : trace.error ? "bad" : "");
const address = (index) => `#${state.request ? `request-${state.request + 1}-` : ""}step-${index + 1}`;

function headline() {
  const { steps, wishes } = current();
  if (!pieces().length) return trace.is_over ? "Nothing was written." : "Nothing has been written yet.";
  if (!steps) return "This backend tells no steps: here is what arrived, and when.";
  if (!wishes.length) return steps === 1 ? "At its one step the model's own first choice was allowed."
    : `At each of ${steps.toLocaleString("en")} steps the model's own first choice was allowed.`;
  return `At ${wishes.length.toLocaleString("en")} of ${counted(steps, "step", "steps")} the model wanted something that the contract forbids.`;
}

function strongest() {
  const all = pieces();
  return [...current().wishes].sort((a, b) => likeliest(all[b].step)[2] - likeliest(all[a].step)[2]);
}

function showLede() {
  const [first] = strongest();
  const box = byId("lede");
  box.replaceChildren();
  if (first === undefined) {
    box.hidden = true;
    return;
  }
  box.hidden = false;
  const piece = pieces()[first];
  const wish = likeliest(piece.step);
  const link = make("a", "", `step ${first + 1}`);
  link.href = address(first);
  link.dataset.step = String(first);
  box.append(current().wishes.length > 1 ? "Most of all at " : "It was at ", link, ": it gave ", token(wanted(wish)),
    ` ${percent(wish[2])} of its probability`);
  if (piece.mass !== undefined) box.append(`, and all that the contract allows there ${percent(piece.mass)} together`);
  box.append(". The mask took the forbidden away, so the text keeps to the contract.");
}

function wishCard(index) {
  const piece = pieces()[index];
  const wish = likeliest(piece.step);
  const link = make("a", "", make("small", "", `step ${index + 1}`), make("del", "", wanted(wish)), make("b", "", percent(wish[2])),
    piece.step.kind === "stop" ? make("span", "", "ended instead") : make("span", "", "wrote ", make("code", "", written(piece) || "nothing")));
  link.href = address(index);
  link.dataset.step = String(index);
  link.setAttribute("aria-label", `Step ${index + 1}: wanted ${wanted(wish)}, ${percent(wish[2])}; wrote ${written(piece) || "nothing"}`);
  return make("li", "", link);
}

let cardsOf = "";

function showWishes() {
  byId("wish-moves").hidden = byId("legend").hidden = byId("strip-note").hidden = current().steps === 0;
  const shown = strongest().slice(0, MOST_CARDS).sort((a, b) => a - b);
  const name = JSON.stringify([state.request, shown, current().wishes.length]);
  /* Cards that are the same stay, and so does the focus in them. */
  if (name === cardsOf) return;
  cardsOf = name;
  showLede();
  const cards = shown.map(wishCard);
  const left = current().wishes.length - shown.length;
  if (left > 0) cards.push(make("li", "more", `and ${left.toLocaleString("en")} more: press `, make("kbd", "", "n"), " to go from one to the next"));
  byId("wishes").replaceChildren(...cards);
  byId("wishes").hidden = cards.length === 0;
}

function markCards() {
  for (const link of byId("wishes").querySelectorAll("a")) {
    if (link.dataset.step === String(state.at)) link.setAttribute("aria-current", "step");
    else link.removeAttribute("aria-current");
  }
}

function showAbout() {
  const contract = trace.contract || {};
  const receipt = trace.receipt || {};
  const name = [trace.backend, trace.model].filter(Boolean).join("/") || "none";
  facts(byId("about"), [
    ["outcome", make("span", `badge ${mood()}`, trace.outcome ?? (trace.error ? "raised" : trace.is_over ? "ended" : "running"))],
    ["model", name],
    ["contract", `${contract.name || "without a name"}${contract.version ? ` ${contract.version}` : ""}`],
    ["tool", trace.tool], ["effect", trace.effect],
    ["took", trace.is_over ? duration(trace.total_s) : null],
    ["tokens", receipt.output_tokens !== undefined ? `${receipt.output_tokens.toLocaleString("en")} written` : null],
    ["began", trace.started_at !== undefined ? new Date(trace.started_at * 1000).toLocaleString() : null],
    ["left out", trace.is_cut ? "pieces after these: there were too many" : null],
  ]);
}

function showRequests() {
  const requests = trace.requests || [];
  const box = byId("requests");
  box.hidden = requests.length < 2;
  box.replaceChildren(...requests.map((request, number) => {
    const wait = request.waited_s >= 0.001 ? `, after a wait of ${duration(request.waited_s)}` : "";
    const why = request.ending ? `${request.ending}${request.detail ? ` (${request.detail})` : ""}` : "running";
    const button = make("button", "", `Request ${request.number}: ${why}${wait}`);
    button.type = "button";
    button.setAttribute("aria-pressed", String(number === state.request));
    button.addEventListener("click", () => chooseRequest(number));
    return button;
  }));
}

function layerRow(layer) {
  const kind = layer.verdict || "idle";
  const verdict = make("td", "", { passed: "✓ passed", failed: "✕ failed", idle: layer.ran ? "no verdict" : "not asked" }[kind]);
  for (const failure of layer.failures || []) {
    verdict.append(make("small", "", `${failure.code}${failure.pointer ? ` at ${failure.pointer}` : ""}: ${failure.message}`));
  }
  return make("tr", kind, make("td", "", layer.layer, make("small", "", ASKED[layer.layer] || "")), verdict,
    make("td", "", layer.ran ? duration(layer.time_s) : ""));
}

function showEnd() {
  const box = byId("ending");
  box.className = `verdict ${mood()}`;
  box.textContent = trace.outcome ? `${harmless(trace.outcome)}: ${harmless(trace.summary)}`
    : trace.error ? `It raised ${harmless(trace.error)}.` : trace.is_over ? "It ended without an outcome." : "It has not ended.";
  const layers = trace.layers || [];
  byId("layers").hidden = layers.length === 0;
  byId("no-layers").hidden = layers.length > 0;
  byId("no-layers").textContent = trace.kind === "served"
    ? "A server hands its answers out; whoever asked has a gate of his own." : "The call did not come to the gate.";
  byId("layers").tBodies[0].replaceChildren(...layers.map(layerRow));
  showReceipt(trace.receipt || {});
}

function showReceipt(receipt) {
  const tokens = receipt.output_tokens === undefined && receipt.input_tokens === undefined ? null
    : `${receipt.input_tokens ?? "?"} read, ${receipt.output_tokens ?? "?"} written`;
  const native = receipt.finish_native && receipt.finish_native !== receipt.finish ? ` (${receipt.finish_native})` : "";
  facts(byId("receipt"), [
    ["finish", receipt.finish ? `${receipt.finish}${native}` : null],
    ["requests", receipt.attempts ? String(receipt.attempts) : null],
    ["tokens", tokens],
    ["first token", receipt.time_to_first_token_s === undefined ? null : `after ${duration(receipt.time_to_first_token_s)}`],
    ["each token", receipt.time_per_token_s === undefined ? null : duration(receipt.time_per_token_s)],
    ["least legal mass", receipt.legal_mass_min === undefined ? null : percent(receipt.legal_mass_min)],
    ["mean legal mass", receipt.legal_mass_mean === undefined ? null : percent(receipt.legal_mass_mean)],
    ["compiled in", receipt.compile_s === undefined ? null : duration(receipt.compile_s)],
    ["first violation", receipt.first_violation === undefined ? null : `at byte ${receipt.first_violation}`],
    ["fallback", receipt.fallback], ["warnings", (receipt.warnings || []).join(", ")],
    ["ledger", trace.ledger_state ? `${trace.ledger_state}${trace.is_replayed ? ", replayed" : ""}` : null],
    ["operation key", receipt.operation_key_digest ? `${receipt.operation_key_digest.slice(0, 16)}… (its digest)` : null],
    ["model revision", receipt.model_revision],
    ["language", trace.contract && trace.contract.language_digest ? `${trace.contract.language_digest.slice(0, 16)}…` : null],
  ]);
}

function showSources() {
  const messages = current().messages || [];
  byId("messages").replaceChildren(...messages.flatMap((message) => {
    const text = make("pre", "text");
    text.textContent = harmlessLines(message.content);
    return [make("h3", "", message.role), text];
  }));
  const schema = trace.contract && trace.contract.schema !== undefined ? trace.contract.schema : "not kept";
  byId("schema").textContent = harmlessLines(JSON.stringify(shownSchema(schema), null, 2));
}

/* Without what a file marks: keys that begin with a dollar have one more there. */
function shownSchema(schema) {
  if (Array.isArray(schema)) return schema.map(shownSchema);
  if (schema === null || typeof schema !== "object") return schema;
  if (typeof schema.$number === "string") return schema.$number;
  return Object.fromEntries(Object.entries(schema).map(([key, item]) => [key.startsWith("$") ? key.slice(1) : key, shownSchema(item)]));
}
