"use strict";
const MOST_DOTS = 1500;

/* Right or wrong as in the summary: by its facts, else by its score; what has neither is left out. */
function truthOf(record) {
  for (const name of ["facts", "quality"]) if (name in record.passed) return record.passed[name];
  return null;
}

function mass() {
  const found = variants[0] && variants[0].legal_mass;
  byId("mass-section").hidden = !found || !found.points.length;
  if (byId("mass-section").hidden) return;
  const known = run.records.filter((record) =>
    record.variant === variants[0].variant && record.legal_mass_min !== null && truthOf(record) !== null);
  const bands = [["right", true], ["wrong", false]].map(([name, isRight]) => {
    const all = known.filter((record) => truthOf(record) === isRight);
    const each = Math.max(1, Math.ceil(all.length / MOST_DOTS));
    return { name, all, shown: all.filter((_, index) => index % each === 0) };
  });
  const least = Math.min(0.05, ...known.map((record) => Math.max(record.legal_mass_min, 1e-6)));
  const start = Math.floor(Math.log10(least));
  const low = found.wrong_of_low, high = found.wrong_of_high;
  const told = `${low.passed} of ${low.reached} answers below ${found.threshold} are wrong, and ${high.passed} of ${high.reached} above`;
  const box = make("div");
  byId("mass").append(box);
  drawing(box, 244, `Least legal mass of right and of wrong answers. ${told}.`, (svg, width) => {
    const left = 54, right = width - 14;
    const place = (value) => right - (right - left) * (Math.log10(Math.max(value, 10 ** start)) / start);
    bands.forEach((band, index) => {
      const top = 24 + index * 92;
      svg.append(shape("rect", "band", { x: left, y: top, width: right - left, height: 84 }));
      svg.append(shape("text", "strong", { x: 0, y: top + 38 }, band.name), shape("text", "", { x: 0, y: top + 56 }, count(band.all.length)));
      band.shown.forEach((record, number) => svg.append(dotOf(record, band.name, place(record.legal_mass_min), top + 10 + 64 * ((number * 0.618) % 1))));
    });
    const limit = place(found.threshold);
    svg.append(shape("line", "limit", { x1: limit, x2: limit, y1: 18, y2: 200 }));
    svg.append(shape("text", "", { x: limit - 5, y: 14, "text-anchor": "end" }, `low: below ${found.threshold}`));
    const every = Math.ceil(-start / Math.max(1, Math.floor((right - left) / 70)));
    for (let power = 0; power >= start; power -= every) {
      const x = place(10 ** power);
      svg.append(shape("line", "tick", { x1: x, x2: x, y1: 200, y2: 205 }));
      svg.append(shape("text", "", { x, y: 219, "text-anchor": power ? "middle" : "end" }, power < -3 ? `1e${power}` : 10 ** power));
    }
    svg.append(shape("text", "", { x: (left + right) / 2, y: 238, "text-anchor": "middle" }, width > 480 ? "least legal mass of the answer, each step a tenth of the one before" : "least legal mass (log scale)"));
  });
  const p = found.p_value === null ? "" : ` (p ${found.p_value.toPrecision(2)})`;
  byId("mass").append(make("p", "said", `${told}${p}. ${areaWords(found)}`));
  asTable(byId("mass"), "Wrong answers by least legal mass", ["least legal mass", "wrong", `${level} interval`, "wrong answers", "answers"],
    [[`below ${found.threshold}`, low], [`${found.threshold} or more`, high]].map(([name, rate]) =>
      [name, percent(share(rate)), bounds(rate.interval), count(rate.passed), count(rate.reached)]));
}

function areaWords(found) {
  if (found.area === null) return "";
  const interval = found.area_interval;
  const meaning = interval && interval.low <= 0.5 && interval.high >= 0.5 ? " That can be chance: 50 % would tell nothing." : "";
  return `Of a right and a wrong answer the wrong one has less legal mass in ${percent(found.area)} of pairs` +
    `${interval ? ` (${level} interval ${bounds(interval)})` : ""}.${meaning}`;
}

function dotOf(record, name, x, y) {
  const attributes = name === "right" ? { cx: x, cy: y, r: 4.5 } : { x: x - 4, y: y - 4, width: 8, height: 8 };
  const dot = shape(name === "right" ? "circle" : "rect", `dot ${name}`, attributes);
  dot.append(shape("title", "", {}, `${record.case_id}: ${record.legal_mass_min.toPrecision(3)}`));
  dot.addEventListener("click", () => findCases(record.case_id));
  return dot;
}

function times() {
  const found = [["To the first token", "time_to_first_token_s"], ["Each further token", "time_per_token_s"], ["Whole calls", "total_s"]]
    .filter(([title, field]) => curve(title, field));
  byId("time-section").hidden = found.length === 0;
  legend(byId("time-legend"), variants.map((variant) => WAYS[variant.variant]));
  if (variants.length < 2) byId("time-note").hidden = true;
}

function curve(title, field) {
  const lines = variants.map((variant) => run.records
    .filter((record) => record.variant === variant.variant && record[field] !== null && record.passed.liveness)
    .map((record) => record[field]).sort((a, b) => a - b));
  const filled = lines.filter((values) => values.length);
  if (!filled.length) return false;
  // A few very slow answers would press all others to the left edge.
  const most = Math.max(...filled.map((values) => quantile(values, 0.99))) * 1.04;
  if (!most) return false;
  const box = make("div", "", make("h3", "", title));
  byId("time").append(box);
  const said = lines.map((values, way) => values.length && `${WAYS[variants[way].variant]}: median ${duration(quantile(values, 0.5))}`);
  drawing(box, 210, `${title}: share of answers that took no longer. ${said.filter(Boolean).join("; ")}.`, (svg, width) =>
    drawCurve(svg, width, lines, most));
  const beyond = filled.flat().filter((value) => value > most).length;
  if (beyond) box.append(make("p", "note", `${count(beyond)} slower ones lie beyond the right edge.`));
  asTable(box, title, ["", "answers", "fastest", "median", "90 % within", "slowest"], lines.map((values, way) => [
    WAYS[variants[way].variant], count(values.length),
    ...(values.length ? [values[0], quantile(values, 0.5), quantile(values, 0.9), values[values.length - 1]] : Array(4).fill(null)).map(duration)]));
  return true;
}

function drawCurve(svg, width, lines, most) {
  const left = 44, right = width - 12, top = 10, bottom = 172;
  const x = (value) => left + (right - left) * Math.min(value / most, 1);
  const y = (part) => bottom - (bottom - top) * part;
  for (const part of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(shape("line", part ? "grid" : "base", { x1: left, x2: right, y1: y(part), y2: y(part) }));
    svg.append(shape("text", "", { x: left - 6, y: y(part) + 4, "text-anchor": "end" }, `${part * 100} %`));
  }
  for (const tick of ticks(most, Math.max(2, Math.floor(width / 110)))) {
    svg.append(shape("line", "tick", { x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 5 }));
    svg.append(shape("text", "", { x: x(tick), y: bottom + 19, "text-anchor": "middle" }, tick ? tickWords(tick) : "0"));
  }
  lines.forEach((values, way) => {
    if (!values.length) return;
    let path = `M${left} ${y(0)}`;
    values.forEach((value, index) => {
      if (value <= most) path += `H${x(value).toFixed(1)}V${y((index + 1) / values.length).toFixed(1)}`;
    });
    svg.append(shape("path", `line of-${way}`, { d: `${path}H${right}` }));
    drawMedian(svg, x(quantile(values, 0.5)), y(0.5), way);
  });
  directLabels(svg, width, lines, x, y);
}

function drawMedian(svg, x, y, way) {
  const attributes = way ? { d: `M${x} ${y - 6}l6 6l-6 6l-6 -6z` } : { cx: x, cy: y, r: 5 };
  svg.append(shape(way ? "path" : "circle", `median of-${way}`, attributes));
}

/* A name stands beside its own curve, at the first height where it touches no curve and no other name. */
function directLabels(svg, width, lines, x, y) {
  const taken = [];
  lines.forEach((values, way) => {
    if (!values.length) return;
    const words = `${variants.length > 1 ? SHORT[variants[way].variant] : "median"} ${duration(quantile(values, 0.5))}`;
    const long = words.length * 7;
    for (const part of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9]) {
      const spans = lines.filter((each) => each.length).map((each) => [x(quantile(each, part - 0.07)) - 3, x(quantile(each, part + 0.07)) + 3]);
      const own = x(quantile(values, part));
      const starts = [x(quantile(values, part + 0.07)) + 10, x(quantile(values, part - 0.07)) - 10 - long];
      const start = starts.find((from) => from > 46 && from + long < width - 4 &&
        [...spans, ...taken.filter((each) => Math.abs(each[2] - part) < 0.15)].every(([low, high]) => from > high || from + long < low) &&
        !spans.some(([low, high]) => (low - own) * (low - from) < 0 && (high - own) * (high - from) < 0));
      if (start === undefined) continue;
      taken.push([start, start + long, part]);
      svg.append(shape("text", `name of-${way}`, { x: start, y: y(part) + 4 }, words));
      return;
    }
  });
}

const tickWords = (seconds) => {
  const number = seconds < 1 ? seconds * 1000 : seconds;
  return `${Number(number.toPrecision(3))} ${seconds < 1 ? "ms" : "s"}`;
};

function baseline() {
  const found = report.summary.baseline;
  byId("baseline-section").hidden = !found;
  if (!found) return;
  const box = byId("baseline");
  for (const way of ["constrained", "prompt_only"]) {
    const asking = found[way];
    const expected = asking.expected_requests;
    const words = expected === null ? "none came right" : `${expected.toFixed(2)} requests until one has`;
    box.append(fact(`${asking.valid.passed} of ${asking.valid.reached}`, `have the right form at once ${WAYS[way]}: ${words}`));
  }
  const again = found.prompt_only.asked_again - found.constrained.asked_again;
  box.append(fact(count(again), "answers fewer that must be asked for again"));
  const added = [["first_token_s", "to the first token"], ["per_token_s", "to each token"], ["total_s", "to a whole call"]];
  for (const [name, words] of added) {
    if (!found[name]) continue;
    const { mean, interval } = found[name];
    const ends = `${signed(interval.low, duration)} to ${signed(interval.high, duration)}`;
    box.append(fact(signed(mean, duration), `${words} with the constraint; ${level} interval ${ends}`));
  }
  const names = { first: "the prompt alone", second: "the constraint" };
  drawCompared(byId("ways"), report.ways.comparison, report.ways.changes, names);
}

mass(); times();
