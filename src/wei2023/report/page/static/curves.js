// Learning curves to choose from. Bokeh draws; what is drawn also stands in a table, for those who cannot see it.
(function () {
"use strict";
const { load, element, choice, onTheme } = nscmdp;

const TICKS = { fontsize: "13px" };
const DASHES = ["solid", "dashed", "dotted", "dotdash", "dashdot"];
const LABELS = {
  reward: "reward per episode", cost: "cost per episode", regret: "regret per episode",
  violation: "violation per episode", gap: "Lagrangian gap per episode", total_regret: "regret, added up",
  total_violation: "violation, added up", total_gap: "Lagrangian gap, added up", dual: "dual variable",
};

// Numbers

/** (seeds x blocks) as one array per seed. */
function unpack(packed, seeds) {
  if (!packed) return null;
  const bytes = Uint8Array.from(atob(packed.codes), (letter) => letter.charCodeAt(0));
  const codes = new Uint16Array(bytes.buffer);
  const width = codes.length / seeds;
  return Array.from({ length: seeds }, (_, i) =>
    Array.from(codes.subarray(i * width, (i + 1) * width), (code) => packed.low + code * packed.step));
}

function added(rows, lengths) {
  return rows.map((row) => { let sum = 0; return row.map((value, i) => (sum += value * lengths[i])); });
}

/** A measure of a learner, one array per seed; null where the learner has none. */
function measured(data, learner, measure) {
  const seeds = data.seeds.length;
  const lengths = data.ends.map((end, i) => end - (i ? data.ends[i - 1] : 0));
  const base = measure.replace("total_", "");
  let rows;
  if (base === "regret") {
    const best = unpack(data.optimum.reward, seeds);
    rows = unpack(learner.reward, seeds).map((row, s) => row.map((value, i) => best[s][i] - value));
  } else if (base === "violation") {
    rows = unpack(learner.cost, seeds).map((row) => row.map((value) => value - data.limit));
  } else {
    rows = unpack(learner[base], seeds);
  }
  return rows && base !== measure ? added(rows, lengths) : rows;
}

/** Where a measure's values belong: in the middle of a block, or at its end where they are added up or read there. */
function positions(data, measure) {
  const atEnd = measure === "dual" || measure.startsWith("total_");
  return data.ends.map((end, i) => (atEnd ? end : (end + (i ? data.ends[i - 1] : 0)) / 2));
}

/** Mean over seeds, with the ends of its interval. */
function band(rows, t) {
  const n = rows.length;
  const mean = rows[0].map((_, i) => rows.reduce((sum, row) => sum + row[i], 0) / n);
  const half = mean.map((m, i) => {
    if (n < 2) return 0;
    const variance = rows.reduce((sum, row) => sum + (row[i] - m) ** 2, 0) / (n - 1);
    return t * Math.sqrt(variance / n);
  });
  return { mean, low: mean.map((m, i) => m - half[i]), high: mean.map((m, i) => m + half[i]) };
}

/** What stands still in a measure: the optimum's curve, and a level with its name. */
function references(data, measure) {
  const best = data.optimum[measure] && band(unpack(data.optimum[measure], data.seeds.length), data.t).mean;
  const level = measure === "cost" ? [data.limit, "limit"]
    : measure.endsWith("violation") ? [0, "the limit kept"] : null;
  return { best, level };
}

/** The curves of some learners of a case, in colours by learner and dashes by constants. */
function series(data, learners, measure, names, order) {
  return learners.map((learner) => ({
    name: learner.name,
    label: names.learners[learner.algorithm] + ", " + names.constants[learner.setting],
    color: "--series-" + (1 + (order.indexOf(learner.algorithm) % 8)),
    dash: DASHES[Object.keys(names.constants).indexOf(learner.setting) % DASHES.length],
    restart: learner.restart,
    rows: measured(data, learner, measure),
  })).filter((one) => one.rows);
}

// Drawing

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

function figure(data, measure) {
  const ink = colour("--ink"), line = colour("--line"), paper = colour("--paper");
  const plot = Bokeh.Plotting.figure({
    height: 380, sizing_mode: "stretch_width", tools: "pan,box_zoom,reset", toolbar_location: "above",
    background_fill_color: paper, border_fill_color: paper, outline_line_color: line,
    x_range: new Bokeh.Range1d({ start: 0, end: data.episodes }), min_border_right: 12,
  });
  plot.toolbar.logo = null;
  plot.toolbar.active_drag = null;  // else a finger could not scroll past it
  const axes = [[plot.xaxes[0], "episode"], [plot.yaxes[0], LABELS[measure]]];
  for (const [axis, label] of axes) {
    Object.assign(axis, {
      axis_label: label, axis_label_text_color: ink, axis_label_text_font_style: "normal", axis_label_text_font_size: TICKS.fontsize,
      major_label_text_color: ink, major_label_text_font_size: TICKS.fontsize, axis_line_color: line,
      major_tick_line_color: line, minor_tick_line_color: null,
    });
  }
  axes[0][0].formatter = new Bokeh.NumeralTickFormatter({ format: data.episodes < 10000 ? "0,0" : "0a" });
  axes[0][0].ticker = new Bokeh.BasicTicker({ desired_num_ticks: 5 });
  for (const grid of [...plot.xgrids, ...plot.ygrids]) grid.grid_line_color = line;
  return plot;
}

function drawRestarts(plot, one, episodes) {
  if (!one.restart || one.restart >= episodes) return;
  const at = [];
  for (let k = one.restart; k < episodes && at.length < 400; k += one.restart) at.push(k);
  for (const location of at) {
    plot.add_layout(new Bokeh.Span({
      location, dimension: "height", line_color: colour(one.color), line_alpha: at.length > 60 ? 0.15 : 0.4, line_width: 1,
    }));
  }
}

/** Labels and columns as markup, in which Bokeh puts values for "@column": labels are text, whatever they say. */
function tooltip(rows) {
  const text = (label) => element("span", {}, label).innerHTML.replaceAll("@", "&#64;").replaceAll("$", "&#36;");
  const cells = rows.map(([label, column]) => `<tr><td style="padding-right: 1em">${text(label)}</td><td style="text-align: right">${column}</td></tr>`);
  return `<table style="font: 13px system-ui, sans-serif; color: #1d2126">${cells.join("")}</table>`;
}

/** Draw into an element; `draw` is "band" or "seeds". */
async function chart(place, data, measure, shown, draw, restarts) {
  const x = positions(data, measure), { best, level } = references(data, measure);
  const plot = figure(data, measure);
  const columns = { x }, rows = [["episode", "@x{0,0}"]];
  if (restarts) shown.forEach((one) => drawRestarts(plot, one, data.episodes));
  shown.forEach((one, i) => {
    const paint = { line_color: colour(one.color), line_dash: one.dash };
    const { mean, low, high } = band(one.rows, data.t);
    Object.assign(columns, { ["mean" + i]: mean });
    rows.push([one.label, `@mean${i}{0,0.00}`]);
    if (draw === "seeds") {
      const source = new Bokeh.ColumnDataSource({ data: { x: one.rows.map(() => x), y: one.rows } });
      plot.multi_line({ field: "x" }, { field: "y" }, { source, ...paint, line_width: 1, line_alpha: 0.45 });
    } else {
      const source = new Bokeh.ColumnDataSource({ data: { x, low, high } });
      plot.varea({ field: "x" }, { field: "low" }, { field: "high" }, { source, fill_color: paint.line_color, fill_alpha: 0.2 });
    }
    plot.line(x, mean, { ...paint, line_width: draw === "seeds" ? 2.5 : 2 });
  });
  const ink = colour("--ink");
  if (best) {
    plot.line(x, best, { line_color: ink, line_dash: [2, 4], line_width: 1.5 });
    columns.best = best;
    rows.push(["constrained optimum", "@best{0,0.00}"]);
  }
  if (level) plot.add_layout(new Bokeh.Span({ location: level[0], dimension: "width", line_color: ink, line_dash: "dashed", line_width: 1.5 }));
  const all = new Bokeh.ColumnDataSource({ data: columns });
  const first = shown.length ? "mean0" : best ? "best" : null;
  if (first) {
    const guide = plot.line({ field: "x" }, { field: first }, { source: all, line_alpha: 0 });
    plot.add_tools(new Bokeh.HoverTool({ renderers: [guide], mode: "vline", line_policy: "nearest", tooltips: tooltip(rows) }));
  }
  const fresh = element("div");  // of two charts that are drawn at once, the later one stays
  place.replaceChildren(fresh);
  await Bokeh.Plotting.show(plot, fresh);
}

function key(place, shown, { best, level }) {
  const entry = (colourName, dash, text) => element("li", {}, element("svg", { width: 34, height: 10, "aria-hidden": "true" },
    element("line", { x1: 1, y1: 5, x2: 33, y2: 5, style: `stroke: var(${colourName}); stroke-width: 2.5; stroke-dasharray: ${dash}` })), " " + text);
  const dashes = { solid: "none", dashed: "6 4", dotted: "2 3", dashdot: "6 3 2 3" };
  place.replaceChildren(...shown.map((one) => entry(one.color, dashes[one.dash], one.label)),
    ...(best ? [entry("--ink", "2 4", "constrained optimum")] : []), ...(level ? [entry("--ink", "6 4", level[1])] : []));
}

// The section

const digits = (value) => value.toLocaleString("en", { maximumSignificantDigits: Math.abs(value) < 1 ? 3 : 4 });

/** Values of each curve after a quarter, half and all of the run. */
function values(data, measure, shown) {
  const last = data.ends.length - 1, at = [0.25, 0.5, 1].map((share) => Math.round(share * (last + 1)) - 1).map((i) => Math.max(i, 0));
  const head = element("tr", {}, element("th", { scope: "col" }, "learner, constants"), element("th", { scope: "col", class: "n" }, "restarts every"),
    at.map((i) => element("th", { scope: "col", class: "n" }, "to episode " + data.ends[i].toLocaleString("en"))));
  const rows = shown.map((one) => {
    const { mean, low, high } = band(one.rows, data.t);
    return element("tr", { "data-learner": one.name }, element("th", { scope: "row" }, one.label), element("td", { class: "n" }, one.restart ? one.restart.toLocaleString("en") : "never"),
      at.map((i) => element("td", { class: "n", "data-value": mean[i] }, digits(mean[i]) + " ", element("small", {}, `[${digits(low[i])}, ${digits(high[i])}]`))));
  });
  return element("table", {}, element("caption", {}, LABELS[measure] + ", mean over seeds with its 95% interval, in the stretch that ends there"),
    element("thead", {}, head), element("tbody", {}, rows));
}

function csv(data, measure, shown) {
  const x = positions(data, measure);
  const lines = ["learner,seed,episode," + measure];
  const quoted = (text) => '"' + text.replaceAll('"', '""') + '"';
  for (const one of shown) one.rows.forEach((row, s) => row.forEach((value, i) => lines.push([quoted(one.name), data.seeds[s], x[i], value].join(","))));
  return URL.createObjectURL(new Blob([lines.join("\n") + "\n"], { type: "text/csv" }));
}

function section() {
  const root = document.getElementById("curves"), form = root.querySelector("form");
  const cases = JSON.parse(document.getElementById("curves-cases").textContent);
  const kept = choice("curves"), fields = form.elements;
  const names = { learners: {}, constants: {} };
  for (const kind of ["learners", "constants"]) for (const box of form.querySelectorAll(`[name=${kind}]`)) names[kind][box.value] = box.parentElement.textContent.trim();
  const order = Object.keys(names.learners);

  const option = (value, text) => element("option", { value }, text);
  const boxes = (name) => [...form.querySelectorAll(`[name=${name}]`)];
  const ticked = (name) => boxes(name).filter((box) => box.checked).map((box) => box.value);

  function fillReadings() {
    const here = cases.filter((one) => one.map === fields.map.value);
    fields.reading.replaceChildren(...here.map((one) => option(cases.indexOf(one), one.reading)));
  }

  function restore() {
    const maps = [...new Set(cases.map((one) => one.map))];
    fields.map.replaceChildren(...maps.map((map) => option(map, map)));
    const wanted = cases.findIndex((one) => one.experiment === kept.get("experiment") && String(one.number) === (kept.get("case") || "0"));
    const start = cases[wanted < 0 ? 0 : wanted];
    fields.map.value = start.map;
    fillReadings();
    fields.reading.value = cases.indexOf(start);
    if (kept.get("measure") in LABELS) fields.measure.value = kept.get("measure");
    for (const name of ["learners", "constants"]) {
      const given = kept.get(name);
      if (given !== null) boxes(name).forEach((box) => { box.checked = given.split(",").includes(box.value); });
    }
    if (kept.get("draw")) fields.draw.value = kept.get("draw") === "seeds" ? "seeds" : "band";
    fields.restarts.checked = kept.get("restarts") === "yes";
  }

  function remember() {
    const { experiment, number } = cases[fields.reading.value];
    kept.set({
      experiment, case: number || null, measure: fields.measure.value, learners: ticked("learners").join(",") || "none",
      constants: ticked("constants").join(",") || "none", draw: fields.draw.value, restarts: fields.restarts.checked ? "yes" : null,
    });
  }

  let turn = 0;
  async function show() {
    const mine = turn += 1;
    const { experiment, number } = cases[fields.reading.value], measure = fields.measure.value;
    const data = (await load("curves_" + experiment))[number];
    if (mine !== turn) return;  // something else has been chosen meanwhile
    const chosen = data.learners.filter((one) => ticked("learners").includes(one.algorithm) && ticked("constants").includes(one.setting));
    const shown = series(data, chosen, measure, names, order);
    const place = document.getElementById("curves-chart");
    await chart(place, data, measure, shown, fields.draw.value, fields.restarts.checked);
    if (mine !== turn) return;
    place.setAttribute("aria-label", `${LABELS[measure]} against episodes: ${shown.map((one) => one.label).join("; ") || "no learner chosen"}. The values stand in the table below.`);
    key(document.getElementById("curves-key"), shown, references(data, measure));
    document.getElementById("curves-table").replaceChildren(values(data, measure, shown));
    const link = document.getElementById("curves-csv");
    URL.revokeObjectURL(link.href);
    link.href = csv(data, measure, shown);
    link.download = `${experiment}_${measure}.csv`;
    const file = (name) => { const path = `tables/${experiment}/${name}`; return element("a", { href: encodeURI(path) }, path); };
    document.getElementById("curves-data").replaceChildren("all episodes that were evaluated: ", file("exact.parquet"), ", summary: ", file("summary.csv"));
    root.dataset.shown = [experiment, number, measure, shown.length].join(" ");
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", (event) => {
    if (event.target.name === "map") fillReadings();
    remember();
    show();
  });
  addEventListener("hashchange", () => { if (kept.get("experiment")) { restore(); show(); } });
  onTheme(show);
  restore();
  show();
}

/** Bokeh is large: it is added when a chart is first needed, and not before the page stands. */
let ready = null;
function withBokeh() {
  ready = ready || ["bokeh.min.js", "bokeh-api.min.js"].reduce((before, name) => before.then(() => new Promise((resolve, reject) => {
    const root = document.querySelector('link[rel="stylesheet"]').getAttribute("href").replace(/[^/]*$/, "");
    document.head.append(element("script", { src: root + name, onload: resolve, onerror: reject }));
  })), Promise.resolve());
  return ready;
}

nscmdp.curves = { withBokeh, chart, series, key, references, values };
if (document.getElementById("curves-cases")) withBokeh().then(section);
})();
