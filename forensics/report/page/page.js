"use strict";
// The page is whole without this. It adds: zoom and a spoken label on the timeline, opening of the line that a mark points to,
// copying of lines, commands and the report as text, and saving the embedded report.
const steps = [.1, .2, .5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 21600, 43200];
const hint = document.querySelector(".hint");
for (const drawing of document.querySelectorAll(".drawing")) {
  const svg = drawing.querySelector("svg");
  const start = Number(drawing.dataset.start), seconds = Number(drawing.dataset.seconds), offset = Number(drawing.dataset.offset);
  const marks = [...drawing.querySelectorAll("[data-at]")].map(e => [e, Number(e.dataset.at)]);
  const links = [...drawing.querySelectorAll("[data-a]")].map(e => [e, Number(e.dataset.a), Number(e.dataset.b)]);
  const ticks = [...drawing.querySelectorAll("[data-tick]")], rules = [...drawing.querySelectorAll("[data-line]")];
  let from = 0, to = 1;
  const show = () => {
    const share = at => `${(100 * (at - from) / (to - from)).toFixed(3)}%`;
    for (const [e, at] of marks) e.setAttribute("x", share(at));
    for (const [e, a, b] of links) { e.setAttribute("x1", share(a)); e.setAttribute("x2", share(b)); }
    const first = start + offset + seconds * from, span = seconds * (to - from);
    const step = steps.find(s => span / s < ticks.length) || 86400 * Math.ceil(span / 86400 / ticks.length);
    ticks.forEach((e, i) => {
      const time = (Math.ceil(first / step) + i) * step, at = (time - first) / span, shown = at <= 1;
      e.textContent = !shown ? "" : new Date(1000 * time).toISOString().slice(...(step >= 86400 ? [5, 10] : [11, step < 1 ? 21 : 19]));
      e.setAttribute("x", `${100 * at}%`); e.setAttribute("text-anchor", at < .09 ? "start" : at > .91 ? "end" : "middle");
      for (const name of ["x1", "x2"]) rules[i].setAttribute(name, shown ? `${100 * at}%` : "-1%");
    });
  };
  const zoom = (factor, middle) => {
    const span = Math.min(Math.max((to - from) * factor, 1e-5), 1e6);
    const at = from + middle * (to - from);
    from = at - middle * span; to = from + span; show();
  };
  const all = () => {
    const places = marks.map(([, at]) => at);
    const low = Math.min(...places), high = Math.max(...places), pad = 0.04 * Math.max(high - low, 1e-3);
    from = low - pad; to = high + pad; show();
  };
  const acts = { in: () => zoom(.5, .5), out: () => zoom(2, .5), all,
    left: () => { const s = (to - from) / 4; from -= s; to -= s; show(); }, right: () => { const s = (to - from) / 4; from += s; to += s; show(); } };
  drawing.querySelector(".zoom").hidden = false;
  for (const button of drawing.querySelectorAll("[data-zoom]")) button.addEventListener("click", () => acts[button.dataset.zoom]());
  svg.addEventListener("wheel", event => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) return;
    event.preventDefault();
    const box = svg.getBoundingClientRect();
    zoom(event.deltaY > 0 ? 1.25 : .8, (event.clientX - box.left) / box.width);
  }, { passive: false });
  const tell = event => {
    const mark = event.target.closest && event.target.closest(".mark");
    if (mark && hint) { hint.hidden = false; hint.textContent = mark.querySelector("title").textContent; }
  };
  svg.addEventListener("mouseover", tell);
  svg.addEventListener("focusin", tell);
}
const reveal = () => {
  const row = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  const folded = row && row.closest("details");
  for (let d = folded; d; d = d.parentElement.closest("details")) d.open = true;
  if (folded) row.scrollIntoView({ block: "center" });
  const target = row && (row === folded ? row.querySelector("summary") : row instanceof SVGElement ? row : null);
  if (target) { target.focus(); row.scrollIntoView({ block: "center" }); }
};
addEventListener("hashchange", reveal);
reveal();
const saved = async () => {
  const packed = Uint8Array.from(atob(document.getElementById("report").textContent), c => c.charCodeAt(0));
  return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
};
document.querySelector("[data-save]").addEventListener("click", async () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([await saved()], { type: "application/json" }));
  link.download = "report.json";
  link.click();
});
for (const box of document.querySelectorAll(".share")) box.hidden = false;
for (const button of document.querySelectorAll("[data-copy], [data-copies], [data-before]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const from = "before" in button.dataset ? button.previousElementSibling : document.getElementById(button.dataset.copies);
    const text = from ? from.textContent.trimEnd() : button.dataset.copy;
    try { await navigator.clipboard.writeText(text); } catch {
      const area = document.createElement("textarea");
      area.value = text; document.body.append(area); area.select(); document.execCommand("copy"); area.remove(); button.focus();
    }
    const said = button.textContent;
    button.textContent = "copied";
    setTimeout(() => { button.textContent = said; }, 2000);
  });
}
