// Choosing among the entries of a ledger. The choice stands in the address: a link repeats it.
(function () {
"use strict";

const form = document.querySelector("form.ledger");
if (!form) return;

const kept = nscmdp.choice(form.id);
const fields = [...form.elements].filter((field) => field.name);
const count = form.querySelector("output");
const none = document.getElementById("none");
const sections = [...document.querySelectorAll("main section")];
const entries = [...document.querySelectorAll("article.entry")].map((article) => ({
  article,
  folded: [...article.querySelectorAll("details")].map((details) => ({ details, text: words(details), by: false })),
  text: words(article),
}));

/** All that can be searched for in an element: its text and the sources of its formulas. */
function words(element) {
  const sources = [...element.querySelectorAll("math")].map((math) => math.getAttribute("alttext"));
  return [element.textContent, ...sources].join(" ").toLowerCase();
}

function isShown(entry, wanted) {
  return fields.every((field) => {
    if (!field.value) return true;
    if (field.name === "text") return wanted.every((word) => entry.text.includes(word));
    return (entry.article.dataset[field.name] || "").split("|").includes(field.value);
  });
}

/** What is folded is opened where a search finds something in it, and folded again afterwards. */
function unfold(entry, wanted) {
  for (const one of entry.folded) {
    const found = wanted.some((word) => one.text.includes(word));
    if (found && !one.details.open) one.details.open = one.by = true;
    else if (!found && one.by) one.details.open = one.by = false;
  }
}

function show() {
  const wanted = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const entry of entries) {
    const here = isShown(entry, wanted);
    entry.article.hidden = !here;
    shown += here;
    unfold(entry, here ? wanted : []);
  }
  for (const section of sections) section.hidden = !section.querySelector("article.entry:not([hidden])");
  count.textContent = `${shown} of ${entries.length} shown`;
  none.hidden = shown > 0;
  reach();
}

/** An equation that is wider than the screen can be scrolled by keys. */
function reach() {
  for (const box of document.querySelectorAll(".equation")) {
    if (box.scrollWidth > box.clientWidth) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}

/** The fields as the address has them; what it asks for and is not there, is left out. */
function read() {
  for (const field of fields) {
    const value = kept.get(field.name) || "";
    const known = field.name === "text" || [...field.options].some((option) => option.value === value);
    field.value = known ? value : "";
  }
  show();
}

function write() {
  kept.set(Object.fromEntries(fields.map((field) => [field.name, field.value])));
  show();
}

form.addEventListener("input", write);
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", (event) => {
  event.preventDefault();
  for (const field of fields) field.value = "";
  write();
});
document.getElementById("all").addEventListener("click", () => { form.reset(); form.elements.text.focus(); });
addEventListener("hashchange", () => {
  read();
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target) target.scrollIntoView();
});
addEventListener("resize", reach);
read();
})();
