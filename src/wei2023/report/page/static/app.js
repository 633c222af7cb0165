// What all scripts of the page share: data on request, choices kept in the address, light and dark.
(function () {
"use strict";

const waiting = new Map();  // name of data -> the promise of it, and what keeps it
const ROOT = document.querySelector('link[rel="stylesheet"]').getAttribute("href").replace(/[^/]*$/, "");

/** Data by name. A page from disk may not fetch, so they come as a script that calls `receive`. */
function load(name) {
  if (!waiting.has(name)) {
    const entry = {};
    entry.promise = new Promise((resolve, reject) => {
      entry.resolve = resolve;
      const script = document.createElement("script");
      script.src = ROOT + "data/" + encodeURIComponent(name) + ".js";
      script.onerror = () => reject(new Error("no data called " + name));
      document.head.append(script);
    });
    waiting.set(name, entry);
  }
  return waiting.get(name).promise;
}

function receive(name, data) {
  waiting.get(name).resolve(data);
}

/** An element with attributes and children; strings become text, never markup. */
function element(tag, attributes, ...children) {
  const made = tag === "svg" || element.svg.has(tag)
    ? document.createElementNS("http://www.w3.org/2000/svg", tag)
    : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}
element.svg = new Set(["g", "path", "rect", "line", "circle", "polygon", "text", "title", "defs", "marker"]);

/** What the address says after "#": section.key=value&section.key=value, or the id of an element. */
function choices() {
  const text = location.hash.slice(1);
  return new URLSearchParams(text.includes("=") ? text : "");
}

/** The choices of one section, kept in the address so that a link repeats them. */
function choice(section) {
  const name = (key) => section + "." + key;
  return {
    get: (key) => choices().get(name(key)),
    set(values) {
      const all = choices();
      for (const [key, value] of Object.entries(values)) {
        if (value === null || value === undefined || value === "") all.delete(name(key));
        else all.set(name(key), value);
      }
      const text = all.toString();
      history.replaceState(null, "", text ? "#" + text : location.pathname + location.search);
    },
  };
}

// Light and dark: as the system has it, until the button says otherwise.

const listeners = [];
const system = matchMedia("(prefers-color-scheme: dark)");
const button = document.getElementById("theme");

function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : system.matches;
}

function changed() {
  button.textContent = isDark() ? "Light" : "Dark";
  button.setAttribute("aria-label", isDark() ? "Light colours" : "Dark colours");
  listeners.forEach((listener) => listener());
}

function remember(theme) {
  document.documentElement.dataset.theme = theme;
  try { localStorage.setItem("theme", theme); } catch { /* kept for this page alone */ }
}

try {
  const kept = localStorage.getItem("theme");
  if (kept) document.documentElement.dataset.theme = kept;
} catch { /* nothing is kept */ }
button.hidden = false;
button.addEventListener("click", () => { remember(isDark() ? "light" : "dark"); changed(); });
system.addEventListener("change", changed);
changed();

// Where the address names something folded, it is opened; on paper everything is.

function reveal() {
  const text = location.hash.slice(1);
  const target = text && !text.includes("=") && document.getElementById(decodeURIComponent(text));
  if (!target) return;
  for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  target.scrollIntoView();
}
addEventListener("hashchange", reveal);
addEventListener("DOMContentLoaded", () => {
  const wide = matchMedia("(min-width: 70rem)");
  for (const contents of document.querySelectorAll(".contents details")) contents.open = wide.matches;
  reveal();
});
let opened = [];
addEventListener("beforeprint", () => {
  opened = [...document.querySelectorAll("main details:not([open])")];
  opened.forEach((one) => { one.open = true; });
});
addEventListener("afterprint", () => opened.forEach((one) => { one.open = false; }));

window.nscmdp = { load, receive, element, choice, isDark, onTheme: (listener) => listeners.push(listener) };
})();
