// Threads: what was asked before, and follow-up questions. Without them each question stands alone.

export class Threads {
  constructor(clear, showKept) {
    this.clear = clear;
    this.showKept = showKept;
  }

  into(body) {
    return body;
  }

  take() {}

  asked() {}

  visible() {}

  async load() {}
}
