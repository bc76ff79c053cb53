// The page's controls. Without this file all content is there; filters, sorting and the theme button are not.
"use strict";
(() => {
  const root = document.documentElement;
  const kept = (value) => {  // the theme chosen last; a browser may refuse to keep anything for a file
    try {
      if (value) localStorage.setItem("fedproof-theme", value);
      return localStorage.getItem("fedproof-theme");
    } catch {
      return null;
    }
  };
  if (["light", "dark"].includes(kept())) root.dataset.theme = kept();

  function themeButton(button) {
    const system = matchMedia("(prefers-color-scheme: dark)");
    const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
    const show = () => {
      button.textContent = dark() ? "Light theme" : "Dark theme";
    };
    button.addEventListener("click", () => {
      root.dataset.theme = dark() ? "light" : "dark";
      kept(root.dataset.theme);
      show();
    });
    system.addEventListener("change", show);
    show();
    button.hidden = false;
  }

  // What is asked for stands in the address: it can be sent, and the way back leads to it.
  function filters(form) {
    const given = new URLSearchParams(location.search);
    for (const field of form.elements) {
      if (field.name && given.has(field.name)) field.value = given.get(field.name);
    }
    const rows = [...form.parentElement.querySelectorAll("table.verdicts tbody tr")];
    const said = rows.map((row) => `${row.dataset.id} ${row.textContent}`.toLowerCase());
    const apply = () => {
      const asked = Object.fromEntries([...new FormData(form)].filter(([, value]) => value));
      const words = (asked.text ?? "").toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        const fits = ["verdict", "paper", "origin", "version", "family", "sure"].every((name) => !asked[name] || row.dataset[name] === asked[name]);
        row.hidden = !(fits && words.every((word) => said[at].includes(word)));
        shown += !row.hidden;
      });
      form.querySelector("output").textContent = `${shown} of ${rows.length} shown`;
      return new URLSearchParams(asked).toString();
    };
    const remember = () => {
      const query = apply();
      try {
        history.replaceState(null, "", `${location.pathname}${query && `?${query}`}#verdicts`);
      } catch {
        // an older browser does not let a file change its address
      }
    };
    form.addEventListener("input", remember);
    form.addEventListener("reset", () => setTimeout(remember));
    form.addEventListener("submit", (event) => event.preventDefault());
    form.hidden = false;
    if (apply() && form.closest("details")) form.closest("details").open = true;
  }

  function copyButtons(place) {
    const texts = JSON.parse(document.getElementById("copies").textContent);
    for (const button of place.querySelectorAll("button")) {
      button.addEventListener("click", async () => {
        const area = Object.assign(document.createElement("textarea"), { value: texts[button.dataset.copy] });
        let done = false;
        try {
          await navigator.clipboard.writeText(area.value);
          done = true;
        } catch {  // an older browser, or one that does not let a file
          document.body.append(area);
          area.select();
          done = document.execCommand("copy");
          area.remove();
        }
        place.querySelector("output").textContent = done ? "copied" : "the browser does not let this page copy";
      });
    }
    place.hidden = false;
  }

  function sortable(table) {
    const body = table.tBodies[0];
    const heads = [...table.tHead.rows[0].cells];
    const order = new Map([...body.rows].map((row, at) => [row, at]));
    const collator = new Intl.Collator("en", { numeric: true });
    const key = (row, column) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
    const number = (text) => (text === "inf" ? Infinity : Number(text));
    const compare = (column, a, b) => {
      const [one, two] = [key(a, column), key(b, column)];
      return "key" in a.cells[column].dataset ? number(one) - number(two) || 0 : collator.compare(one, two);
    };
    const sort = (column) => {
      const was = heads[column].getAttribute("aria-sort");
      const next = was === null ? "ascending" : was === "ascending" ? "descending" : null;
      heads.forEach((head) => head.removeAttribute("aria-sort"));
      if (next) heads[column].setAttribute("aria-sort", next);
      const sign = next === "descending" ? -1 : 1;
      const missing = (row) => next !== null && key(row, column) === "";
      const sorted = [...body.rows].sort(
        (a, b) => missing(a) - missing(b) || (next ? sign * compare(column, a, b) : 0) || order.get(a) - order.get(b),
      );
      body.append(...sorted);
      table.classList.toggle("sorted", next !== null);
    };
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(column));
      head.append(button);
    });
  }

  function openFor(hash) {
    const target = hash.length > 1 && document.getElementById(decodeURIComponent(hash.slice(1)));
    const closed = [];
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS" && !at.open) closed.push(at);
    }
    closed.forEach((details) => { details.open = true; });
    if (closed.length) target.scrollIntoView();
  }

  document.addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll("button.theme").forEach(themeButton);
    document.querySelectorAll("form.filters").forEach(filters);
    document.querySelectorAll("table.verdicts").forEach(sortable);
    document.querySelectorAll(".copies").forEach(copyButtons);
    for (const word of document.querySelectorAll("[data-word]")) {
      document.querySelectorAll(`.badge.${word.dataset.word}`).forEach((badge) => { badge.title = word.textContent; });
    }
    const scrollable = () => {
      for (const wide of document.querySelectorAll(".math, .proof .formula")) {
        if (wide.scrollWidth > wide.clientWidth) wide.tabIndex = 0;  // to be scrolled by keyboard
      }
    };
    scrollable();
    document.addEventListener("toggle", scrollable, true);
    openFor(location.hash);
    addEventListener("hashchange", () => openFor(location.hash));
    let opened = [];
    addEventListener("beforeprint", () => {
      opened = [...document.querySelectorAll("details:not([open]):not(.play)")];
      opened.forEach((details) => { details.open = true; });
    });
    addEventListener("afterprint", () => opened.forEach((details) => { details.open = false; }));
  });
})();
