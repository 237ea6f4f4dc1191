"use strict";
// The page is whole without this. It adds: filters and an order of the cases, both kept in the address, and keys.
// In a page that a server made (data-served) the filters are asked of the server.
(() => {
  const form = document.querySelector("form.filter"), table = document.querySelector(".cases"), status = form.querySelector("[role=status]");
  const served = "served" in form.dataset, body = table?.tBodies[0], rows = body ? [...body.rows] : [], whole = [...rows];
  const fields = [...form.elements].filter(e => e.name), search = form.elements.q, named = new Set(fields.map(e => e.name));
  const read = e => e.type === "checkbox" ? (e.checked ? e.value : "") : e.value;
  const put = (e, value) => { if (e.type === "checkbox") e.checked = value === e.value; else e.value = value; };
  const chosen = () => Object.fromEntries(fields.map(e => [e.name, read(e)]).filter(([, value]) => value));
  let texts; // made at the first search

  const show = () => {
    const { q = "", failures, from = "", to = "", sort, ...exact } = chosen(), words = q.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length) texts ??= new Map(rows.map(row => [row, row.textContent.toLowerCase()]));
    let shown = 0;
    for (const row of rows) {
      const data = row.dataset, time = data.time;
      const fits = !(failures && /^(no_crash|open)$/.test(row.className)) && words.every(word => texts.get(row).includes(word))
        && Object.entries(exact).every(([name, value]) => (data[name] || "").split("\t").includes(value))
        && (!from || (time && time >= from)) && (!to || (time && time <= to));
      row.hidden = !fits; shown += fits;
    }
    status.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} shown`;
    for (const a of document.querySelectorAll("a[data-set]"))
      if (exact[a.dataset.set] === a.dataset.value) a.setAttribute("aria-current", "true"); else a.removeAttribute("aria-current");
  };

  const order = () => {
    if (!table) return;
    const sort = form.elements.sort.value, down = sort[0] === "-", at = Number(sort.replace("-", "")), cells = [...table.tHead.rows[0].cells];
    for (const cell of cells) cell.removeAttribute("aria-sort");
    if (!sort || !cells[at]) { body.append(...whole); return; }
    cells[at].setAttribute("aria-sort", down ? "descending" : "ascending");
    const numeric = cells[at].dataset.sort === "number", key = row => row.cells[at].dataset.key ?? row.cells[at].textContent.trim();
    const made = rows.map(row => [key(row), row]), { compare } = new Intl.Collator(undefined, { numeric: true });
    made.sort(([a], [b]) => (down ? -1 : 1) * (numeric ? a - b : compare(a, b)));
    body.append(...made.map(([, row]) => row));
  };

  const fromAddress = () => {
    const found = new URLSearchParams(location.hash.slice(1));
    if ([...found.keys()].some(name => !named.has(name))) return; // the place of a heading
    const sorted = form.elements.sort.value;
    for (const e of fields) put(e, found.get(e.name) || "");
    show();
    if (form.elements.sort.value !== sorted) order();
  };
  const changed = () => {
    if (served) { form.requestSubmit(); return; }
    const asked = new URLSearchParams(chosen()).toString();
    history.replaceState(null, "", asked ? `#${asked}` : location.pathname + location.search);
    show();
  };
  const clear = () => {
    if (served) { location.search = ""; return; }
    for (const e of fields) put(e, "");
    changed(); order();
  };

  form.hidden = false;
  form.addEventListener("formdata", e => { for (const [name, value] of [...e.formData]) if (!value) e.formData.delete(name); });
  form.addEventListener("submit", e => { if (!served) e.preventDefault(); });
  form.addEventListener("reset", e => { e.preventDefault(); clear(); });
  for (const e of fields) e.addEventListener(e === search && !served ? "input" : "change", changed);
  if (matchMedia("(max-width: 700px)").matches) for (const e of form.querySelectorAll(".more")) e.open = false;
  if (!served) {
    for (const a of document.querySelectorAll("a[data-set]")) a.addEventListener("click", e => {
      if (e.ctrlKey || e.metaKey || e.shiftKey) return;
      e.preventDefault();
      const field = form.elements[a.dataset.set];
      put(field, read(field) === a.dataset.value ? "" : a.dataset.value); changed();
    });
    [...(table?.tHead.rows[0].cells || [])].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button"; button.className = "sort"; button.textContent = cell.textContent;
      cell.replaceChildren(button);
      button.addEventListener("click", () => {
        form.elements.sort.value = (cell.getAttribute("aria-sort") === "ascending" ? "-" : "") + column; order(); changed();
      });
    });
    addEventListener("hashchange", fromAddress);
    if (location.hash) fromAddress();
  }

  const step = by => {
    const shown = [...(body?.rows || [])].filter(row => !row.hidden), at = shown.indexOf(document.activeElement.closest("tr"));
    const row = shown[at < 0 ? 0 : Math.min(Math.max(at + by, 0), shown.length - 1)];
    row?.querySelector("a").focus({ preventScroll: true });
    row?.scrollIntoView({ block: "nearest" });
  };
  document.addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.matches("select, textarea, input:not([type=checkbox])");
    if (e.key === "Escape") {
      if (typing) e.target.blur();
      if (!typing || (e.target === search && !served)) clear();
    } else if (!typing && e.key === "/") { e.preventDefault(); search.focus(); search.select(); }
    else if (!typing && (e.key === "j" || e.key === "k")) { e.preventDefault(); step(e.key === "j" ? 1 : -1); }
  });
  document.querySelector(".keys").hidden = false;
})();
