"use strict";
const FEW_KINDS = 40;

/* The same small plot for each kind of case and layer, with the rate of all cases as a line to compare with. */
function kinds() {
  const names = Object.keys(report.summary.tags);
  byId("kinds-section").hidden = names.length === 0;
  if (!names.length) return;
  const of = (tag) => report.summary.tags[tag].find((variant) => variant.variant === variants[0].variant);
  const known = names.filter(of);
  const rateOf = (variant, name) =>
    (name === "came_through" ? variant.came_through : variant.layers.find((layer) => layer.measure === name).rate);
  const layers = [...report.groups.flatMap((group) => group.layers), "came_through"];
  const isWhole = (name) => known.every((tag) => [1, null].includes(share(rateOf(of(tag), name))));
  const shown = layers.filter((name) => !isWhole(name));
  const whole = layers.filter((name) => isWhole(name) && rateOf(variants[0], name).reached);
  if (whole.length) byId("kinds-note").append(plainText(` 100 % for every kind: ${whole.map(titleOf).join(", ")}.`));
  const heads = make("tr", "", make("th", "", "kind"), make("th", "", "answers"), ...shown.map((name) => make("th", "", titleOf(name))));
  heads.querySelectorAll("th").forEach((cell) => { cell.scope = "col"; });
  const body = make("tbody");
  const fill = (most) => {
    let group = "";
    body.replaceChildren();
    for (const tag of known.slice(0, most)) {
      const [prefix, rest] = tag.includes(":") ? [tag.slice(0, tag.indexOf(":")), tag.slice(tag.indexOf(":") + 1)] : ["", tag];
      if (prefix !== group && prefix) body.append(groupRow(prefix, shown.length + 2));
      group = prefix;
      const label = make("th", prefix ? "inner" : "", rest || tag);
      label.scope = "row";
      const row = make("tr", "", label, make("td", "number", count(of(tag).answers)));
      for (const name of shown) row.append(kindCell(rateOf(of(tag), name), rateOf(variants[0], name)));
      body.append(row);
    }
  };
  fill(FEW_KINDS);
  byId("kinds").append(make("thead", "", heads), body);
  byId("more-kinds").hidden = known.length <= FEW_KINDS;
  byId("more-kinds").textContent = `Show all ${count(known.length)} kinds`;
  byId("more-kinds").addEventListener("click", () => { fill(known.length); byId("more-kinds").hidden = true; });
}

function groupRow(name, columns) {
  const cell = make("th", "group", name);
  cell.colSpan = columns;
  cell.scope = "rowgroup";
  return make("tr", "", cell);
}

function kindCell(rate, all) {
  if (!rate.reached) return make("td", "kind none", "–");
  const track = make("div", "tiny");
  const overall = make("div", "overall");
  overall.style.left = at(share(all));
  track.append(overall, whisker(rate.interval, 0, "50%"), mark(share(rate), 0, "50%"));
  track.setAttribute("aria-hidden", "true");
  const cell = make("td", "kind", track, make("small", "", `${count(rate.passed)} of ${count(rate.reached)}`));
  cell.title = `${percent(share(rate))}, ${level} interval ${bounds(rate.interval)}; all cases ${percent(share(all))}`;
  return cell;
}

kinds();
