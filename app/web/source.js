// The source beside the answer: the page as a picture with the passage marked, or the section's text.

import { collection, getJson, send, words } from "./api.js";
import { byId, el, linkTo, placeOf, sectionOf } from "./dom.js";

const sheet = matchMedia("(max-width: 900px)");

export class SourcePane {
  #pane = byId("source");
  #body = byId("source-body");
  #opener = null;
  #source = null; // as GET /sources/ID has it
  #page = 1;
  #turn = 0; // tells late answers from those that are still wanted
  #picture = null;

  constructor() {
    byId("source-close").addEventListener("click", () => this.close());
    byId("page-back").addEventListener("click", () => this.#turnTo(this.#page - 1));
    byId("page-on").addEventListener("click", () => this.#turnTo(this.#page + 1));
    byId("show-page").addEventListener("click", () => this.#turnTo(this.#page));
    byId("show-text").addEventListener("click", () => this.#showText());
    byId("zoom").addEventListener("click", () => this.#zoom());
    sheet.addEventListener("change", () => this.#fit());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.isOpen && !document.querySelector("dialog[open]")) this.close();
    });
    this.#pane.addEventListener("keydown", (event) => this.#turnByKey(event));
  }

  get isOpen() {
    return !this.#pane.hidden;
  }

  async open(source, opener) {
    const turn = ++this.#turn;
    this.#opener = opener;
    this.#source = null;
    this.#head(source);
    this.#note("");
    this.#body.replaceChildren(el("p", { class: "waiting" }, "Opening the source"));
    this.#pane.hidden = false;
    document.body.classList.add("with-source");
    for (const one of document.querySelectorAll(".cite.open")) one.classList.remove("open");
    if (opener?.classList.contains("cite")) opener.classList.add("open");
    this.#tools(false);
    this.#fit();
    this.#pane.focus({ preventScroll: true });
    try {
      const found = await getJson(`/sources/${encodeURIComponent(source.chunk_id)}`);
      if (turn !== this.#turn) return;
      this.#source = found;
      this.#head(found);
      if (found.view === "page") await this.#turnTo(found.pages[0] ?? 1);
      else this.#showText();
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#body.replaceChildren();
      this.#note(words(error));
    }
  }

  close() {
    this.#turn++;
    this.#pane.hidden = true;
    document.body.classList.remove("with-source");
    for (const one of document.querySelectorAll(".cite.open")) one.classList.remove("open");
    this.#fit();
    this.#forget();
    if (this.#opener?.isConnected) this.#opener.focus();
    this.#opener = null;
  }

  #head(source) {
    byId("source-title").textContent = source.document.title;
    const link = linkTo(source.document.uri, "original");
    byId("source-place").replaceChildren(
      placeOf(source),
      ...(source.document.is_current ? [] : [" ", el("span", { class: "tag" }, "superseded")]),
      ...(link ? [" · ", link] : []),
    );
  }

  async #turnTo(page) {
    const { chunk_id: id, document: file } = this.#source;
    const last = file.page_count ?? 1;
    if (page < 1 || page > last) return;
    const turn = ++this.#turn;
    this.#page = page;
    this.#tools(true);
    this.#body.setAttribute("aria-busy", "true");
    try {
      const response = await send(`/sources/${encodeURIComponent(id)}/page/${page}.png?${new URLSearchParams({ collection })}`);
      const picture = await response.blob();
      if (turn !== this.#turn) return;
      await this.#draw(picture, Number(response.headers.get("X-Passage-Marks")), Number(response.headers.get("X-Passage-Top")));
    } catch (error) {
      if (turn !== this.#turn) return;
      this.#showText();
      this.#note(words(error));
    } finally {
      this.#body.removeAttribute("aria-busy");
    }
  }

  async #draw(blob, marks, top) {
    const { document: file, pages } = this.#source;
    const cited = pages.length && this.#page >= pages[0] && this.#page <= pages[1];
    const marked = marks ? "the passage is marked" : "nothing is marked";
    const image = el("img", { class: "page", alt: `Page ${this.#page} of ${file.title}; ${marked}. The button Text shows it as text.` });
    this.#forget();
    this.#picture = URL.createObjectURL(blob);
    image.src = this.#picture;
    image.dataset.marks = marks;
    await image.decode();
    this.#body.replaceChildren(image);
    this.#note(cited && !marks ? "The passage is on this page, but its words could not be found in the picture. Text shows it." : "");
    this.#body.scrollTop = marks ? Math.max(0, top * image.clientHeight - this.#body.clientHeight / 3) : 0;
  }

  #showText() {
    this.#turn++;
    const { before, text, after, view } = this.#source;
    const mark = el("mark", {}, text);
    this.#forget();
    this.#body.replaceChildren(
      el("div", { class: "reading" }, el("h3", {}, pathOf(this.#source)), el("div", { class: "text" }, before, mark, after)),
    );
    this.#note("");
    this.#tools(false);
    this.#body.scrollTop = Math.max(0, mark.offsetTop - this.#body.clientHeight / 4);
    byId("show-page").hidden = byId("show-text").hidden = view !== "page";
  }

  #tools(picture) {
    const last = this.#source?.document.page_count ?? 1;
    const paged = this.#source?.view === "page";
    for (const id of ["page-back", "page-on", "page-number", "zoom"]) byId(id).hidden = !picture;
    for (const id of ["show-page", "show-text"]) byId(id).hidden = !paged;
    this.#pane.querySelector(".tools").hidden = !paged;
    byId("show-page").setAttribute("aria-pressed", String(picture));
    byId("show-text").setAttribute("aria-pressed", String(!picture));
    byId("page-number").textContent = `${this.#page} of ${last}`;
    byId("page-back").disabled = this.#page <= 1;
    byId("page-on").disabled = this.#page >= last;
  }

  #zoom() {
    const larger = this.#body.classList.toggle("larger");
    byId("zoom").setAttribute("aria-pressed", String(larger));
  }

  #note(text) {
    const note = byId("source-note");
    note.textContent = text;
    note.hidden = !text;
  }

  #forget() {
    if (this.#picture) URL.revokeObjectURL(this.#picture);
    this.#picture = null;
  }

  // On a small screen the source covers the rest, which then must not be reachable.
  #fit() {
    const covers = this.isOpen && sheet.matches;
    for (const one of document.querySelectorAll("header.bar, .threads, .talk, .skip")) one.inert = covers;
    if (covers) {
      this.#pane.setAttribute("role", "dialog");
      this.#pane.setAttribute("aria-modal", "true");
    } else {
      this.#pane.removeAttribute("role");
      this.#pane.removeAttribute("aria-modal");
    }
  }

  #turnByKey(event) {
    if (event.key === "ArrowRight" && !byId("page-on").hidden && event.target !== this.#body) byId("page-on").click();
    if (event.key === "ArrowLeft" && !byId("page-back").hidden && event.target !== this.#body) byId("page-back").click();
  }
}

// The headings above the passage; the document's title stands above already.
function pathOf({ document: file, section }) {
  const headings = section.heading.split("\n")[0].split(" > ");
  if (headings[0] === file.title) headings.shift();
  return headings.join(" › ") || sectionOf(section);
}
