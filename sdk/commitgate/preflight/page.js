"use strict";
const { groups, report } = JSON.parse(document.getElementById("data").textContent);
const WORDS = { passed: "passed", warned: "warned", failed: "failed", not_applicable: "does not apply" };
const ORDER = ["failed", "warned", "passed", "not_applicable"];
const VERDICTS = {
  passed: "Every check that applies passed.",
  warned: "Nothing failed; somebody should look at what warned.",
  failed: "Not ready: at least one check failed.",
};
const SVG = "http://www.w3.org/2000/svg";

/** Make an element with text, never with markup: what is shown may hold anything. */
function made(name, { className, text } = {}, ...children) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

function drawn(name, attributes, text) {
  const node = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  if (text !== undefined) node.textContent = text;
  return node;
}

function at(id) {
  return document.getElementById(id);
}

function showHead() {
  const { contract, backend } = report;
  const model = backend.model ? `${backend.name}, ${backend.model}` : backend.name;
  const name = contract ? [contract.name, contract.version].filter(Boolean).join(" ") : "No contract";
  at("title").textContent = `${name} on ${model}`;
  at("kind").textContent = `Preflight, ${report.made_on.slice(0, 10)}`;
  at("verdict").textContent = VERDICTS[report.verdict];
  at("verdict").classList.add(`${report.verdict}-ground`);
  for (const verdict of ORDER) {
    if (!report.counted[verdict]) continue;
    at("counts").append(made("li", {}, made("b", { text: report.counted[verdict] }), ` ${counted(verdict)}`));
  }
}

function counted(verdict) {
  return verdict === "not_applicable" ? "not applicable" : WORDS[verdict];
}

function showFacts() {
  const { contract, backend } = report;
  const facts = [
    ["made", report.made_on],
    ["commitgate", report.commitgate],
    ["contract", contract && `${contract.name}, a ${contract.kind}`],
    ["version", contract && (contract.version || "none")],
    ["risk", contract && contract.risk],
    ["full digest", contract && contract.full_digest, "digest"],
    ["language digest", contract && contract.language_digest, "digest"],
    ["template digest", contract && contract.template_digest, "digest"],
    ["backend", backend.dialect ? `${backend.name} (${backend.dialect})` : backend.name],
    ["server's version", backend.server_version],
    ["model", backend.model || "its default"],
    ["model's revision", backend.model_revision, "digest"],
    ["vocabulary", backend.tokenizer_fingerprint, "digest"],
    ["asked for as", backend.form],
    ["probed", backend.probed_at && `${new Date(backend.probed_at * 1000).toISOString().slice(0, 19)}Z`],
  ];
  for (const [name, value, className] of facts) {
    if (value) at("facts").append(made("dt", { text: name }), made("dd", { className, text: value }));
  }
}

function checkItem(check) {
  const body = made("div", {}, made("div", { className: "about", text: check.about }));
  body.append(made("p", { className: "found", text: check.found }));
  const isOpen = check.verdict === "failed" || check.verdict === "warned";
  if (check.instead && isOpen) body.append(made("p", { className: "instead", text: check.instead }));
  if (check.places.length) {
    const places = made("ul", { className: "places" });
    for (const place of check.places) places.append(made("li", { text: place }));
    if (check.places_left_out) places.append(made("li", { text: `and ${check.places_left_out} more` }));
    body.append(places);
  }
  const item = made("li", { className: check.verdict }, made("span", { className: "mark", text: WORDS[check.verdict] }), body);
  item.id = check.id;
  item.dataset.verdict = check.verdict;
  return item;
}

function showChecks() {
  for (const [group, heading] of Object.entries(groups)) {
    const found = report.checks.filter((check) => check.group === group);
    if (!found.length) continue;
    const list = made("ul", { className: "group" }, ...found.map(checkItem));
    const section = made("section", {}, made("h2", { text: heading }), list);
    at("checks").append(section);
  }
}

function showFilters() {
  const choices = [["all", "all checks"], ...ORDER.filter((each) => report.counted[each]).map((each) => [each, counted(each)])];
  for (const [verdict, words] of choices) {
    const button = made("button", { text: words });
    button.type = "button";
    button.setAttribute("aria-pressed", String(verdict === "all"));
    button.addEventListener("click", () => filterBy(verdict, button));
    at("filters").append(button);
  }
}

function filterBy(verdict, pressed) {
  for (const button of at("filters").children) button.setAttribute("aria-pressed", String(button === pressed));
  for (const section of at("checks").children) {
    let isShown = false;
    for (const item of section.querySelectorAll(":scope > .group > li")) {
      item.hidden = verdict !== "all" && item.dataset.verdict !== verdict;
      isShown = isShown || !item.hidden;
    }
    section.hidden = !isShown;
  }
}

function seconds(value) {
  return value >= 1 ? `${value.toFixed(2)} s` : `${Number((1000 * value).toPrecision(3))} ms`;
}

/** Draw each call as a dot, cold above hot, on one scale from nothing to the longest. */
function plot(heading, field, limit, trial) {
  const coldCalls = trial.cold.calls;
  const dots = trial.calls.map((call, number) => [number < coldCalls ? "cold" : "hot", call[field]]).filter((each) => each[1] !== null);
  if (!dots.length) return null;
  const most = Math.max(limit || 0, ...dots.map((each) => each[1])) || 1;
  const width = Math.max(240, at("plots").clientWidth), left = 44, right = 16, rows = { cold: 22, hot: 50 };
  const x = (value) => left + (value / most) * (width - left - right);
  const svg = drawn("svg", { viewBox: `0 0 ${width} 92`, role: "img" });
  const told = ["cold", "hot"].filter((name) => trial[name][field]).map((name) => {
    const spread = trial[name][field];
    return `${name}: median ${seconds(spread.median)}, 95 % within ${seconds(spread.p95)}, at most ${seconds(spread.most)}`;
  });
  svg.append(drawn("title", {}, `${heading}. ${told.join("; ")}`));
  svg.append(drawn("line", { class: "axis", x1: left, x2: width - right, y1: 70, y2: 70 }));
  for (const [anchor, value] of [["start", 0], ["end", most]]) {
    svg.append(drawn("text", { x: x(value), y: 87, "text-anchor": anchor }, value ? seconds(value) : "0"));
  }
  if (limit !== null) {
    svg.append(drawn("line", { class: "limit", x1: x(limit), x2: x(limit), y1: 6, y2: 70 }));
    told.push(`limit: ${seconds(limit)}`);
  }
  for (const [name, y] of Object.entries(rows)) {
    if (dots.some((each) => each[0] === name)) svg.append(drawn("text", { x: 0, y: y + 4 }, name));
  }
  for (const [name, value] of dots) svg.append(drawn("circle", { class: name, cx: x(value), cy: rows[name], r: 5 }));
  const legend = made("p", { className: "legend" });
  told.forEach((words) => legend.append(made("span", { className: words.split(":")[0] }, made("i"), words)));
  return made("div", { className: "plot" }, made("h3", { text: heading }), svg, legend);
}

function showTrial() {
  const trial = report.trial;
  if (!trial) return;
  const cold = trial.is_cold_sure ? "the schema was new" : "nobody knows whether the schema was new to the server";
  at("trial-about").textContent =
    `${trial.cold.calls} cold and ${trial.hot.calls} hot calls, ${trial.concurrency} at once; on the cold ones ${cold}. ` +
    "Times are those of one machine on one day.";
  at("trial").hidden = false;
  drawPlots();
  window.addEventListener("resize", drawPlots);
}

function drawPlots() {
  const trial = report.trial;
  const plots = [
    plot("To the first token", "first_token_s", trial.first_token_limit_s, trial),
    plot("For each further token", "per_token_s", trial.per_token_limit_s, trial),
  ];
  at("plots").replaceChildren(...plots.filter(Boolean));
}

function showSupport() {
  const rows = report.support;
  if (!rows.length) return;
  const levels = {};
  for (const row of rows) levels[row.level] = (levels[row.level] || 0) + 1;
  at("support-about").textContent = Object.entries(levels).map(([level, count]) => `${count} ${level}`).join(", ");
  for (const row of rows) {
    const cells = [row.keyword, row.pointer || "/", row.level, row.reason].map((text) => made("td", { text }));
    at("support-rows").append(made("tr", {}, ...cells));
  }
  at("support").hidden = false;
}

showHead();
showFacts();
showChecks();
showFilters();
showTrial();
showSupport();
