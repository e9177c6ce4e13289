"""`milepost crawl`: a site into a folder that `milepost ingest` reads."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli import options

if TYPE_CHECKING:
    from ingestion.crawl import CrawlRun
    from ingestion.crawl_folder import Page

Url = Annotated[str, typer.Argument(help="Where to begin, such as https://example.gov/policies/.")]
Out = Annotated[
    Path, typer.Option("--out", "-o", help="Folder for the files: new, or of an earlier crawl.")
]
Depth = Annotated[int, typer.Option("--depth", help="Links to follow from the start.", min=0)]
MostPages = Annotated[int, typer.Option("--max-pages", help="Most addresses to ask for.", min=1)]
Delay = Annotated[float, typer.Option("--delay", help="Seconds between two fetches.", min=0)]
Megabytes = Annotated[int, typer.Option("--max-mb", help="A larger file is not kept.", min=1)]
Seconds = Annotated[float, typer.Option("--timeout", help="Seconds for one address.", min=1)]
Private = Annotated[
    bool, typer.Option("--allow-private", help="Fetch from private networks and this machine, too.")
]
RemoveGone = Annotated[
    bool, typer.Option("--remove-gone", help="Remove the files of pages that are gone or moved.")
]
Strict = Annotated[bool, typer.Option("--strict", help="Exit with 1 if an address failed.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def crawl(
    url: Url,
    out: Out,
    depth: Depth = 5,
    max_pages: MostPages = 500,
    delay: Delay = 1.0,
    max_mb: Megabytes = 50,
    timeout: Seconds = 60.0,
    allow_private: Private = False,
    remove_gone: RemoveGone = False,
    strict: Strict = False,
    json: options.Json = False,
    quiet: Quiet = False,
) -> None:
    """Fetch the documents of one site into a folder that ingest reads.

    Example: milepost crawl https://example.gov/policies/ --out policies

    Only this host is fetched, as its robots.txt allows. Run again, it fetches what has changed;
    crawl.json in the folder says which file is from where, and which pages are gone.
    """
    from app.cli.output import print_json
    from ingestion import crawl as crawler
    from ingestion.crawl_fetch import FetchLimits

    limits = FetchLimits(seconds=timeout, bytes=max_mb * 1_000_000, allow_private=allow_private)
    chosen = crawler.CrawlOptions(
        limits, delay=delay, depth=depth, pages=max_pages, remove_gone=remove_gone
    )
    run = crawler.crawl(url, out, chosen, _tell_nothing if quiet else _tell)
    if json:
        print_json(_as_dict(run))
    else:
        for line in summary(run):
            typer.echo(line)
    if strict and any(page.status == "failed" for page in run.pages):
        raise typer.Exit(1)


def summary(run: "CrawlRun") -> list[str]:
    """Return what a crawl did, in words; the troubles first."""
    from collections import Counter

    from app.cli.ingest_report import counted

    lines = [
        f"{page.status} {page.url}: {page.reason}"
        for page in run.pages
        if page.status in ("failed", "gone")
    ]
    counts = Counter(page.status for page in run.pages)
    named = ", ".join(f"{number:,} {status}" for status, number in sorted(counts.items()))
    lines.append(f"{counted(len(run.pages), 'address', 'addresses')}: {named}.")
    if not run.complete:
        lines.append("More addresses were found than --max-pages lets be fetched.")
    lines.append(f"The files are in {run.folder}: milepost ingest {run.folder}")
    return lines


def _tell(page: "Page") -> None:
    reason = f" ({page.reason})" if page.reason else ""
    typer.echo(f"{page.status:<9} {page.url}{reason}", err=True)


def _tell_nothing(page: "Page") -> None:
    pass


def _as_dict(run: "CrawlRun") -> dict[str, object]:
    from collections import Counter
    from dataclasses import asdict

    return {
        "start": run.start,
        "folder": run.folder,
        "complete": run.complete,
        "totals": dict(Counter(page.status for page in run.pages)),
        "pages": [asdict(page) for page in run.pages],
    }
