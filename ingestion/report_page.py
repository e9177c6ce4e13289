"""The report of a run as one HTML page that needs nothing else: no network, no other file."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape

from graph.model import FileOutcome, IngestRun
from ingestion.gone import shown

_COLUMNS = (
    "Status", "File", "What a person should know", "Pages", "Sections", "Chunks", "Seconds",
    "Metadata", "Read by",
)  # fmt: skip
_NUMBERS = ("Pages", "Sections", "Chunks", "Seconds")
_TROUBLE = ("refused", "gone")

_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem;
  padding: 0 1rem; }
dl { display: flex; flex-wrap: wrap; gap: .6rem 2rem; }
dt { font-size: .8rem; opacity: .7; }
dd { font-size: 1.4rem; margin: 0; }
table { border-collapse: collapse; width: 100%; }
th, td { border-bottom: 1px solid #8884; padding: .3rem .6rem .3rem 0; text-align: left;
  vertical-align: top; }
td ul { margin: 0; padding: 0; list-style: none; font-size: .8rem; min-width: 18rem; }
td { overflow-wrap: anywhere; }
th button { all: unset; cursor: pointer; font-weight: 600; white-space: nowrap; }
th button:focus-visible { outline: 2px solid; }
th[aria-sort=ascending] button::after { content: " \\2191"; }
th[aria-sort=descending] button::after { content: " \\2193"; }
.number { text-align: right; white-space: nowrap; }
.refused td:first-child, .gone td:first-child { color: #c62828; font-weight: 600; }
"""

_SCRIPT = """
for (const button of document.querySelectorAll("th button")) {
  button.addEventListener("click", () => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const down = head.getAttribute("aria-sort") === "ascending";
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const value = row => row.cells[head.cellIndex].dataset.value;
    const number = head.classList.contains("number");
    const order = (a, b) => number ? value(a) - value(b) : value(a).localeCompare(value(b));
    const rows = [...body.rows].sort((a, b) => down ? order(b, a) : order(a, b));
    body.append(...rows);
  });
}
"""


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over a run; chunks, sections and pages are of the documents that were written."""

    files: int
    """Files that were found; those that are gone are not among them."""
    read: int
    replaced: int
    same: int
    """Files whose bytes the graph has under another name."""
    unchanged: int
    refused: int
    gone: int
    """Documents, or names of them, whose file is no longer there."""
    removed: int
    """Such that were taken out of the graph."""
    near_copies: int
    pages: int
    pages_without_text: int
    sections: int
    chunks: int


def number_ranges(numbers: Sequence[int]) -> str:
    """Write ascending numbers shortly: 1, 2, 3, 7 as "1-3, 7"."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1][1] = number
        else:
            ranges.append([number, number])
    return ", ".join(f"{a}-{b}" if a != b else f"{a}" for a, b in ranges)


def page(run: IngestRun, found: Totals, outcomes: Sequence[FileOutcome]) -> str:
    """Return the page: totals, then a table of all files that can be sorted by each column.

    Args:
        run: The run.
        found: Its totals.
        outcomes: Its outcomes, in the order in which they are shown at first.
    """
    counts = "".join(
        f"<div><dt>{_words(name)}</dt><dd>{value:,}</dd></div>"
        for name, value in asdict(found).items()
    )
    heads = "".join(
        f'<th{_kind(name)} scope="col"><button type="button">{name}</button></th>'
        for name in _COLUMNS
    )
    rows = "\n".join(_row(outcome) for outcome in outcomes)
    folders = ", ".join(escape(_clean(folder)) for folder in run.folders)
    notes = "".join(f"<p>{escape(_clean(note))}</p>" for note in run.notes)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>Ingestion of {escape(run.started_at)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>Ingestion into {escape(run.collection)}</h1>
<p>{escape(run.started_at)} to {escape(run.finished_at)}. {folders}</p>
{notes}<dl>{counts}</dl>
<table>
<thead><tr>{heads}</tr></thead>
<tbody>
{rows}
</tbody>
</table>
<script>{_SCRIPT}</script>
</body>
</html>
"""


def remarks(outcome: FileOutcome) -> list[str]:
    """Return what a person should know of a file, in words."""
    found: list[str] = []
    if outcome.pages_without_text:
        several = "s" if len(outcome.pages_without_text) > 1 else ""
        found.append(f"no text on page{several} {number_ranges(outcome.pages_without_text)}")
    if outcome.reason:
        found.append(outcome.reason)
    if outcome.same_as and outcome.status in ("same", "unchanged"):
        found.append(f"same as {shown(outcome.same_as)}")
    if outcome.near_copy_of:
        share = f"{outcome.similarity or 0:.0%}"
        found.append(f"near copy of {shown(outcome.near_copy_of)} ({share} in common)")
    return found


def _row(outcome: FileOutcome) -> str:
    said = "; ".join(remarks(outcome)) + (f" ({outcome.code})" if outcome.code else "")
    cells = (
        ("Status", outcome.status, outcome.status),
        ("File", shown(outcome.uri), shown(outcome.uri)),
        ("", said, said),
        ("Pages", outcome.pages or 0, "" if outcome.pages is None else f"{outcome.pages:,}"),
        ("Sections", outcome.sections, f"{outcome.sections:,}"),
        ("Chunks", outcome.chunks, f"{outcome.chunks:,}"),
        ("Seconds", outcome.seconds, f"{outcome.seconds:.1f}"),
    )
    shown_cells = "".join(
        f'<td{_kind(name)} data-value="{escape(_clean(str(value)))}">{escape(_clean(text))}</td>'
        for name, value, text in cells
    )
    lines = "".join(f"<li>{escape(_clean(line))}</li>" for line in outcome.metadata)
    engine = escape(outcome.engine)
    shown_cells += f'<td data-value="">{f"<ul>{lines}</ul>" if lines else ""}</td>'
    shown_cells += f'<td data-value="{engine}">{engine}</td>'
    trouble = f' class="{outcome.status}"' if outcome.status in _TROUBLE else ""
    return f"<tr{trouble}>{shown_cells}</tr>"


def _kind(name: str) -> str:
    return ' class="number"' if name in _NUMBERS else ""


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _clean(text: str) -> str:
    """Return text that any file can hold: names may have bytes that are no UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode()
