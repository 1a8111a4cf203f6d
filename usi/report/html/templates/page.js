"use strict";
(() => {
  const root = document.documentElement;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const button = document.getElementById("theme");
  const kept = () => { try { return localStorage.getItem("usi-theme"); } catch { return null; } };
  const isDark = () => root.dataset.theme ? root.dataset.theme === "dark" : dark.matches;
  const say = () => {
    button.setAttribute("aria-pressed", String(isDark()));
    button.querySelector("span").textContent = isDark() ? "Light theme" : "Dark theme";
  };
  if (kept() === "dark" || kept() === "light") root.dataset.theme = kept();
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem("usi-theme", root.dataset.theme); } catch { /* not kept */ }
    say();
  });
  dark.addEventListener("change", say);
  say();

  const key = (row, at) => {
    const cell = row.cells[at];
    if (!cell) return "";
    const own = cell.querySelector("[data-p]");
    const text = (own || cell).textContent.trim().replace(/\u2212/g, "-").replace(/[,\s%]/g, "");
    const value = Number.parseFloat(text);
    return Number.isNaN(value) ? cell.textContent.trim().toLowerCase() : value;
  };
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, at) => {
      const press = document.createElement("button");
      press.type = "button";
      press.className = "sort";
      press.append(...head.childNodes);
      head.append(press);
      press.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const body = table.tBodies[0];
        const fixed = [...body.rows].filter((row) => row.classList.contains("people"));
        const rows = [...body.rows].filter((row) => !row.classList.contains("people"));
        rows.sort((one, two) => {
          const a = key(one, at), b = key(two, at);
          const order = typeof a === typeof b
            ? (a < b ? -1 : a > b ? 1 : 0)
            : (typeof a === "number" ? -1 : 1);
          return down ? -order : order;
        });
        body.append(...fixed, ...rows);
      });
    });
  }
  for (const box of document.querySelectorAll(".filter")) {
    const input = box.querySelector("input");
    const rows = document.getElementById(input.dataset.table).tBodies[0].rows;
    const told = box.querySelector("output");
    box.hidden = false;
    input.addEventListener("input", () => {
      const wanted = input.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        if (!row.hidden) shown += 1;
      }
      told.textContent = wanted ? `${shown} of ${rows.length}` : "";
    });
  }
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    for (let at = target; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const part of closed) part.open = true;
  });
  addEventListener("afterprint", () => { for (const part of closed) part.open = false; });
})();
