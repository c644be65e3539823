"use strict";
const unit = () => (current().steps ? "Step" : "Piece");
const token = (text) => make("code", "token", text);
const written = (piece) => (piece.text ? shortened(harmless(piece.text.replaceAll("\n", "⏎")).replaceAll(" ", "␣"), 400) : spelled(piece.data) || "");
const wanted = (choice) => spelled(choice[1]) ?? "to end, or a special token";

function facts(box, rows) {
  const shown = rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false);
  box.replaceChildren(...shown.map(([name, value]) => make("div", "", make("dt", "", name), make("dd", "", value))));
}

function verdictParts(piece) {
  const step = piece.step;
  if (!step) {
    const word = { thought: "A thought: ", refusal: "Words of a refusal: ", call: "Arguments of a tool's call: ",
      prose: "Words beside calls: " }[piece.kind] || "It wrote ";
    return ["", word, token(written(piece))];
  }
  const wish = isWish(piece) ? likeliest(step) : null;
  if (wish) {
    const instead = step.kind === "stop" ? ["it had to end."] : step.kind === "dead_end" ? ["nothing was left to write."]
      : ["it had to write ", token(written(piece)), "."];
    return ["bad", "The model wanted ", token(wanted(wish)), ` (${percent(wish[2])}). The contract forbids that here, so `, ...instead];
  }
  switch (step.kind) {
    case "forced":
      return ["", "Only ", token(written(piece)), ` could follow, so the model was not asked: ${counted((step.token_ids || []).length, "token", "tokens")} at once.`];
    case "thought":
      return ["", "A thought, before the answer; nothing is forbidden there: ", token(written(piece)), "."];
    case "stop":
      return ["good", "The model chose to end, and the text was whole."];
    case "dead_end":
      return ["bad", "No token was legal: the text cannot go on."];
    default: {
      const best = likeliest(step);
      const isFirst = best && step.token_ids && best[0] === step.token_ids[0];
      return isFirst || !best ? ["", "The model chose ", token(written(piece)), ", its own first choice."]
        : ["", "The draw took ", token(written(piece)), "; the likeliest, ", token(wanted(best)), ", was allowed too."];
    }
  }
}

function showVerdict(piece) {
  const [mood, ...parts] = verdictParts(piece);
  const box = byId("verdict");
  box.className = `verdict ${mood}`;
  box.replaceChildren(...parts.map((part) => (part instanceof Node ? part : document.createTextNode(harmless(part)))));
}

function showShares(step) {
  const isKnown = Boolean(step) && step.legal_mass !== undefined && Boolean(step.vocabulary_tokens) && step.legal_tokens !== undefined;
  byId("shares").hidden = !isKnown;
  if (!isKnown) return;
  byId("share-legal").style.width = `${(step.legal_mass * 100).toFixed(3)}%`;
  byId("share-kept").textContent = `Legal: ${percent(step.legal_mass)}, on ${step.legal_tokens.toLocaleString("en")} of ` +
    `${counted(step.vocabulary_tokens, "token", "tokens")}`;
  byId("share-removed").textContent = `Removed by the mask: ${percent(1 - step.legal_mass)}`;
}

function choiceRow(choice, takenId) {
  const [id, data, probability, isLegal] = choice;
  const isTaken = id === takenId;
  const text = spelled(data);
  const name = isLegal ? make("code", "", text ?? "end or special token") : make("del", "", text ?? "end or special token");
  const fill = make("i");
  fill.style.width = `${(probability * 100).toFixed(2)}%`;
  const gauge = make("div", "gauge", make("span", "", fill), make("b", "", percent(probability)));
  gauge.lastChild.style.fontWeight = "400";
  const verdict = isTaken ? (isLegal ? "written ✓" : "written") : isLegal ? "allowed" : "forbidden ✕";
  return make("tr", `${isLegal ? "" : "forbidden"}${isTaken ? " written" : ""}`, make("td", "", name), make("td", "", gauge), make("td", "", verdict));
}

function showChoices(step) {
  const choices = (step && step.choices) || [];
  const table = byId("choices");
  table.hidden = choices.length === 0;
  table.tBodies[0].replaceChildren(...choices.map((choice) => choiceRow(choice, step.token_ids && step.token_ids[0])));
}

function showStep() {
  const all = pieces();
  const piece = all[state.at];
  byId("step-title").textContent = piece ? `${unit()} ${state.at + 1}` : "This step";
  byId("step-panel").hidden = !piece;
  if (!piece) return;
  const step = piece.step;
  showVerdict(piece);
  showShares(step);
  showChoices(step);
  const isDrawn = step && step.choices && step.choices.length > 0;
  facts(byId("facts"), [
    ["could come next", step && step.kind !== "thought" ? step.state : null],
    ["in the schema at", step && step.place !== undefined ? step.place || "its root" : null],
    ["mask", isDrawn ? duration(step.mask_s) : null],
    ["the whole step", step ? duration(step.step_s) : null],
    ["since the start", duration(piece.at_s)],
    ["bytes", step ? null : String(bytesOf(piece.data).length)],
    ["legal mass", step ? null : piece.legal_mass === undefined ? null : percent(piece.legal_mass)],
  ]);
}
