// Shows the entries of a ledger in which all words of a search are found: in text and in the sources of formulas.
(function () {
"use strict";

const form = document.querySelector("form.ledger");
if (!form) return;

const field = form.elements.text;
const entries = [...document.querySelectorAll("article.entry")].map((article) => {
  const sources = [...article.querySelectorAll("math")].map((math) => math.getAttribute("alttext"));
  return { article, text: [article.textContent, ...sources].join(" ").toLowerCase() };
});

function show() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const { article, text } of entries) {
    article.hidden = !words.every((word) => text.includes(word));
    shown += !article.hidden;
  }
  for (const section of document.querySelectorAll("main section")) {
    section.hidden = !section.querySelector("article.entry:not([hidden])");
  }
  form.querySelector("output").textContent = `${shown} of ${entries.length} shown`;
}

form.addEventListener("input", show);
form.addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => {  // the address names an entry that the search may have hidden
  field.value = "";
  show();
  document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
});
show();
})();
