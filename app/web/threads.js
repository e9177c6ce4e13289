// Threads: what was asked before, and follow-up questions. A server that keeps none answers 404 to
// GET /threads; then each question stands alone, and nothing of this is shown.

import { ApiError, send } from "./api.js";
import { byId, el } from "./dom.js";

export class Threads {
  #kept = false;
  #id = null; // of the thread that is open; null for one without a question
  #begun = null; // as the server named the thread of the question that is being answered
  #list = [];
  #loading = null;
  #drawn = "";

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

  load() {
    this.#loading = this.#load();
    return this.#loading;
  }

  async #load() {
    try {
      const { threads } = await (await send("/threads")).json();
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
  async into(body) {
    await this.#loading; // else the first question of a quick person would be in no thread
    return this.#kept ? { ...body, thread: this.#id ?? "new" } : body;
  }

  // A thread is kept once its first question is answered.
  take(event) {
    if (event.type === "thread") this.#begun = event.thread;
    if (event.type === "done") this.#id = this.#begun ?? this.#id;
  }

  asked() {
    if (this.#kept) this.load();
  }

  #start() {
    this.#id = this.#begun = null;
    this.#toggle(false);
    this.#draw();
    this.clear();
  }

  async #open(id) {
    this.#toggle(false);
    const { turns } = await (await send(`/threads/${encodeURIComponent(id)}`)).json();
    this.clear();
    this.#id = this.#begun = id;
    this.#draw();
    for (const one of turns) {
      this.showKept(one.asked, (turn) => turn.show(one));
    }
  }

  async #remove(id) {
    await send(`/threads/${encodeURIComponent(id)}`, { method: "DELETE" });
    if (id === this.#id) this.#start();
    await this.load();
    byId("thread-new").focus();
  }

  #draw() {
    const shown = JSON.stringify([this.#list, this.#id]);
    if (shown === this.#drawn) return; // what is being clicked must not be replaced
    this.#drawn = shown;
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
