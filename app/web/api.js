// Talks to the server: keys, errors in words, and server-sent events.

import { byId } from "./dom.js";

const KEY = "milepost-key";

export const collection = new URLSearchParams(location.search).get("collection") || "default";

export class ApiError extends Error {
  constructor(status, code, message) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

// Sends a request; asks for a key where the server wants one, and sends it again.
export async function send(path, options = {}) {
  for (;;) {
    const response = await fetchOnce(path, options);
    if (response.ok) return response;
    const error = await errorOf(response);
    if (error.status !== 401 || !(await askForKey(hasKey() ? error.message : WHERE))) throw error;
  }
}

export async function getJson(path, parameters = {}) {
  const query = new URLSearchParams({ collection, ...parameters });
  return (await send(`${path}?${query}`)).json();
}

export async function postJson(path, body, signal) {
  return send(path, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
}

// Yields the events of a stream as objects.
export async function* events(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      rest += value;
      const blocks = rest.split("\n\n");
      rest = blocks.pop();
      for (const block of blocks) {
        const data = block.split("\n").find((line) => line.startsWith("data: "));
        if (data) yield JSON.parse(data.slice(6));
      }
    }
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "away", AWAY);
  } finally {
    reader.cancel().catch(() => {});
  }
}

export function words(error) {
  if (error instanceof ApiError) return error.message;
  console.error(error);
  return "Something went wrong in this page. Load it again.";
}

const WHERE = "Whoever runs this server makes one with: milepost keys add NAME";
const AWAY = "The server does not answer. Check that it runs (milepost serve), then try again.";

async function fetchOnce(path, options) {
  const headers = new Headers(options.headers);
  const key = sessionStorage.getItem(KEY);
  if (key) headers.set("Authorization", `Bearer ${key}`);
  try {
    return await fetch(path, { ...options, headers, credentials: "same-origin" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "away", AWAY);
  }
}

async function errorOf(response) {
  let body = {};
  try {
    body = (await response.json()).error ?? {};
  } catch {
    // Not from Milepost, such as a proxy's own page.
  }
  const seconds = response.headers.get("Retry-After");
  const again = seconds ? ` Try again in ${seconds} s.` : "";
  const message = body.message ?? `The server answered with an error (${response.status}).${again}`;
  return new ApiError(response.status, body.code ?? "unknown", message);
}

let asking = null; // so that several requests ask once

function askForKey(why) {
  asking ??= new Promise((resolve) => {
    const dialog = byId("key-dialog");
    byId("key-why").textContent = why;
    byId("key").value = "";
    byId("key-cancel").onclick = () => dialog.close("");
    dialog.onclose = () => {
      const key = byId("key").value.trim();
      const given = dialog.returnValue === "save" && key !== "";
      if (given) sessionStorage.setItem(KEY, key);
      dialog.returnValue = "";
      byId("key-change").hidden = false;
      asking = null;
      resolve(given);
    };
    dialog.returnValue = "";
    dialog.showModal();
    byId("key").focus();
  });
  return asking;
}

export async function changeKey() {
  return askForKey("Give another key to see what it may see.");
}

export const hasKey = () => sessionStorage.getItem(KEY) !== null;
