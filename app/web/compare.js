// Two editions of a series side by side, figures first.

import { getJson, words } from "./api.js";
import { byId, el, option, pagesOf, plural, sectionOf } from "./dom.js";

const AT_ONCE = 25;
const STATUS = { changed: "changed", moved: "moved", added: "new", removed: "gone", unchanged: "unchanged" };

export class ComparePage {
  #series = [];
  #loaded = false;

  constructor() {
    byId("series").addEventListener("change", () => this.#fillEditions());
    byId("compare-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#compare();
    });
  }

  async show() {
    if (this.#loaded) return;
    try {
      const { series } = await getJson("/series");
      this.#loaded = true;
      this.#series = series.filter((one) => one.editions.length > 1);
    } catch (error) {
      this.#tell(words(error), true);
      return;
    }
    byId("series").replaceChildren(...this.#series.map((one) => option(one.series)));
    byId("compare").disabled = !this.#series.length;
    if (this.#series.length) this.#fillEditions();
    else this.#tell("No series here has two editions. `milepost ingest` with a scope map names series and editions.");
  }

  #fillEditions() {
    const chosen = this.#series.find((one) => one.series === byId("series").value);
    const made = () => chosen.editions.map((one) => option(one.edition, editionWords(one)));
    byId("older").replaceChildren(...made());
    byId("newer").replaceChildren(...made());
    const current = Math.max(chosen.editions.findIndex((one) => one.is_current), 0) || chosen.editions.length - 1;
    byId("newer").selectedIndex = current;
    byId("older").selectedIndex = Math.max(0, current - 1);
  }

  async #compare() {
    const asked = { series: byId("series").value, old: byId("older").value, new: byId("newer").value, limit: AT_ONCE };
    const section = byId("section").value.trim();
    if (section) asked.section = section;
    byId("comparison").replaceChildren();
    this.#tell("Comparing …");
    byId("compare").disabled = true;
    try {
      const found = await getJson("/compare", asked);
      this.#tell(summary(found));
      byId("comparison").append(...figures(found), el("div", { id: "sections" }));
      this.#append(found, asked, 0);
    } catch (error) {
      this.#tell(words(error), true);
    } finally {
      byId("compare").disabled = false;
    }
  }

  #append(found, asked, offset) {
    byId("sections").append(...found.sections.map((one) => sectionPair(one, found)));
    if (!offset && !found.sections.length) byId("sections").append(el("p", { class: "note" }, "Nothing changed here between the two editions."));
    if (!found.sections_left_out) return;
    const more = el("button", { type: "button" }, `Show more (${found.sections_left_out.toLocaleString("en")} left)`);
    more.addEventListener("click", async () => {
      more.disabled = true;
      try {
        const next = await getJson("/compare", { ...asked, offset: offset + AT_ONCE });
        more.remove();
        this.#append(next, asked, offset + AT_ONCE);
      } catch (error) {
        more.disabled = false;
        this.#tell(words(error), true);
      }
    });
    byId("sections").append(more);
  }

  #tell(text, wrong = false) {
    const status = byId("compare-status");
    status.className = wrong ? "note error" : "";
    status.textContent = text;
  }
}

function editionWords(one) {
  const year = one.year && !one.edition.includes(one.year) ? ` (${one.year})` : "";
  return `${one.edition}${year}${one.is_current ? ", current" : ""}`;
}

function summary(found) {
  const { changed, moved, added, removed, unchanged } = found.counts;
  const parts = Object.entries({ changed, moved, new: added, gone: removed, unchanged }).filter(([, n]) => n);
  const all = parts.reduce((sum, [, n]) => sum + n, 0);
  const between = `${found.series}, ${found.older.edition} to ${found.newer.edition}`;
  return `${between}: of ${plural(all, "section")}, ${parts.map(([what, n]) => `${n.toLocaleString("en")} ${what}`).join(", ")}.`;
}

function figures(found) {
  if (!found.figures.length) return [];
  const rows = found.figures.map((one) =>
    el(
      "tr",
      {},
      el("td", { class: "amount" }, el("del", {}, one.older)),
      el("td", { class: "amount" }, el("ins", {}, one.newer)),
      el("td", {}, excerpt(one.runs), el("span", { class: "muted where" }, `${placeWords(one.older_place)} → ${placeWords(one.newer_place)}`)),
    ),
  );
  return [
    el("h2", {}, `Figures that changed (${found.figures.length})`),
    el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": "Figures that changed" },
      el("table", { class: "figures" }, el("thead", {}, el("tr", {}, ...[found.older.edition, found.newer.edition, "Where"].map((name) => el("th", { scope: "col" }, name)))), el("tbody", {}, rows)),
    ),
    el("h2", {}, "Sections"),
  ];
}

// The sentence, shortened where nothing changes, and in the middle of what is long.
function excerpt(runs) {
  const shown = runs.map((run, at) => {
    const start = run.text.slice(0, 35).replace(/\s+\S*$/, "");
    const end = run.text.slice(-45).replace(/^\S*\s+/, "");
    if (run.text.length < 80) return runElement(run);
    if (run.kind !== "same") return runElement({ ...run, text: `${start} … ${end}` });
    if (at === 0) return `… ${end}`;
    return at === runs.length - 1 ? `${start} …` : `${start} … ${end}`;
  });
  return el("span", {}, spaced(shown));
}

// Runs are words, without the spaces between them.
function spaced(parts) {
  return parts.flatMap((part, at) => (at ? [" ", part] : [part]));
}

function placeWords(place) {
  return place ? [place.section.number ?? place.section.title, pagesOf(place.pages)].filter(Boolean).join(", ") : "—";
}

function sectionPair(one, found) {
  const heading = one.newer ?? one.older;
  const moved = one.status === "moved" && one.older && one.newer ? `was ${sectionOf(one.older.section)}` : "";
  return el(
    "section",
    { class: `pair ${one.status}` },
    el("h3", {}, el("span", { class: `tag ${one.status}` }, STATUS[one.status]), " ", sectionOf(heading.section), moved ? el("span", { class: "muted" }, ` ${moved}`) : null),
    el("div", { class: "sides heads" }, side(found.older, one.older), side(found.newer, one.newer)),
    one.heading.length ? row({ runs: one.heading, figures: [] }) : null,
    one.changes.map(row),
    one.changes.length || one.heading.length ? null : el("p", { class: "muted" }, "The wording is the same."),
  );
}

function side(edition, place) {
  return el("div", { class: "muted" }, el("strong", {}, edition.edition), " ", place ? [sectionOf(place.section), pagesOf(place.pages)].filter(Boolean).join(", ") : "not in this edition");
}

function row(change) {
  const of = (kind, figure) => {
    const runs = change.runs.filter((run) => run.kind === "same" || run.kind === kind);
    const amounts = new Set(change.figures.flatMap((one) => one[figure].split(/\s+/)));
    return el("div", { class: runs.length ? "" : "empty" }, spaced(runs.map((run) => runElement(run, amounts))));
  };
  return el("div", { class: "sides" }, of("deleted", "older"), of("inserted", "newer"));
}

function runElement(run, amounts = new Set()) {
  if (run.kind === "same") return run.text;
  const words = run.text.split(/(\s+)/).map((word) => {
    const bare = word.toLowerCase().replace(/^[("“[]+|[.,;:)”"\]]+$/g, "");
    return amounts.has(bare) ? el("strong", { class: "amount" }, word) : word;
  });
  return el(run.kind === "deleted" ? "del" : "ins", {}, words);
}
