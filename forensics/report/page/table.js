"use strict";
// A table is whole without this. It adds: search, choices and sorting of its rows, with a count of what is shown.
for (const table of document.querySelectorAll("table[data-rows]")) {
  const name = table.dataset.rows, body = table.tBodies[0], rows = [...body.rows];
  const of = what => [...document.querySelectorAll(`[data-${what}="${name}"]`)];
  let texts; // made at the first search
  const told = of("count")[0];
  const show = () => {
    const words = of("search").flatMap(e => e.value.toLowerCase().split(/\s+/)).filter(Boolean);
    if (words.length) texts ??= new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
    const chosen = of("select").filter(e => e.value).map(e => [e.dataset.field || "cause", e.value]);
    const from = of("from")[0]?.value || "", to = of("to")[0]?.value || "";
    let shown = 0;
    for (const row of rows) {
      const time = row.dataset.time || "";
      const fits = words.every(w => texts.get(row).includes(w)) && chosen.every(([field, value]) => (row.dataset[field] || "").split("\t").includes(value))
        && (!from || (time && time >= from)) && (!to || (time && time <= to));
      row.hidden = !fits; shown += fits;
    }
    if (told) told.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} shown`;
    const folded = table.closest("details");
    if (folded && shown < rows.length) folded.open = true;
  };
  for (const what of ["search", "select", "from", "to"]) for (const e of of(what)) e.addEventListener("input", show);
  for (const box of document.querySelectorAll(".filter")) box.hidden = false;
  for (const button of document.querySelectorAll(`[data-choose="${name}"]`)) button.addEventListener("click", () => {
    const select = of("select").find(e => (e.dataset.field || "cause") === "cause");
    if (select) { select.value = select.value === button.value ? "" : button.value; show(); }
  });
  [...table.tHead.rows[0].cells].forEach((cell, column) => {
    if (!cell.textContent.trim() || !("sort" in cell.dataset)) return;
    const button = document.createElement("button");
    button.type = "button"; button.className = "sort"; button.textContent = cell.textContent;
    cell.replaceChildren(button);
    button.addEventListener("click", () => {
      const down = cell.getAttribute("aria-sort") === "ascending";
      for (const other of cell.parentElement.cells) other.removeAttribute("aria-sort");
      cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      const key = row => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
      const numeric = cell.dataset.sort === "number";
      rows.sort((a, b) => (down ? -1 : 1) * (numeric ? Number(key(a)) - Number(key(b)) : key(a).localeCompare(key(b))));
      body.append(...rows);
    });
  });
}
