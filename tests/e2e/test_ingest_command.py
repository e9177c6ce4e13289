"""`milepost ingest` and `milepost documents` as a document owner uses them."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote

import pytest
from neo4j import Driver

from app import settings
from tests.e2e.conftest import milepost

pytestmark = pytest.mark.neo4j


@pytest.fixture
def folder(tmp_path: Path, neo4j_driver: Driver) -> Path:
    """Two documents and a broken one, and an empty graph."""
    neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
    (tmp_path / "roads").mkdir()
    (tmp_path / "roads" / "paving.md").write_text("# Paving\n\nAsphalt is laid hot.\n", "utf-8")
    (tmp_path / "rails.txt").write_text("Rails are made of steel.\n", "utf-8")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    return tmp_path


def test_results_go_to_standard_output_and_the_report_to_its_file(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, cli_env: dict[str, str]
) -> None:
    report = tmp_path_factory.mktemp("reports") / "report.json"

    done = milepost("ingest", str(folder), "--report", str(report), "--json", env=cli_env)

    assert done.returncode == 0
    printed = json.loads(done.stdout)
    assert printed == json.loads(report.read_text("utf-8"))
    assert [file["status"] for file in printed["files"]] == ["refused", "read", "read"]
    assert printed["totals"]["chunks"] == 2


def test_a_refused_file_is_named_with_its_reason_and_fails_strict_runs(
    folder: Path, cli_env: dict[str, str]
) -> None:
    done = milepost("ingest", str(folder), "--strict", env=cli_env)

    assert done.returncode == 1
    assert "broken.pdf" in done.stdout
    assert "3 files: 2 read, 1 refused." in done.stdout


def test_a_folder_without_readable_files_fails_with_one_line(
    folder: Path, cli_env: dict[str, str]
) -> None:
    (folder / "roads" / "paving.md").unlink()
    (folder / "rails.txt").unlink()

    done = milepost("ingest", str(folder), "--quiet", env=cli_env)

    assert done.returncode == 2
    assert done.stderr.strip().splitlines() == [
        "milepost: No file could be read (1 refused): the reasons are in the report."
    ]


def test_documents_are_listed_shown_and_removed(folder: Path, cli_env: dict[str, str]) -> None:
    milepost("ingest", str(folder), env=cli_env)

    listed = json.loads(milepost("documents", "list", "--json", env=cli_env).stdout)
    first = next(document for document in listed if document["scope"] == "roads")
    shown = milepost("documents", "show", first["id"][:8], "--json", env=cli_env)
    kept = milepost("documents", "remove", str(folder / "roads"), env=cli_env)
    removed = milepost("documents", "remove", str(folder / "roads"), "--yes", "--json", env=cli_env)
    left = json.loads(milepost("documents", "list", "--json", env=cli_env).stdout)

    assert len(listed) == 2
    assert json.loads(shown.stdout) == first
    assert kept.returncode == 2
    assert "--yes" in kept.stderr
    assert json.loads(removed.stdout) == {"removed": 1, "ids": [first["id"]], "renamed": []}
    assert [document["title"] for document in left] == ["rails"]


def test_a_document_that_is_not_there_is_one_clear_line(
    folder: Path, cli_env: dict[str, str]
) -> None:
    milepost("ingest", str(folder), env=cli_env)

    done = milepost("documents", "remove", "nothing.pdf", "--yes", env=cli_env)

    assert done.returncode == 2
    assert "documents list" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_gone_files_are_named_and_pruned_on_demand(
    folder: Path, cli_env: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    (folder / "rails (2).txt").write_text("Rails are made of steel.\n", "utf-8")
    page = tmp_path_factory.mktemp("reports") / "report.html"
    milepost("ingest", str(folder), env=cli_env)
    (folder / "rails.txt").unlink()
    (folder / "roads" / "paving.md").unlink()

    named = milepost("ingest", str(folder), env=cli_env)
    pruned = milepost("ingest", str(folder), "--prune", "--report", str(page), env=cli_env)
    left = json.loads(milepost("documents", "list", "--json", env=cli_env).stdout)

    assert "2 documents are no longer in" in named.stdout
    assert "--prune removes them" in named.stdout
    assert "Removed 2 documents" in pruned.stdout
    assert [Path(unquote(document["uri"])).name for document in left] == ["rails (2).txt"]
    assert page.read_text("utf-8").startswith("<!DOCTYPE html>")


def test_a_name_is_removed_while_the_document_stays_under_another(
    folder: Path, cli_env: dict[str, str]
) -> None:
    (folder / "rails (2).txt").write_text("Rails are made of steel.\n", "utf-8")
    milepost("ingest", str(folder), env=cli_env)

    one = milepost("documents", "remove", str(folder / "rails.txt"), "--yes", env=cli_env)
    everything = milepost("documents", "remove", "/", env=cli_env)

    assert "Removed 0 documents." in one.stdout
    assert "stays as" in one.stdout
    assert everything.returncode == 2
    assert "ALL 2 documents" in everything.stderr


def test_the_list_fits_a_terminal_of_80_columns(folder: Path, cli_env: dict[str, str]) -> None:
    long = "A manual with a title that is much longer than any terminal is wide, or nearly so"
    (folder / "roads" / "paving.md").write_text(f"# {long}\n\nAsphalt is laid hot.\n", "utf-8")
    milepost("ingest", str(folder), env=cli_env)

    listed = milepost("documents", "list", env=cli_env | {"COLUMNS": "80"}).stdout.splitlines()

    assert max(map(len, listed)) <= 80
    assert len(listed) <= 5


def test_ctrl_c_ends_cleanly_and_the_same_command_goes_on(
    folder: Path, no_vectors: dict[str, str], neo4j_driver: Driver
) -> None:
    for n in range(300):
        text = f"# Document {n}\n\nDocument {n} has {'many words ' * 80}\n"
        (folder / "roads" / f"{n:03}.md").write_text(text, "utf-8")
    command = [str(Path(sys.executable).with_name("milepost")), "ingest", str(folder)]
    with subprocess.Popen(
        command,
        env=no_vectors,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listen_to_ctrl_c,  # one thread here
    ) as child:
        wait_until_it_embeds(neo4j_driver)
        child.send_signal(signal.SIGINT)
        _, said = child.communicate(timeout=120)

    assert child.returncode == 130
    assert "the same command goes on" in said
    assert "Traceback" not in said
    query = "MATCH (d:Document) WHERE NOT EXISTS { (d)-[:HAS_CHUNK]->() } RETURN count(d) AS bare"
    assert neo4j_driver.execute_query(query).records[0]["bare"] == 0


@pytest.fixture
def no_vectors(tmp_path_factory: pytest.TempPathFactory, cli_env: dict[str, str]) -> dict[str, str]:
    """An environment with the exported model and no vectors, so that embedding takes a while."""
    cache = tmp_path_factory.mktemp("cache")
    (cache / "models").symlink_to(settings.load().cache_dir / "models")
    return cli_env | {"MILEPOST_CACHE_DIR": str(cache)}


def listen_to_ctrl_c() -> None:
    """Undo that a shell lets commands in the background, and theirs, ignore Ctrl-C."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def wait_until_it_embeds(driver: Driver) -> None:
    deadline = time.monotonic() + 120
    while not driver.execute_query("MATCH (e:Embedder) RETURN e").records:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    time.sleep(1)


def test_watching_takes_in_a_file_that_is_added_until_ctrl_c(
    folder: Path, cli_env: dict[str, str]
) -> None:
    command = [str(Path(sys.executable).with_name("milepost")), "ingest", str(folder), "--watch"]
    watching = subprocess.Popen(
        command,
        env=cli_env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=listen_to_ctrl_c,  # one thread here
    )
    assert watching.stderr is not None
    try:
        for line in watching.stderr:
            if "Watching" in line:
                break
        time.sleep(1)  # the watch begins just after the message
        (folder / "bridges.md").write_text("# Bridges\n\nBridges carry roads.\n", "utf-8")
        deadline = time.monotonic() + 60
        while "bridges.md" not in milepost("documents", "list", "--json", env=cli_env).stdout:
            assert time.monotonic() < deadline
    finally:
        watching.send_signal(signal.SIGINT)
        watching.communicate(timeout=30)

    assert watching.returncode == 130


def test_asking_a_chat_model_needs_one(folder: Path, cli_env: dict[str, str]) -> None:
    done = milepost("ingest", str(folder), "--classify", env=cli_env)

    assert done.returncode == 2
    assert "--classify needs a chat model" in done.stderr


def test_a_document_is_shown_with_where_its_metadata_come_from(
    folder: Path, cli_env: dict[str, str]
) -> None:
    (folder / "roads" / "paving-2021.md").write_text("# Paving\n\nGravel is laid.\n", "utf-8")
    milepost("ingest", str(folder), env=cli_env)

    shown = milepost("documents", "show", str(folder / "roads" / "paving-2021.md"), env=cli_env)

    lines = [" ".join(line.split()) for line in shown.stdout.splitlines()]
    assert "year 2021 [file name (0.80)]" in lines
    assert "series roads/paving [file name, year (0.70)]" in lines
    assert "scope roads [folder (0.80)]" in lines
