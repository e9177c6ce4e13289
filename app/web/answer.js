// One question and its answer: the text with its citations, the sources, and how it came about.

import { el, pagesOf, placeOf, plural } from "./dom.js";

const MARKS = /\[Source (\d+(?:, ?\d+)*)\]|\[not in the source: ([^\]]*)\]|\*\*([^*\n]+)\*\*/g;
const STAGES = {
  rewrite: "Make the question stand alone",
  understand: "Read the question",
  route: "Choose scopes",
  embed: "Turn it into a vector",
  search: "Search the graph",
  fuse: "Merge the lists",
  rerank: "Order by topic",
  references: "Follow references",
  answer: "Write the answer",
  check: "Check citations",
};
const LISTS = {
  global: "everything, by meaning",
  fulltext: "everything, by words",
  address: "the section that the question names",
};

export class Turn {
  constructor(question, openSource) {
    this.openSource = openSource;
    this.sources = new Map();
    this.hits = [];
    this.text = "";
    this.waiting = el("p", { class: "waiting" }, "Searching the documents");
    this.answer = el("div", { class: "answer", "aria-live": "polite", "aria-busy": "true" });
    this.below = el("div", { class: "below" });
    this.element = el(
      "article",
      { class: "turn", "aria-label": `Question: ${question}` },
      (this.heading = el("h2", {}, question)),
      this.waiting,
      this.answer,
      this.below,
    );
  }

  // Shows one event of the stream; returns whether it was the last one.
  take(event) {
    const taken = {
      thread: () => this.#standsAlone(event),
      route: () => (this.route = event),
      hits: () => this.#found(event.hits),
      token: () => this.#draft(event.text),
      citation: () => this.sources.set(event.source.n, event.source),
      check: () => this.#checked(event),
      done: () => this.#done(event),
      error: () => this.fail(event.error.message),
    }[event.type];
    taken?.();
    return event.type === "done" || event.type === "error";
  }

  // Shows an answer that was kept in a thread.
  show({ asked, question, answer, supported, sources }) {
    this.#standsAlone({ asked, question });
    for (const { n, chunk_id, document, section, pages } of sources) {
      const file = { title: document, uri: "", is_current: true };
      this.sources.set(n, { n, chunk_id, pages, document: file, section: { number: null, title: section } });
    }
    this.#written(answer, supported);
    this.#end();
  }

  fail(message) {
    this.answer.append(el("p", { class: "note error", role: "alert" }, message));
    this.#end();
  }

  stopped() {
    this.answer.append(el("p", { class: "note" }, "Stopped. What is above is a draft: its citations were not checked."));
    this.#end();
  }

  #standsAlone({ asked, question }) {
    if (question !== asked) {
      this.heading.after(el("p", { class: "muted" }, "Understood as: ", el("q", {}, question)));
    }
  }

  #found(hits) {
    this.hits = hits;
    for (const hit of hits) this.sources.set(hit.rank, { ...hit, n: hit.rank });
    this.waiting.textContent = `${plural(hits.length, "passage")} found, writing`;
  }

  #draft(text) {
    this.text += text;
    this.answer.replaceChildren(...this.#blocks(this.text));
  }

  #checked({ answer, checks }) {
    this.#written(answer, checks.supported);
    this.below.append(el("p", { class: "checks muted" }, checkWords(checks)));
  }

  #written(answer, supported) {
    this.text = answer;
    this.answer.replaceChildren(...this.#blocks(answer));
    this.answer.classList.toggle("unsupported", !supported);
    this.waiting.hidden = true;
    const cited = [...new Set([...this.answer.querySelectorAll(".cite")].map((b) => Number(b.dataset.n)))];
    if (cited.length) {
      this.below.append(
        el("h3", {}, "Sources"),
        el("ol", { class: "sources" }, cited.sort((a, b) => a - b).map((n) => this.#card(this.sources.get(n), n))),
      );
    }
  }

  #done(event) {
    this.below.append(this.#how(event));
    this.#end();
  }

  #end() {
    this.waiting.hidden = true;
    this.answer.setAttribute("aria-busy", "false");
  }

  #blocks(text) {
    const blocks = [];
    for (const line of text.split("\n")) {
      const item = /^\s*(?:[-*•]|(\d+)[.)])\s+(.*)$/.exec(line);
      const last = blocks.at(-1);
      if (item) {
        const kind = item[1] ? "ol" : "ul";
        if (last?.kind !== kind) blocks.push({ kind, items: [], start: item[1] });
        blocks.at(-1).items.push([item[2]]);
      } else if (!line.trim()) {
        if (last && last.kind === "p") blocks.push({ kind: "gap" });
        else if (last?.items) last.open = false;
      } else if (last?.items && last.open !== false) {
        last.items.at(-1).push(line);
      } else if (last?.kind === "p") {
        last.lines.push(line);
      } else {
        blocks.push({ kind: "p", lines: [line] });
      }
      if (item) blocks.at(-1).open = true;
    }
    return blocks
      .filter((block) => block.kind !== "gap")
      .map((block) =>
        block.kind === "p"
          ? el("p", {}, this.#inline(block.lines.join(" ")))
          : el(block.kind, { start: block.start }, block.items.map((lines) => el("li", {}, this.#inline(lines.join(" "))))),
      );
  }

  #inline(text) {
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(MARKS)) {
      parts.push(text.slice(at, found.index));
      at = found.index + found[0].length;
      if (found[1]) parts.push(...found[1].split(",").map((n) => this.#citation(Number(n))));
      else if (found[2] !== undefined) parts.push(el("span", { class: "unfounded" }, `not in the source: ${found[2]}`));
      else parts.push(el("strong", {}, found[3]));
    }
    parts.push(text.slice(at));
    return parts;
  }

  #citation(n) {
    const source = this.sources.get(n);
    if (!source) return el("span", { class: "cite missing" }, String(n));
    const label = `Source ${n}: ${source.document.title}, ${placeOf(source)}`;
    return el(
      "button",
      { type: "button", class: "cite", "data-n": n, "aria-label": label, title: label, onclick: (event) => this.#open(source, event) },
      String(n),
    );
  }

  #card(source, n) {
    return el(
      "li",
      {},
      el(
        "button",
        { type: "button", class: "card", onclick: (event) => this.#open(source, event) },
        el("span", { class: "number", "aria-hidden": "true" }, String(n)),
        el("span", { class: "card-text" }, el("strong", {}, source.document.title), el("span", { class: "muted" }, placeOf(source))),
        source.document.is_current ? null : el("span", { class: "tag" }, "superseded"),
      ),
    );
  }

  #open(source, event) {
    this.openSource(source, event.currentTarget);
  }

  #how(event) {
    const total = Object.values(event.timings_ms).reduce((sum, ms) => sum + ms, 0);
    return el(
      "details",
      { class: "how" },
      el("summary", {}, `How this was found, ${milliseconds(total)}`),
      el("div", { class: "how-parts" }, this.#scopes(), stages(event.timings_ms), this.#passages()),
      usageWords(event.usage),
    );
  }

  #scopes() {
    const { route = [], understood = [], system = "" } = this.route ?? {};
    const names = [...new Set(this.hits.flatMap((hit) => Object.keys(hit.lists)))];
    const searched = names.map((name) => LISTS[name] ?? name.replace(/^scope:/, "scope ").replace(/^reference:/, "what was referred to: "));
    const from = new Map();
    for (const hit of this.hits) from.set(hit.document.scope, (from.get(hit.document.scope) ?? 0) + 1);
    const likely = route.filter((one, at) => at < 5 && one.probability >= 0.005);
    return el(
      "section",
      {},
      el("h3", {}, "Scopes"),
      searched.length ? el("p", {}, `Searched (${system}): ${searched.join("; ")}.`) : null,
      understood.length ? el("ul", { class: "plain-list" }, understood.map((one) => el("li", {}, one))) : null,
      likely.length
        ? el("table", { class: "bars" }, el("caption", {}, "Where the answer is likely"), likely.map((one) => bar(one.scope, one.probability, `${Math.round(one.probability * 100)}%`)))
        : el("p", { class: "muted" }, "No scope was preferred."),
      el("p", { class: "muted" }, `Passages came from ${[...from].map(([scope, n]) => `${scope} (${n})`).join(", ") || "nowhere"}.`),
    );
  }

  #passages() {
    return el(
      "section",
      {},
      el("h3", {}, "Passages found"),
      el(
        "ol",
        { class: "found" },
        this.hits.map((hit) =>
          el(
            "li",
            {},
            el("button", { type: "button", class: "link", onclick: (event) => this.#open(hit, event) }, hit.document.title),
            el("span", { class: "muted" }, ` ${[hit.section.number ?? hit.section.title, pagesOf(hit.pages, hit.printed)].filter(Boolean).join(", ")}`),
          ),
        ),
      ),
    );
  }
}

function stages(timings) {
  const entries = Object.entries(timings);
  const most = Math.max(1, ...entries.map(([, ms]) => ms));
  return el(
    "section",
    {},
    el("h3", {}, "Time"),
    el("table", { class: "bars stages" }, el("caption", { class: "hidden" }, "How long each stage took"), entries.map(([name, ms]) => bar(STAGES[name] ?? name, ms / most, milliseconds(ms)))),
  );
}

function bar(name, share, text) {
  const fill = el("span", { class: "fill" });
  fill.style.width = `${Math.max(1, Math.round(share * 100))}%`;
  return el("tr", {}, el("th", { scope: "row" }, name), el("td", { class: "track", "aria-hidden": "true" }, fill), el("td", { class: "value" }, text));
}

function milliseconds(ms) {
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${Math.round(ms)} ms` : `${ms.toFixed(1)} ms`;
}

function checkWords(checks) {
  if (!checks.supported) return "No passage supports an answer.";
  const found = [
    checks.uncited_claims && `${plural(checks.uncited_claims, "claim")} without a source`,
    checks.marked_claims && `${plural(checks.marked_claims, "claim")} with figures that the source does not state`,
    checks.removed_citations && `${plural(checks.removed_citations, "citation")} of no source removed`,
  ].filter(Boolean);
  const how = checks.extractive ? "Quoted word for word, no model was used." : "Written by a model.";
  return `${how} Checked ${plural(checks.claims, "claim")}: ${found.join(", ") || "each has its source"}.`;
}

function usageWords(usage) {
  if (!usage?.llm_calls) return null;
  return el("p", { class: "muted" }, `${plural(usage.llm_calls, "model call")}, ${plural(usage.tokens, "token")}.`);
}
