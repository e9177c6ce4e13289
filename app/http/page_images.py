"""Pictures of pages, drawn in a process of their own and kept for a while."""

from collections import OrderedDict
from threading import Lock

from anyio import CapacityLimiter

from app.http.errors import Refusal
from graph.errors import UnreadableFile
from graph.model import Document, Passage
from ingestion.identity import uri_path
from ingestion.page_image import PageImage
from ingestion.parsed import ReadLimits
from ingestion.read import Reader

LIMITS = ReadLimits(seconds=20, memory_bytes=1024**3)
KEPT_BYTES = 64_000_000

_AGAIN = "Ingest it again (`milepost ingest`) to see its pages; its text is still here."


class PageImages:
    """Draws pages of documents, one after the other. Safe to use from several threads."""

    def __init__(self, limits: ReadLimits = LIMITS, kept_bytes: int = KEPT_BYTES) -> None:
        """Set it up; no process is started yet.

        Args:
            limits: What one page may cost.
            kept_bytes: Of pictures that are kept in memory.
        """
        self.line = CapacityLimiter(1)
        """Of requests that wait for a page to be drawn."""
        self._limits = limits
        self._kept_bytes = kept_bytes
        self._kept: OrderedDict[tuple[str, int, str], PageImage] = OrderedDict()
        self._size = 0
        self._lock = Lock()
        self._reader = Reader(limits)

    def kept(self, document: Document, page: int, passage: Passage) -> PageImage | None:
        """Return a picture that was drawn before, or None."""
        key = (document.sha256, page, passage.chunk_id)
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def draw(self, document: Document, page: int, passage: Passage) -> PageImage:
        """Draw a page of the file that was ingested, with the passage marked.

        Raises:
            Refusal: 404 where the file is gone or has no such page, 409 where it has changed,
                422 where it cannot be drawn.
        """
        found = self.kept(document, page, passage)
        if found is None:
            try:
                found = self._draw(document, page, passage)
            except UnreadableFile as error:
                raise _refusal(error, document) from error
            self._keep((document.sha256, page, passage.chunk_id), found)
        return found

    def close(self) -> None:
        """End the process that draws."""
        self._reader.close()

    def _draw(self, document: Document, page: int, passage: Passage) -> PageImage:
        problem = UnreadableFile("not_found", "its address is no file's")
        # Copies have the same bytes, and one of them may still be there.
        for path in filter(None, map(uri_path, (document.uri, *document.copies))):
            try:
                return self._reader.draw(path, page, sha256=document.sha256, passage=passage.text)
            except UnreadableFile as error:
                if error.status not in ("not_found", "permission", "changed"):
                    raise
                problem = error
        raise problem

    def _keep(self, key: tuple[str, int, str], picture: PageImage) -> None:
        with self._lock:
            self._kept[key] = picture
            self._size += len(picture.png)
            while self._size > self._kept_bytes:
                _, dropped = self._kept.popitem(last=False)
                self._size -= len(dropped.png)


def has_pages(document: Document) -> bool:
    """Tell whether pages of the document can be drawn, unless its file is gone or changed."""
    return document.media_type == "application/pdf" and uri_path(document.uri) is not None


def _refusal(error: UnreadableFile, document: Document) -> Refusal:
    title = document.title
    if error.status in ("not_found", "permission"):
        return Refusal(
            404, "file_gone", f"The file of {title!r} can no longer be read: {error}. {_AGAIN}"
        )
    if error.status == "changed":
        return Refusal(
            409, "file_changed", f"The file of {title!r} has changed since then. {_AGAIN}"
        )
    if error.status == "no_page":
        return Refusal(404, "no_such_page", f"{title!r} has no such page: {error}.")
    return Refusal(
        422,
        "not_drawn",
        f"The page cannot be shown as a picture: {error}. GET /sources/ID has its text.",
    )
