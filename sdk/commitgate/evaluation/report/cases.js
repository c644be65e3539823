"use strict";
const PAGE_ROWS = 200;
const measures = Object.keys(report.titles);
const rows = run.records.map((record, index) => ({
  record,
  through: report.came_through[index],
  steps: measures.map((name) => (name in record.passed ? record.passed[name] : null)),
  codes: [...new Set(record.faults.map((fault) => `${fault.code}${fault.pointer ? ` at ${fault.pointer}` : ""}`))],
}));
for (const row of rows) {
  const record = row.record;
  row.words = [record.case_id, record.variant, record.outcome, record.detail, record.error, ...record.tags, ...row.codes]
    .filter(Boolean).join(" ").toLowerCase();
}
const COLUMNS = [
  ["case", (row) => row.record.case_id],
  ["asked", (row) => WAYS[row.record.variant]],
  ["outcome", (row) => row.record.outcome || "raised"],
  ["layers", (row) => row.steps.filter((step) => step === false).length],
  ["facts", (row) => (row.record.facts_asked ? row.record.facts_right / row.record.facts_asked : -1)],
  ["least mass", (row) => row.record.legal_mass_min ?? 2],
  ["took", (row) => row.record.total_s],
  ["what was wrong", (row) => row.codes.join(", ")],
];
const state = { column: 0, isDown: false, shown: PAGE_ROWS };

function steps(row) {
  const box = make("span", "steps");
  const told = [];
  row.steps.forEach((step, index) => {
    const mark = make("i", step === null ? "" : step ? "yes" : "no", step === null ? "·" : step ? "✓" : "✕");
    mark.title = `${report.titles[measures[index]]}: ${step === null ? "not reached" : step ? "passed" : "failed"}`;
    if (step === false) told.push(report.titles[measures[index]]);
    box.append(mark);
  });
  box.setAttribute("role", "img");
  box.setAttribute("aria-label", told.length ? `failed: ${told.join(", ")}` : "no layer failed");
  return box;
}

function caseRow(row) {
  const record = row.record;
  const outcome = record.outcome ? record.outcome + (record.detail ? ` (${record.detail})` : "") : `raised ${record.error}`;
  const facts = record.facts_asked ? `${record.facts_right}/${record.facts_asked}` : "–";
  const mass = record.legal_mass_min === null ? "–" : record.legal_mass_min.toPrecision(2);
  return make("tr", "",
    make("td", "id", record.case_id + (record.repetition > 1 ? ` #${record.repetition}` : "")),
    make("td", "", WAYS[record.variant]), make("td", "", outcome), make("td", "", steps(row)),
    make("td", "number", facts), make("td", "number", mass), make("td", "number", duration(record.total_s)),
    make("td", "id", row.codes.join(", ")));
}

function chosen() {
  const words = byId("find").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const onlyWrong = byId("only-wrong").checked;
  const found = rows.filter((row) => (!onlyWrong || !row.through) && words.every((word) => row.words.includes(word)));
  const key = COLUMNS[state.column][1];
  found.sort((a, b) => {
    const one = key(a), other = key(b);
    const order = typeof one === "number" ? one - other : String(one).localeCompare(String(other), "en", { numeric: true });
    return state.isDown ? -order : order;
  });
  return found;
}

function show() {
  const found = chosen();
  const headRow = make("tr");
  COLUMNS.forEach(([name], index) => {
    const button = make("button", "", name + (index === state.column ? (state.isDown ? " ↓" : " ↑") : ""));
    button.type = "button";
    button.addEventListener("click", () => {
      state.isDown = state.column === index && !state.isDown;
      state.column = index;
      show();
      byId("cases").querySelectorAll("th button")[index].focus();
    });
    const cell = make("th", "", button);
    cell.scope = "col";
    cell.setAttribute("aria-sort", index !== state.column ? "none" : state.isDown ? "descending" : "ascending");
    headRow.append(cell);
  });
  const body = make("tbody", "", ...found.slice(0, state.shown).map(caseRow));
  byId("cases").replaceChildren(make("thead", "", headRow), body);
  byId("shown").textContent = `${Math.min(found.length, state.shown)} of ${rows.length} shown`;
  byId("more").hidden = found.length <= state.shown;
}

byId("find").addEventListener("input", () => { state.shown = PAGE_ROWS; show(); });
byId("only-wrong").addEventListener("change", () => { state.shown = PAGE_ROWS; show(); });
byId("more").addEventListener("click", () => { state.shown += PAGE_ROWS; show(); });
show();
