// Makes elements. Text of documents and models only ever goes in as text, never as HTML.

export const byId = (id) => document.getElementById(id);

export function el(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") made.className = value;
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
}

export function option(value, text = value, properties = {}) {
  return el("option", { value, ...properties }, text);
}

export const plural = (n, one, many = `${one}s`) => `${n.toLocaleString("en")} ${n === 1 ? one : many}`;

// `printed`: what is printed on the pages in place of their count.
export function pagesOf(pages, printed = null) {
  if (!pages.length) return "";
  const counted = pages[0] === pages[1] ? `p. ${pages[0]}` : `pp. ${pages[0]}–${pages[1]}`;
  return printed ? `${counted} of the file (printed: ${printed})` : counted;
}

// "4.2.3 Time to Process …", without a number that the title repeats.
export function sectionOf(section) {
  const { number, title } = section;
  return number && !title.startsWith(number) ? `${number} ${title}` : title;
}

export function placeOf(source) {
  return [sectionOf(source.section), pagesOf(source.pages, source.printed)].filter(Boolean).join(", ");
}

// Only web addresses become links: a document may state any address, javascript: too.
export function linkTo(uri, text) {
  if (!/^https?:\/\//i.test(uri)) return null;
  return el("a", { href: uri, target: "_blank", rel: "noopener noreferrer" }, text);
}
