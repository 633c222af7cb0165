// What policies do on the map: two of them side by side, over the episodes that a slider chooses.
(function () {
"use strict";
const section = document.getElementById("learning");
if (!section) return;
const { load, element, choice } = nscmdp;

const OPTIMUM = ":optimum";  // in the address; no learner's name begins so
const MOVES = [[-1, 0], [1, 0], [0, -1], [0, 1]];  // up, down, left, right: as actions are numbered
const STEP = 900;  // milliseconds between episodes while playing
const LEAST = 5;  // percent: arrows that stand for less are left out
const kept = choice("learning");
const form = section.querySelector("form");
const { map, first, second, episode } = form.elements;
const button = form.querySelector("button");
const output = form.querySelector("output");
const figures = [...section.querySelectorAll("figure")];
let data = null, playing = null;

const word = (number) => number.toLocaleString("en");

// Drawing: one unit is one cell

/** Where states are: cells that are no walls, row by row. */
function cellsOf(rows) {
  const found = [];
  rows.forEach((row, y) => [...row].forEach((mark, x) => { if (mark !== "#") found.push([y, x]); }));
  return found;
}

function square(y, x, kind, more) {
  return element("rect", { x, y, width: 1, height: 1, class: kind, ...more });
}

const hatch = (y, x) => element("path", { class: "obstacle", d: `M${x + .12} ${y + .38}l.26-.26M${x + .12} ${y + .88}l.76-.76M${x + .62} ${y + .88}l.26-.26` });

/** A triangle from the middle of a cell, the longer the larger its share of the moves. */
function arrow(y, x, [down, right], share, seen) {
  const long = .14 + .33 * share / 100, half = .2;
  const at = (along, across) => `${(x + .5 + right * along + down * across).toFixed(3)} ${(y + .5 + down * along + right * across).toFixed(3)}`;
  return element("path", { class: "arrow", "fill-opacity": (.3 + .7 * seen / 100).toFixed(2), d: `M${at(0, half)}L${at(long, 0)}L${at(0, -half)}Z` });
}

const start = (y, x) => element("circle", { cx: x + .5, cy: y + .5, r: .42, class: "mark" });
const goal = (y, x) => element("rect", { x: x + .08, y: y + .08, width: .84, height: .84, class: "mark" });

/** A map with what a policy does there. */
function picture(rows, frame, label) {
  const cells = cellsOf(rows);
  const every = (mark, draw) => rows.flatMap((row, y) => [...row].flatMap((one, x) => (one === mark ? [draw(y, x)] : [])));
  const shades = frame.cells.map((state, i) => square(...cells[state], "visit", { "fill-opacity": (frame.visits[i] / 100).toFixed(2) }));
  const arrows = frame.cells.flatMap((state, i) => MOVES.flatMap((move, a) => {
    const share = frame.arrows[4 * i + a];
    return share < LEAST ? [] : [arrow(...cells[state], move, share, frame.visits[i])];
  }));
  const height = rows.length, width = rows[0].length;
  return element("svg", { viewBox: `.5 .5 ${width - 1} ${height - 1}`, role: "img", "aria-label": label },
    element("rect", { x: 0, y: 0, width, height, class: "free" }),
    element("g", {}, shades), element("g", {}, every("o", hatch)),
    element("g", {}, cells.map(([y, x]) => square(y, x, "cell"))),
    element("g", {}, every("#", (y, x) => square(y, x, "wall"))),
    element("g", {}, arrows),
    element("g", {}, every("S", start), every("G", goal)));
}

function key() {
  const sample = (...parts) => element("svg", { viewBox: "0 0 1 1", "aria-hidden": "true" }, element("rect", { width: 1, height: 1, class: "free" }), ...parts);
  const entry = (parts, text) => element("li", {}, ...parts, " " + text);
  const shades = [1, 25, 50, 75, 100].map((percent) => sample(square(0, 0, "visit", { "fill-opacity": percent / 100 }), square(0, 0, "cell")));
  section.querySelector(".key").replaceChildren(
    entry(shades, "visited by 1, 25, 50, 75, 100% of episodes"),
    entry([sample(arrow(0, 0, MOVES[0], 75, 100), arrow(0, 0, MOVES[3], 25, 100))], "3 of 4 moves up, 1 right"),
    entry([sample(hatch(0, 0), square(0, 0, "cell"))], "obstacle, costs 1 more"),
    entry([sample(square(0, 0, "wall"))], "wall"),
    entry([sample(start(0, 0))], "start"),
    entry([sample(goal(0, 0))], "goal"));
}

// What is chosen

const learner = (name) => data.learners.find((one) => (one.name || OPTIMUM) === name);

function show() {
  const i = Number(episode.value), k = data.episodes[i];
  output.textContent = `${word(k)} of ${word(data.episodes[data.episodes.length - 1])}`;
  episode.setAttribute("aria-valuetext", "episode " + output.textContent);
  figures.forEach((figure, side) => {
    const one = learner((side ? second : first).value), frame = one.frames[i];
    const kind = frame.cost > data.limit + .005 ? "above" : "within";
    const said = `reward ${frame.reward.toFixed(2)}, cost ${frame.cost.toFixed(2)}, ${kind} the limit of ${data.limit}`;
    const drawn = picture(data.maps[data.map[i]].split("\n"), frame, `${one.text}, episode ${word(k)}: expected ${said}`);
    (figure.querySelector("svg") || figure.appendChild(element("svg"))).replaceWith(drawn);
    figure.querySelector("b").textContent = one.text;
    figure.querySelector("span").textContent = said;
    figure.querySelector("span").className = kind === "above" ? "over" : "";
  });
  section.dataset.shown = [map.value, first.value, second.value, k].join(" ");
}

function keep() {
  kept.set({ map: map.value, first: first.value, second: second.value, episode: data.episodes[episode.value] });
}

/** Fill a list with the policies of a map; what was chosen stays where it is there too. */
function offer(select, wanted, otherwise) {
  select.replaceChildren(...data.learners.map((one) => element("option", { value: one.name || OPTIMUM }, one.text)));
  select.value = learner(wanted) ? wanted : otherwise || OPTIMUM;
}

/** The number of the episode nearest to k. */
function nearest(k) {
  const distance = data.episodes.map((one) => Math.abs(one - k));
  return distance.indexOf(Math.min(...distance));
}

/** Show the chosen map, with what is wanted on it where it has that. */
async function turnTo(wanted) {
  const chosen = map.value, before = data;
  const loaded = await load(map.selectedOptions[0].dataset.script);
  if (chosen !== map.value) return;
  const share = before && before.episodes[episode.value] / before.episodes[before.episodes.length - 1];
  data = loaded;
  const last = data.episodes[data.episodes.length - 1];
  offer(first, wanted.first, data.first);
  offer(second, wanted.second, OPTIMUM);
  episode.max = data.episodes.length - 1;
  episode.value = nearest(share ? share * last : Number(wanted.episode) || last);
  show();
}

// Playing, only when asked to

function pause() {
  clearInterval(playing);
  playing = null;
  button.textContent = "Play";
  figures.forEach((figure) => figure.querySelector("span").setAttribute("aria-live", "polite"));
}

function play() {
  if (Number(episode.value) === Number(episode.max)) episode.value = 0;
  button.textContent = "Pause";
  figures.forEach((figure) => figure.querySelector("span").setAttribute("aria-live", "off"));
  show();
  playing = setInterval(() => {
    episode.value = Number(episode.value) + 1;
    show();
    if (Number(episode.value) === Number(episode.max)) { pause(); keep(); }
  }, STEP);
}

button.addEventListener("click", () => { if (playing) { pause(); keep(); } else play(); });
episode.addEventListener("input", () => { if (playing) pause(); show(); keep(); });
for (const select of [first, second]) select.addEventListener("change", () => { show(); keep(); });
map.addEventListener("change", async () => {
  if (playing) pause();
  await turnTo({ first: first.value, second: second.value });
  keep();
});
form.addEventListener("submit", (event) => event.preventDefault());

section.querySelector("details").open = false;
key();
const asked = kept.get("map");
if (asked && [...map.options].some((option) => option.value === asked)) map.value = asked;
turnTo({ first: kept.get("first"), second: kept.get("second"), episode: kept.get("episode") });
})();
