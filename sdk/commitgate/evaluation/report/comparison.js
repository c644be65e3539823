"use strict";
const MOST_CHANGES = 100;

/* Only pairs that came out otherwise tell two runs apart: on the left those that the first alone got right. */
function drawCompared(host, comparison, changes, names) {
  const most = Math.max(1, ...comparison.layers.flatMap((layer) => [layer.only_first, layer.only_second]));
  const heads = make("div", "row heads", make("div"), make("div", "sides", make("span", "", `← only ${names.first}`), make("span", "", `only ${names.second} →`)), make("div"));
  heads.setAttribute("aria-hidden", "true");
  const plot = make("div", "plot", heads);
  for (const layer of comparison.layers) plot.append(comparedRow(layer, most));
  host.append(plot);
  asTable(host, "Pairs of answers, layer by layer",
    ["layer", "pairs", "both", `only ${names.first}`, `only ${names.second}`, "neither", "change", `${level} interval`, "p", "p, corrected"],
    comparison.layers.map((layer) => [titleOf(layer.name), layer.pairs, layer.both, layer.only_first, layer.only_second, layer.neither,
      points(layer.difference), interval(layer), chance(layer.p_value), chance(layer.corrected_p_value)]));
  drawChanges(host, changes, names);
}

const points = (part) => (part === null ? "–" : part === 0 ? "0" : signed(part, (value) => (value * 100).toFixed(1).replace("-", "−")));
const interval = (layer) => (layer.interval ? `${points(layer.interval.low)} to ${points(layer.interval.high)}` : "–");
const chance = (value) => (value === null ? "–" : value < 0.001 ? "below 0.001" : value.toFixed(3));

function comparedRow(layer, most) {
  const isSure = layer.corrected_p_value !== null && layer.corrected_p_value < report.significant;
  const track = make("div", "track sided");
  for (const [side, number] of [["first", layer.only_first], ["second", layer.only_second]]) {
    const bar = make("div", `bar ${side}${isSure ? "" : " unsure"}`);
    // The longest bar leaves room for its number.
    const part = (number / most) * 0.43;
    bar.style.width = at(part);
    const words = make("span", `count ${side}`, number ? count(number) : "");
    words.style[side === "first" ? "right" : "left"] = `calc(${at(0.5 + part)} + 5px)`;
    track.append(bar, words);
  }
  const number = make("div", "number", make("div", "", make("span", "rate", layer.difference === null ? "–" : `${points(layer.difference)} points`), isSure ? make("b", "sure", "*") : null));
  number.append(make("small", "", layer.difference === null ? "no pair reached it" : `p ${chance(layer.corrected_p_value)}`));
  number.title = `${layer.pairs} pairs, ${level} interval ${interval(layer)} points`;
  return plotRow(titleOf(layer.name), track, number, layer.pairs ? "" : "empty");
}

function drawRatios(host, comparison, names) {
  if (!comparison.ratios.length) return;
  const box = make("div", "facts");
  for (const ratio of comparison.ratios) {
    const ends = `${ratio.interval.low.toFixed(2)} to ${ratio.interval.high.toFixed(2)}`;
    box.append(fact(`× ${ratio.ratio.toFixed(2)}`, `${report.quantities[ratio.name] || ratio.name}, ${names.second} against ${names.first}; ${level} interval ${ends}`));
  }
  host.append(box);
}

function drawChanges(host, changes, names) {
  if (!changes.length) return;
  const said = (list) => list.map(titleOf).join(", ") || "–";
  asTable(host, "Cases that came out otherwise", ["case", `only ${names.first} passes`, `only ${names.second} passes`],
    changes.slice(0, MOST_CHANGES).map((each) => [each.case_id + (each.repetition > 1 ? ` #${each.repetition}` : ""), said(each.lost), said(each.gained)]));
  const details = host.lastChild;
  const more = changes.length > MOST_CHANGES ? `, the first ${MOST_CHANGES}` : "";
  details.querySelector("summary").textContent = `${count(changes.length)} cases that came out otherwise${more}`;
  details.classList.add("changes");
}

function compared() {
  const found = report.comparison;
  byId("comparison-section").hidden = !found;
  if (!found) return;
  const isSame = found.first === found.second;
  const names = { first: isSame ? "the first" : found.first, second: isSame ? "the second" : found.second };
  const unpaired = found.unpaired_first + found.unpaired_second;
  const differs = found.differs.length ? ` Not the same in both: ${found.differs.join(", ").replaceAll("_", " ")}.` : "";
  byId("comparison-note").append(plainText(`${count(found.pairs)} pairs of answers to the same case.` +
    `${unpaired ? ` ${count(unpaired)} have no partner and are left out.` : ""}${differs}`));
  drawCompared(byId("comparison"), found, report.changes, names);
  drawRatios(byId("comparison"), found, names);
}

compared(); baseline();
