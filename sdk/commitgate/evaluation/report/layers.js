"use strict";

function head() {
  byId("title").append(plainText(`${run.suite}${run.suite_version ? ` ${run.suite_version}` : ""} on ${run.model}`));
  byId("headline").append(plainText(report.headlines[0] || "There is no answer."));
  const whole = report.is_complete ? "" : ` of ${count(run.planned)} planned`;
  const facts = [
    ["answers", `${count(run.records.length)}${whole}`],
    ["took", duration(run.wall_s)],
    ["begun", run.started.replace("T", " ").replace("+00:00", " UTC")],
    ["revision", shortened(run.receipt_facts.model_revision)],
    ["suite", run.suite_digest.slice(0, 12)],
  ];
  for (const [name, value] of facts) {
    if (value === null || value === undefined) continue;
    byId("about").append(make("div", "", make("dt", "", name), make("dd", "", value)));
  }
  const wrong = [...run.problems, ...report.failed];
  byId("problems").hidden = wrong.length === 0;
  if (wrong.length) byId("problems").append(make("h2", "", wrong.length > 1 ? `${wrong.length} problems` : "A problem"));
  for (const problem of wrong) byId("problems").append(make("p", "", problem));
}

function shortened(value) {
  if (value === null || value === undefined) return null;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/* Form, content and acts side by side, so that nobody takes the one for the other. */
function glance() {
  const box = byId("glance");
  if (!variants.length) return;
  const rateOf = (name) => (variant) => variant.layers.find((layer) => layer.measure === name).rate;
  const tiles = [];
  if (report.glance.form) tiles.push(["Form", titleOf(report.glance.form), rateOf(report.glance.form)]);
  if (report.glance.content) tiles.push(["Content", titleOf(report.glance.content), rateOf(report.glance.content)]);
  if (variants[0].authorization.overreach_blocked.reached) {
    tiles.push(["Acts", "overreach blocked", (variant) => variant.authorization.overreach_blocked]);
  }
  tiles.push(["All of it", "came through", (variant) => variant.came_through]);
  for (const [name, words, of] of tiles) {
    const tile = make("div", "tile", make("h2", "", name), make("p", "what", words));
    variants.forEach((variant, way) => {
      const rate = of(variant);
      const bar = make("div", `fill of-${way}`);
      bar.style.width = at(share(rate) || 0);
      const number = make("p", way ? "second" : "big", variants.length > 1 ? sign(way) : null, percent(share(rate)));
      tile.append(number, make("div", "meter", bar));
      tile.append(make("p", "of", `${count(rate.passed)} of ${count(rate.reached)}${way ? ` ${WAYS[variant.variant]}` : ""}`));
    });
    box.append(tile);
  }
}

function layers() {
  legend(byId("legend"), variants.map((variant) => WAYS[variant.variant]));
  const plot = byId("layers");
  const rows = [];
  const add = (title, rates) => {
    plot.append(layerRow(title, rates));
    rates.forEach((rate, way) => {
      const asked = variants.length > 1 ? `${title}, ${WAYS[variants[way].variant]}` : title;
      rows.push([asked, percent(share(rate)), bounds(rate.interval), count(rate.passed), count(rate.reached)]);
    });
  };
  for (const group of report.groups) {
    plot.append(make("h3", "group", group.name));
    for (const name of group.layers) {
      add(titleOf(name), variants.map((variant) => variant.layers.find((layer) => layer.measure === name).rate));
    }
  }
  plot.append(make("h3", "group", "all of it"));
  add("came through", variants.map((variant) => variant.came_through));
  plot.append(axis("0 %", "25 %", "50 %", "75 %", "100 %"));
  asTable(plot, "Rate of each layer", ["layer", "rate", `${level} interval`, "passed", "reached"], rows);
}

function layerRow(title, rates) {
  const track = make("div", `track${rates.length > 1 ? " two" : ""}`);
  const numbers = make("div", "number");
  rates.forEach((rate, way) => {
    const top = rates.length > 1 ? ["29%", "71%"][way] : "50%";
    if (rate.reached) track.append(whisker(rate.interval, way, top), mark(share(rate), way, top));
    const words = rate.reached ? percent(share(rate)) : "not reached";
    const line = make("div", "", rates.length > 1 ? sign(way) : null, make("span", "rate", words));
    if (rate.reached) line.append(make("small", "", `${count(rate.passed)} of ${count(rate.reached)}`));
    line.title = rate.interval ? `${level} interval ${bounds(rate.interval)}` : "no answer reached it";
    if (rates.length > 1) line.prepend(make("span", "hidden", `${WAYS[variants[way].variant]}: `));
    numbers.append(line);
  });
  return plotRow(title, track, numbers, rates.every((rate) => !rate.reached) ? "empty" : "");
}

function lost() {
  const plot = byId("lost");
  if (!variants.length) return;
  legend(byId("lost-legend"), variants.map((variant) => WAYS[variant.variant]));
  for (const name of Object.keys(report.titles)) {
    const track = make("div", `track bars${variants.length > 1 ? " two" : ""}`);
    const numbers = make("div", "number");
    variants.forEach((variant, way) => {
      const rate = variant.layers.find((layer) => layer.measure === name).sound_so_far;
      const bar = make("div", `bar of-${way}`);
      bar.style.width = at(share(rate) || 0);
      if (rate.passed) track.append(bar);
      numbers.append(make("div", "", variants.length > 1 ? sign(way) : null, make("span", "rate", percent(share(rate))),
        make("small", "", `${count(rate.passed)} of ${count(rate.reached)}`)));
    });
    plot.append(plotRow(titleOf(name), track, numbers));
  }
  plot.append(axis("0 %", "25 %", "50 %", "75 %", "100 %"));
}

/* One place in a list is like another: which item it was says nothing of what goes wrong. */
const placeOf = (fault) => fault.pointer.replace(/\/\d+(?=\/|$)/g, "/*");
const nameOf = (fault) => `${fault.code}${fault.pointer ? ` at ${placeOf(fault)}` : ""}`;

function wrongs() {
  const found = new Map();
  run.records.forEach((record) => {
    const way = variants.findIndex((variant) => variant.variant === record.variant);
    const seen = new Set();
    for (const fault of record.faults) {
      const key = `${fault.measure}\n${nameOf(fault)}`;
      if (seen.has(key)) continue;
      seen.add(key);
      if (!found.has(key)) found.set(key, { fault, counts: variants.map(() => 0) });
      found.get(key).counts[way] += 1;
    }
  });
  const rows = [...found.values()].sort((a, b) => b.counts[0] - a.counts[0] || (b.counts[1] || 0) - (a.counts[1] || 0));
  byId("wrong-section").hidden = rows.length === 0;
  if (!rows.length) return;
  legend(byId("wrong-legend"), variants.map((variant) => WAYS[variant.variant]));
  const shown = rows.slice(0, 15);
  const most = Math.max(...variants.map((variant) => variant.answers));
  for (const row of shown) {
    const track = make("div", `track bars${variants.length > 1 ? " two" : ""}`);
    const numbers = make("div", "number");
    row.counts.forEach((number, way) => {
      const bar = make("div", `bar of-${way}`);
      bar.style.width = at(number / most);
      if (number) track.append(bar);
      numbers.append(make("div", "", variants.length > 1 ? sign(way) : null, make("span", "rate", count(number))));
    });
    const button = make("button", "find", nameOf(row.fault));
    button.type = "button";
    button.title = "show these cases below";
    button.addEventListener("click", () => findCases(nameOf(row.fault)));
    byId("wrong").append(plotRow(make("div", "", make("small", "", titleOf(row.fault.measure)), button), track, numbers));
  }
  byId("wrong").append(axis("0", `${count(most)} answers`));
  if (rows.length > shown.length) {
    byId("wrong").append(make("p", "note", `${count(rows.length - shown.length)} rarer ones are in the table of cases.`));
  }
}

function guard() {
  const variant = variants[0];
  byId("guard-section").hidden = !variant;
  if (!variant) return;
  const { overreach_blocked: blocked, rightful_blocked: wrongly } = variant.authorization;
  const box = byId("guard");
  if (blocked.reached) {
    const mood = blocked.passed === blocked.reached ? "good" : "bad";
    box.append(fact(`${blocked.passed} of ${blocked.reached}`, "answers that would do what is not allowed were blocked", mood));
  }
  if (wrongly.reached) {
    const mood = wrongly.passed ? "bad" : "good";
    box.append(fact(`${wrongly.passed} of ${wrongly.reached}`, "rightful acts were blocked wrongly", mood));
  }
  const again = variant.layers.find((layer) => layer.measure === "idempotency").rate.reached;
  if (again) {
    const mood = variant.second_effects ? "bad" : "good";
    box.append(fact(variant.second_effects, `second effects, after ${again} acts were made again`, mood));
  }
  if (variant.facts.reached) {
    box.append(fact(`${variant.facts.passed} of ${variant.facts.reached}`, "single facts are right"));
  }
  const usage = variant.usage;
  if (usage.output_tokens !== null) {
    box.append(fact(count(usage.output_tokens), `tokens written and ${count(usage.input_tokens || 0)} read in ${count(variant.requests)} requests`));
  }
  for (const [name, number] of Object.entries(variant.errors)) box.append(fact(number, `times raised: ${name}`, "bad"));
  byId("guard-section").hidden = box.childElementCount === 0;
}

head(); glance(); layers(); lost(); wrongs(); guard();
