"use strict";
const variants = report.summary.variants;
const run = report.run;
const level = `${Math.round(report.summary.confidence * 100)} %`;

function head() {
  byId("title").append(plainText(`${run.suite}${run.suite_version ? ` ${run.suite_version}` : ""} on ${run.model}`));
  byId("headline").append(plainText(report.headlines[0] || "There is no answer."));
  const facts = [
    ["answers", `${run.records.length.toLocaleString("en")}${report.is_complete ? "" : ` of ${run.planned} planned`}`],
    ["took", duration(run.wall_s)],
    ["begun", run.started],
    ["revision", run.receipt_facts.model_revision],
    ["suite", run.suite_digest.slice(0, 12)],
  ];
  for (const [name, value] of facts) {
    if (value === null || value === undefined) continue;
    const text = typeof value === "string" ? value : JSON.stringify(value);
    byId("about").append(make("div", "", make("dt", "", name), make("dd", "", text)));
  }
  const wrong = [...run.problems, ...report.failed];
  byId("problems").hidden = wrong.length === 0;
  for (const problem of wrong) byId("problems").append(make("p", "", problem));
}

function layers() {
  variants.forEach((variant, way) => {
    byId("legend").append(make("span", "", make("i", `way-${way}`), WAYS[variant.variant]));
  });
  const plot = byId("layers");
  for (const name of Object.keys(report.titles)) {
    const found = variants.map((variant) => variant.layers.find((layer) => layer.measure === name));
    plot.append(layerRow(report.titles[name], found.map((layer) => layer.rate)));
  }
  plot.append(layerRow("came through", variants.map((variant) => variant.came_through)));
  plot.append(axis("0 %", "25 %", "50 %", "75 %", "100 %"));
}

function layerRow(title, rates) {
  const track = make("div", `track${rates.length > 1 ? " two" : ""}`);
  const numbers = make("div", "number");
  rates.forEach((rate, way) => {
    const part = share(rate);
    const top = rates.length > 1 ? ["32%", "70%"][way] : "50%";
    if (part !== null) {
      const whisker = make("div", `whisker of-${way}`);
      whisker.style.left = at(rate.interval.low);
      whisker.style.width = at(rate.interval.high - rate.interval.low);
      whisker.style.top = top;
      const mark = make("i", `mark way-${way}`);
      mark.style.left = at(part);
      mark.style.top = top;
      track.append(whisker, mark);
    }
    const line = make("div", "", percent(part), " ", make("small", "", `${rate.passed} of ${rate.reached}`));
    if (rate.interval) {
      const low = Math.round(rate.interval.low * 100), high = Math.round(rate.interval.high * 100);
      line.title = `${level} interval ${low} to ${high} %`;
      line.append(make("span", "hidden", `, ${level} interval ${low} to ${high} percent`));
    }
    if (rates.length > 1) line.prepend(make("span", "hidden", `${WAYS[variants[way].variant]}: `));
    numbers.append(line);
  });
  track.setAttribute("aria-hidden", "true");
  const isEmpty = rates.every((rate) => rate.reached === 0);
  return make("div", `row${isEmpty ? " empty" : ""}`, make("div", "label", title), track, numbers);
}

function lost() {
  const plot = byId("lost");
  const variant = variants[0];
  if (!variant) return;
  for (const layer of variant.layers) {
    const rate = layer.sound_so_far;
    const bar = make("div", "bar");
    bar.style.width = at(share(rate) || 0);
    const track = make("div", "track", bar);
    track.setAttribute("aria-hidden", "true");
    const number = make("div", "number", percent(share(rate)), " ", make("small", "", `${rate.passed} of ${rate.reached}`));
    plot.append(make("div", "row", make("div", "label", report.titles[layer.measure]), track, number));
  }
  plot.append(axis("0 %", "25 %", "50 %", "75 %", "100 %"));
}

function guard() {
  const variant = variants[0];
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
    box.append(fact(usage.output_tokens.toLocaleString("en"), `tokens written in ${variant.requests} requests`));
  }
  for (const [name, count] of Object.entries(variant.errors)) box.append(fact(count, `times raised: ${name}`, "bad"));
}

function mass() {
  const found = variants[0] && variants[0].legal_mass;
  if (!found || found.points.length === 0) { byId("mass-section").hidden = true; return; }
  const least = Math.min(...found.points.map(([value]) => Math.max(value, 1e-6)), 0.1);
  const start = Math.floor(Math.log10(least));
  const place = (value) => 1 - Math.log10(Math.max(value, 10 ** start)) / start;
  for (const [name, isRight] of [["right", true], ["wrong", false]]) {
    const points = found.points.filter(([, right]) => right === isRight);
    const strip = make("div", `strip ${name}`);
    points.forEach(([value], index) => {
      const dot = make("i");
      dot.style.left = at(0.01 + 0.98 * place(value));
      dot.style.top = at(0.12 + 0.76 * ((index * 0.618) % 1));
      dot.title = value.toPrecision(3);
      strip.append(dot);
    });
    const limit = make("div", "limit");
    limit.style.left = at(0.01 + 0.98 * place(found.threshold));
    strip.append(limit);
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", `${points.length} ${name} answers by their least legal mass`);
    byId("mass").append(make("h3", "", `${name}: ${points.length} answers`), strip);
  }
  const scale = make("div", "scale");
  for (let power = start; power <= 0; power += 1) {
    const label = make("span", "", power === 0 ? "1" : (10 ** power).toString());
    label.style.left = at(0.01 + 0.98 * place(10 ** power));
    scale.append(label);
  }
  const low = found.wrong_of_low, high = found.wrong_of_high;
  const p = found.p_value === null ? "" : ` (p ${found.p_value.toPrecision(2)})`;
  const area = found.area === null ? "" :
    ` Of a right and a wrong answer, the wrong one has less legal mass in ${percent(found.area)} of pairs.`;
  byId("mass").append(scale, make("p", "note",
    `Wrong: ${low.passed} of ${low.reached} below ${found.threshold}, ${high.passed} of ${high.reached} above${p}.${area}`));
}

function curve(title, field) {
  const lines = variants.map((variant) => run.records
    .filter((record) => record.variant === variant.variant && record[field] !== null)
    .map((record) => record[field]).sort((a, b) => a - b));
  const most = Math.max(0, ...lines.map((values) => values[values.length - 1] || 0));
  if (!most) return null;
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", "curve");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("role", "img");
  const told = lines.map((values, way) => values.length
    ? `${WAYS[variants[way].variant]}: median ${duration(values[Math.floor((values.length - 1) / 2)])}` : null);
  svg.setAttribute("aria-label", `${title}. ${told.filter(Boolean).join("; ")}`);
  const draw = (d, className) => {
    const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
    path.setAttribute("d", d);
    path.setAttribute("class", className);
    svg.append(path);
  };
  for (const height of [25, 50, 75]) draw(`M0 ${height}H100`, "grid");
  lines.forEach((values, way) => {
    let d = "M0 100";
    values.forEach((value, index) => {
      d += `H${(value / most) * 98}V${100 - ((index + 1) / values.length) * 98}`;
    });
    if (values.length) draw(d + "H100", `of-${way}`);
  });
  const scale = make("div", "scale");
  [0, 0.5, 1].forEach((part) => {
    const label = make("span", "", part ? duration(part * most) : "0");
    label.style.left = at(part * 0.98);
    scale.append(label);
  });
  const box = make("div", "", make("h3", "", title), svg, scale);
  told.forEach((words) => { if (words) box.append(make("div", "note", words)); });
  return box;
}

function times() {
  const found = [curve("To the first token", "time_to_first_token_s"), curve("Each further token", "time_per_token_s")];
  byId("time-section").hidden = found.every((each) => each === null);
  byId("time").append(...found.filter(Boolean));
}

function baseline() {
  const found = report.summary.baseline;
  byId("baseline-section").hidden = !found;
  if (!found) return;
  const box = byId("baseline");
  for (const way of ["constrained", "prompt_only"]) {
    const asking = found[way];
    const expected = asking.expected_requests;
    const words = expected === null ? "none came right" : `${expected.toFixed(2)} requests until one does`;
    box.append(fact(`${asking.valid.passed} of ${asking.valid.reached}`,
      `have the right form at once ${WAYS[way]}; ${words}`));
  }
  box.append(fact(found.prompt_only.asked_again - found.constrained.asked_again,
    "answers need not be asked for again"));
  for (const [name, words] of [["first_token_s", "to the first token"], ["per_token_s", "to each token"], ["total_s", "to a whole call"]]) {
    const added = found[name];
    if (!added) continue;
    const sign = added.mean < 0 ? "" : "+";
    box.append(fact(sign + duration(added.mean),
      `added ${words}; ${level} interval ${duration(added.interval.low)} to ${duration(added.interval.high)}`));
  }
}

function comparison() {
  const found = report.comparison;
  byId("comparison-section").hidden = !found;
  if (!found) return;
  byId("comparison-note").append(plainText(
    `${found.second} against ${found.first}, ${found.pairs} pairs of answers to the same case. Right of the line the ` +
    "second is better. In brackets: answers that only the first, and only the second, got right."));
  for (const layer of found.layers) {
    const track = make("div", "track", make("div", "zero"));
    if (layer.interval) {
      const whisker = make("div", "whisker of-0");
      whisker.style.left = at((layer.interval.low + 1) / 2);
      whisker.style.width = at((layer.interval.high - layer.interval.low) / 2);
      whisker.style.top = "50%";
      const mark = make("i", "mark way-0");
      mark.style.left = at((layer.difference + 1) / 2);
      mark.style.top = "50%";
      track.append(whisker, mark);
    }
    track.setAttribute("aria-hidden", "true");
    const change = layer.difference === null ? "–" : `${layer.difference > 0 ? "+" : ""}${(layer.difference * 100).toFixed(1)}`;
    const p = layer.corrected_p_value === null ? "" : ` p ${layer.corrected_p_value.toPrecision(2)}`;
    const number = make("div", "number", change, " ", make("small", "", `(${layer.only_first}, ${layer.only_second})${p}`));
    plotRow(byId("comparison"), report.titles[layer.name] || layer.name.replaceAll("_", " "), track, number);
  }
  byId("comparison").append(axis("−100", "−50", "0", "+50", "+100"));
}

function plotRow(plot, title, track, number) {
  plot.append(make("div", "row", make("div", "label", title), track, number));
}

function tags() {
  const names = Object.keys(report.summary.tags);
  byId("tags-section").hidden = names.length === 0;
  const shown = Object.keys(report.titles).filter((name) =>
    variants[0] && variants[0].layers.find((layer) => layer.measure === name).rate.reached);
  const headRow = make("tr", "", make("th", "", "kind"), make("th", "", "answers"));
  for (const name of shown) headRow.append(make("th", "", report.titles[name]));
  const body = make("tbody");
  for (const tag of names) {
    const variant = report.summary.tags[tag][0];
    const row = make("tr", "", make("td", "id", tag), make("td", "number", variant.answers));
    for (const name of shown) {
      const rate = variant.layers.find((layer) => layer.measure === name).rate;
      const fill = make("i");
      fill.style.width = at(share(rate) || 0);
      const cell = make("div", "cell", `${rate.passed}/${rate.reached}`, make("span", "", fill));
      row.append(make("td", "number", rate.reached ? cell : "–"));
    }
    body.append(row);
  }
  byId("tags").append(make("thead", "", headRow), body);
}

head(); layers(); lost(); guard(); mass(); times(); baseline(); comparison(); tags();
