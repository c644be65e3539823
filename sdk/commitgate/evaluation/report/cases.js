"use strict";
const PAGE_ROWS = 100;
const MOST_CODES = 3;
const measures = Object.keys(report.titles);
const hasWays = variants.length > 1;
const rows = run.records.map((record, index) => ({
  record,
  through: report.came_through[index],
  steps: measures.map((name) => (name in record.passed ? record.passed[name] : null)),
  codes: [...new Set(record.faults.map(nameOf))],
}));
for (const row of rows) {
  const record = row.record;
  row.words = [record.case_id, record.outcome, record.detail, record.error, ...record.tags, ...row.codes]
    .filter(Boolean).map(plainText).join(" ").toLowerCase();
}
const COLUMNS = [
  ["case", (row) => row.record.case_id],
  ["asked", (row) => SHORT[row.record.variant]],
  ["outcome", (row) => row.record.outcome || "raised"],
  ["layers failed", (row) => row.steps.filter((step) => step === false).length],
  ["facts", (row) => (row.record.facts_asked ? row.record.facts_right / row.record.facts_asked : 2)],
  ["least mass", (row) => row.record.legal_mass_min ?? 2],
  ["took", (row) => row.record.total_s],
  ["what was wrong", (row) => row.codes.join(", ")],
].filter(([name]) => hasWays || name !== "asked");
const state = { column: 0, isDown: false, shown: PAGE_ROWS };

function findCases(words) {
  byId("find").value = plainText(words);
  byId("only-wrong").checked = false;
  byId("failed").value = "";
  state.shown = PAGE_ROWS;
  show();
  byId("cases-title").scrollIntoView({ block: "start" });
  byId("find").focus({ preventScroll: true });
}

function steps(row) {
  const box = make("span", "steps");
  const told = [];
  row.steps.forEach((step, index) => {
    const found = make("i", step === null ? "" : step ? "yes" : "no", step === null ? "·" : step ? "✓" : "✕");
    found.title = `${titleOf(measures[index])}: ${step === null ? "not reached" : step ? "passed" : "failed"}`;
    if (step === false) told.push(titleOf(measures[index]));
    box.append(found);
  });
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", told.length ? `failed: ${told.join(", ")}` : "no layer failed");
  return make("div", "", box, told.length ? make("div", "failed", told.join(", ")) : null);
}

function outcomeOf(record) {
  if (record.outcome) return record.outcome + (record.detail ? ` (${record.detail})` : "");
  return record.error ? `raised ${record.error}` : "not asked";
}

function caseRow(row) {
  const record = row.record;
  const facts = record.facts_asked ? `${record.facts_right} of ${record.facts_asked}` : "–";
  const least = record.legal_mass_min === null ? "–" : record.legal_mass_min.toPrecision(2);
  const rest = row.codes.length > MOST_CODES ? ` and ${row.codes.length - MOST_CODES} more` : "";
  const button = make("button", "open", record.case_id + (record.repetition > 1 ? ` #${record.repetition}` : ""));
  button.type = "button";
  button.setAttribute("aria-expanded", "false");
  const cells = [
    make("th", "id", button), hasWays ? make("td", "", SHORT[record.variant]) : null,
    make("td", row.through ? "good" : "", outcomeOf(record)), make("td", "", steps(row)), make("td", "number aside", facts),
    make("td", "number aside", least), make("td", "number aside", duration(record.total_s)),
    make("td", row.codes.length ? "id" : "id aside", row.codes.slice(0, MOST_CODES).join(", ") + rest || "–"),
  ].filter(Boolean);
  cells[0].scope = "row";
  cells.forEach((cell, index) => { cell.dataset.label = COLUMNS[index][0]; });
  const line = make("tr", "case", ...cells);
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
    if (isOpen) line.nextSibling.remove();
    else line.after(more(row));
  });
  return line;
}

function more(row) {
  const record = row.record;
  const overreach = record.is_overreach === null ? null :
    `${record.is_overreach ? "would do what is not allowed" : "is allowed"}${record.was_blocked === null ? "" : record.was_blocked ? ", and was blocked" : ", and was let through"}`;
  const facts = [
    ["wrong", record.faults.map((fault) => `${titleOf(fault.measure)}: ${fault.code}${fault.pointer ? ` at ${fault.pointer}` : ""}`).join("; ")],
    ["facts", record.facts_asked ? `${record.facts_right} of ${record.facts_asked} right` : null],
    ["act", overreach], ["second effects", record.second_effects], ["score", record.score],
    ["ending", record.is_right_ending ? "one that the case wants" : "not one that the case wants"],
    ["raised", record.error && `${record.error} in ${record.error_at}`],
    ["legal mass", record.legal_mass_mean === null ? null : `least ${record.legal_mass_min.toPrecision(2)}, mean ${record.legal_mass_mean.toFixed(3)}`],
    ["took", duration(record.total_s)],
    ["first token", record.time_to_first_token_s === null ? null : duration(record.time_to_first_token_s)],
    ["each token", record.time_per_token_s === null ? null : duration(record.time_per_token_s)],
    ["tokens", record.usage.output_tokens === null ? null : `${record.usage.input_tokens ?? "?"} read, ${record.usage.output_tokens} written`],
    ["requests", record.requests], ["tags", record.tags.join(", ")], ["digest of the text", record.text_digest],
  ];
  const list = make("dl", "about");
  for (const [name, value] of facts) {
    if (value === null || value === undefined || value === "") continue;
    list.append(make("div", "", make("dt", "", name), make("dd", "", value)));
  }
  const cell = make("td", "", list);
  cell.colSpan = COLUMNS.length;
  return make("tr", "more", cell);
}

function chosen() {
  const words = byId("find").value.trim().toLowerCase();
  const parts = rows.some((row) => row.words.includes(words)) ? [words] : words.split(/\s+/);
  const onlyWrong = byId("only-wrong").checked;
  const failed = measures.indexOf(byId("failed").value);
  const found = rows.filter((row) => (!onlyWrong || !row.through) && (failed < 0 || row.steps[failed] === false) &&
    parts.every((word) => row.words.includes(word)));
  const key = COLUMNS[state.column][1];
  found.sort((a, b) => {
    const one = key(a), other = key(b);
    const order = typeof one === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
    return state.isDown ? -order : order;
  });
  return found;
}

function sortBy(index) {
  state.isDown = index === state.column ? !state.isDown : false;
  state.column = index;
  show();
}

function show() {
  const found = chosen();
  const heads = make("tr");
  COLUMNS.forEach(([name], index) => {
    const isSorted = index === state.column;
    const arrow = make("span", "arrow", isSorted ? (state.isDown ? "▼" : "▲") : "");
    arrow.setAttribute("aria-hidden", "true");
    const button = make("button", "", name, arrow);
    button.type = "button";
    button.addEventListener("click", () => {
      sortBy(index);
      byId("cases").querySelectorAll("thead button")[index].focus();
    });
    const cell = make("th", "", button);
    cell.scope = "col";
    cell.setAttribute("aria-sort", !isSorted ? "none" : state.isDown ? "descending" : "ascending");
    heads.append(cell);
  });
  const body = make("tbody", "", ...found.slice(0, state.shown).map(caseRow));
  byId("cases").replaceChildren(make("thead", "", heads), body);
  byId("sort").value = String(state.column);
  byId("shown").textContent = `${count(Math.min(found.length, state.shown))} of ${count(rows.length)} shown`;
  byId("more").hidden = found.length <= state.shown;
}

function controls() {
  for (const name of measures) {
    if (!rows.some((row) => row.steps[measures.indexOf(name)] === false)) continue;
    const option = make("option", "", titleOf(name));
    option.value = name;
    byId("failed").append(option);
  }
  COLUMNS.forEach(([name], index) => {
    const option = make("option", "", name);
    option.value = String(index);
    byId("sort").append(option);
  });
  const again = () => { state.shown = PAGE_ROWS; show(); };
  byId("find").addEventListener("input", again);
  byId("failed").addEventListener("change", again);
  byId("only-wrong").addEventListener("change", again);
  byId("sort").addEventListener("change", () => { state.column = -1; sortBy(Number(byId("sort").value)); });
  byId("turn").addEventListener("click", () => sortBy(state.column));
  byId("more").addEventListener("click", () => { state.shown += PAGE_ROWS; show(); });
}

controls();
show();
