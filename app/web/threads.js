// Threads: what was asked before, and follow-up questions. A server that keeps none answers 404 to
// GET /threads; then each question stands alone, and nothing of this is shown.

import { ApiError, getJson, send } from "./api.js";
import { byId, el } from "./dom.js";

export class Threads {
  #kept = false;
  #id = null; // of the thread that is open; null for one without a question
  #list = [];

  // clear() empties the page; showKept(question, fill) adds a question, fill(turn) its answer.
  constructor(clear, showKept) {
    this.clear = clear;
    this.showKept = showKept;
    byId("thread-new").addEventListener("click", () => this.#start());
    byId("threads-open").addEventListener("click", () => this.#toggle());
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && byId("threads").classList.contains("open")) this.#toggle(false);
    });
  }

  async load() {
    try {
      const { threads } = await getJson("/threads");
      this.#kept = true;
      this.#list = threads;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      return;
    }
    this.#draw();
    this.visible(location.hash !== "#compare");
  }

  visible(asking) {
    byId("threads").hidden = !this.#kept;
    byId("threads-open").hidden = !(this.#kept && asking);
    if (!asking) this.#toggle(false);
  }

  // The body of a question, in the thread that is open.
  into(body) {
    if (!this.#kept) return body;
    this.#id ??= newId();
    return { ...body, thread_id: this.#id };
  }

  take(event) {
    if (event.thread_id) this.#id = event.thread_id;
  }

  asked() {
    if (this.#kept) this.load();
  }

  #start() {
    this.#id = null;
    this.#toggle(false);
    this.#draw();
    this.clear();
  }

  async #open(id) {
    this.#toggle(false);
    const { turns } = await getJson(`/threads/${encodeURIComponent(id)}`);
    this.clear();
    this.#id = id;
    this.#draw();
    for (const one of turns) {
      this.showKept(one.question, (turn) => turn.show(one.answer, one.sources ?? [], one.checks));
    }
  }

  async #remove(id) {
    await send(`/threads/${encodeURIComponent(id)}`, { method: "DELETE" });
    if (id === this.#id) this.#start();
    await this.load();
    byId("thread-new").focus();
  }

  #draw() {
    const items = this.#list.map((one) => {
      const title = one.title || "Untitled";
      return el(
        "li",
        {},
        el("button", { type: "button", class: "thread", title, "aria-current": one.id === this.#id ? "true" : null, onclick: () => this.#tell(this.#open(one.id)) }, title),
        el("button", { type: "button", class: "remove", "aria-label": `Remove the thread: ${title}`, onclick: () => this.#tell(this.#remove(one.id)) }, "×"),
      );
    });
    byId("thread-list").replaceChildren(...items);
  }

  #tell(doing) {
    doing.catch((error) => (byId("status").textContent = error.message));
  }

  #toggle(open = !byId("threads").classList.contains("open")) {
    byId("threads").classList.toggle("open", open);
    byId("threads-open").setAttribute("aria-expanded", String(open));
  }
}

// As crypto.randomUUID(), which pages of other machines without TLS do not have.
function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
