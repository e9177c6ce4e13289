"""Which edition is current after each run, whatever the order of runs."""

from itertools import permutations
from pathlib import Path
from urllib.parse import unquote

import pytest

from graph.model import Filter
from tests.fakes import MemoryStore
from tests.ingesting import ReaderHere, run

POLICY = {
    "cert-policy_v1.9_20180101.md": "# Policy\n\nKeep records for one year.\n",
    "cert-policy_v1.10_20190101.md": "# Policy\n\nKeep records for two years.\n",
    "cert-policy.md": "---\nversion: 2.0\ndate: 2020-05-01\n---\n# Policy\n\nKeep them three.\n",
}
OTHER = {"cert-profile_v3.0_20240101.md": "# Profile\n\nFields of a certificate.\n"}


@pytest.fixture(autouse=True)
def read_in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ingestion.read_ahead.Reader", ReaderHere)


def current(store: MemoryStore) -> set[str]:
    found = store.list_documents(Filter(current_only=True))
    return {unquote(document.uri.rsplit("/", 1)[-1]) for document, _ in found}


def newest(names: set[str]) -> set[str]:
    """The newest of the policies that are there, and all else."""
    policies = [name for name in POLICY if name in names]
    return {*policies[-1:], *(names - POLICY.keys())}


@pytest.mark.parametrize("order", list(permutations([*POLICY, *OTHER])), ids=str)
def test_the_newest_edition_that_is_there_is_current_after_every_run(
    tmp_path: Path, order: tuple[str, ...]
) -> None:
    store = MemoryStore()
    for name in order:
        (tmp_path / name).write_text((POLICY | OTHER)[name], "utf-8")
        run(tmp_path, store=store)

        assert current(store) == newest({path.name for path in tmp_path.iterdir()})
    for name in order:
        (tmp_path / name).unlink()
        if any(tmp_path.iterdir()):  # an empty folder prunes nothing
            run(tmp_path, store=store, prune=True)

            assert current(store) == newest({path.name for path in tmp_path.iterdir()})


def test_metadata_with_their_sources_are_kept_and_reported(tmp_path: Path) -> None:
    store = MemoryStore()
    (tmp_path / "cert-policy.md").write_text(POLICY["cert-policy.md"], "utf-8")

    [outcome] = run(tmp_path, store=store).outcomes

    [item] = store.items.values()
    assert "year: front matter (0.95)" in item.document.metadata_sources
    assert "year 2020: front matter (0.95)" in outcome.metadata
    assert "series cert policy: file name of an edition (0.65)" in outcome.metadata
