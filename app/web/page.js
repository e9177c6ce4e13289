// The page: two views, one question at a time, and the keys that work everywhere.

import { Turn } from "./answer.js";
import { changeKey, collection, events, getJson, hasKey, postJson, words } from "./api.js";
import { ComparePage } from "./compare.js";
import { byId, option, plural } from "./dom.js";
import { SourcePane } from "./source.js";
import { Threads } from "./threads.js";

const pane = new SourcePane();
const comparing = new ComparePage();
const threads = new Threads(clear, showKept);
let running = null; // the AbortController of the question that is being answered

function openSource(source, opener) {
  pane.open(source, opener);
}

function clear() {
  running?.abort();
  if (pane.isOpen) pane.close();
  byId("turns").replaceChildren();
  byId("welcome").hidden = false;
  byId("question").focus();
}

function showKept(question, fill) {
  const turn = new Turn(question, openSource);
  byId("welcome").hidden = true;
  byId("turns").append(turn.element);
  fill(turn);
}

function bodyOf(question) {
  const body = { query: question, collection, stream: true };
  if (byId("scope").value) body.scopes = [byId("scope").value];
  if (byId("as-of").value) body.as_of = Number(byId("as-of").value);
  if (byId("all-editions").checked) body.all_editions = true;
  if (byId("machine").value) body.machine = byId("machine").value;
  return threads.into(body);
}

async function ask(question) {
  const turn = new Turn(question, openSource);
  const stopping = new AbortController();
  running?.abort();
  running = stopping;
  byId("welcome").hidden = true;
  byId("turns").append(turn.element);
  turn.element.scrollIntoView({ block: "start", behavior: calm() ? "auto" : "smooth" });
  busy(true);
  say("Searching the documents.");
  try {
    const response = await postJson("/ask", await bodyOf(question), stopping.signal);
    let ended = false;
    for await (const event of events(response)) {
      threads.take(event);
      ended = turn.take(event) || ended;
    }
    if (!ended) turn.fail("The answer broke off: the server ended the connection. Ask again.");
    say(turn.answer.querySelector(".error") ? "The answer failed." : "The answer is complete.");
  } catch (error) {
    if (error.name === "AbortError") turn.stopped();
    else turn.fail(words(error));
    say("The answer is not complete.");
  } finally {
    if (running === stopping) {
      running = null;
      busy(false);
    }
    threads.asked(question);
  }
}

function busy(is) {
  const focused = document.activeElement;
  byId("ask").hidden = is;
  byId("stop").hidden = !is;
  if (focused === byId("stop") || focused === byId("ask")) byId("question").focus();
}

function say(text) {
  byId("status").textContent = text;
}

const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

function submit() {
  const question = byId("question").value.trim();
  if (!question) return;
  byId("question").value = "";
  fitQuestion();
  ask(question);
}

function fitQuestion() {
  const field = byId("question");
  field.style.height = "auto";
  field.style.height = `${Math.min(field.scrollHeight + 2, 200)}px`;
}

function narrowed() {
  const parts = [byId("scope").value, byId("as-of").value && `as of ${byId("as-of").value}`, byId("all-editions").checked && "all editions", byId("machine").value];
  const shown = parts.filter(Boolean).join(", ");
  byId("narrowed").textContent = shown ? `: ${shown}` : "";
}

function showView() {
  const compare = location.hash === "#compare";
  byId("ask-view").hidden = compare;
  byId("compare-view").hidden = !compare;
  for (const [id, here] of [["to-ask", !compare], ["to-compare", compare]]) {
    if (here) byId(id).setAttribute("aria-current", "page");
    else byId(id).removeAttribute("aria-current");
  }
  document.title = compare ? "Compare editions · Milepost" : "Milepost";
  threads.visible(!compare);
  if (compare) {
    if (pane.isOpen) pane.close();
    comparing.show();
  }
}

// What needs a chat model where there is none is shown, and cannot be chosen.
async function loadMachines() {
  const { machines } = await getJson("/machines");
  const usual = machines.find((one) => one.is_default);
  byId("machine").replaceChildren(
    option("", `${usual.name} (usual)`),
    ...machines.filter((one) => !one.is_default).map((one) => option(one.name, one.available ? one.name : `${one.name} (needs a chat model)`, { disabled: !one.available })),
  );
  const tell = () => {
    const chosen = machines.find((one) => one.name === byId("machine").value) ?? usual;
    byId("machine-help").textContent = `${chosen.description}.`;
  };
  byId("machine").addEventListener("input", tell);
  tell();
}

async function loadHoldings() {
  try {
    const { scopes } = await getJson("/scopes");
    const documents = scopes.reduce((sum, one) => sum + one.documents, 0);
    const chosen = byId("scope").value;
    byId("scope").replaceChildren(option("", "All scopes"), ...scopes.map((one) => option(one.name, `${one.name} (${one.documents})`)));
    byId("scope").value = chosen;
    byId("holdings").textContent = documents
      ? `${plural(documents, "document")} in ${plural(scopes.length, "scope")}.`
      : "There are no documents yet. Add some with: milepost ingest FOLDER";
    await loadMachines();
  } catch (error) {
    byId("holdings").textContent = words(error);
  }
}

byId("ask-form").addEventListener("submit", (event) => {
  event.preventDefault();
  submit();
});
byId("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    submit();
  }
});
byId("question").addEventListener("input", fitQuestion);
byId("stop").addEventListener("click", () => running?.abort());
for (const id of ["scope", "as-of", "all-editions", "machine"]) byId(id).addEventListener("input", narrowed);
byId("key-change").addEventListener("click", async () => {
  if (await changeKey()) location.reload();
});
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId(location.hash === "#compare" ? "series" : "question").focus();
});
document.addEventListener("keydown", (event) => {
  const typing = event.target.closest("input, textarea, select, dialog");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  if (location.hash === "#compare") location.hash = "#ask";
  showView();
  byId("question").focus();
});
window.addEventListener("hashchange", showView);

byId("key-change").hidden = !hasKey();
showView();
if (!byId("ask-view").hidden) byId("question").focus();
await Promise.all([loadHoldings(), threads.load()]);
