"use strict";
// A table is whole without this. It adds: search and a choice of its rows, with a count of what is shown.
for (const table of document.querySelectorAll("table[data-rows]")) {
  const name = table.dataset.rows, rows = [...table.tBodies[0].rows];
  const of = what => [...document.querySelectorAll(`[data-${what}="${name}"]`)];
  let texts; // made at the first search
  const told = of("count")[0];
  const show = () => {
    const words = of("search").flatMap(e => e.value.toLowerCase().split(/\s+/)).filter(Boolean);
    if (words.length) texts ??= new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
    const chosen = of("select").map(e => e.value).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = words.every(w => texts.get(row).includes(w)) && chosen.every(cause => row.dataset.cause === cause);
      row.hidden = !fits; shown += fits;
    }
    if (told) told.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} shown`;
    const folded = table.closest("details");
    if (folded && shown < rows.length) folded.open = true;
  };
  for (const what of ["search", "select"]) for (const e of of(what)) e.addEventListener("input", show);
  for (const box of document.querySelectorAll(".filter")) box.hidden = false;
}
