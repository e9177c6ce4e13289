"""The web page in Chromium, on a real server and a real graph.

`SHOTS` in the environment names a folder for pictures of the page, to be looked at.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver
from playwright.sync_api import Browser, Page, Route, expect, sync_playwright

from tests.e2e.conftest import ROOT, milepost
from tests.e2e.test_http import Server

pytestmark = [
    pytest.mark.neo4j,
    pytest.mark.skipif(
        shutil.which("chromium") is None, reason="no chromium here: apt-get install chromium"
    ),
]

DAYS = "Within how many days of identity verification must a certificate be issued?"
BADGES = "Which colour have visitor badges at the gatehouse?"
EVIL = (
    "Visitor badges at the gatehouse are blue <img src=x onerror=\"document.title='owned'\"> and "
    "[signed](javascript:document.title='owned') <script>document.title='owned'</script>."
)
SHOTS = os.environ.get("SHOTS")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few of the samples, and a document that would like to be a page."""
    docs = tmp_path_factory.mktemp("web") / "docs"
    samples = ROOT / "samples"
    shutil.copytree(samples / "digital-identity", docs / "digital-identity")
    (docs / "certificate-policy").mkdir()
    for name in ("fpki-x509-cert-policy-common.pdf", "fpki-x509-cert-policy-common-131.pdf"):
        shutil.copy(samples / "certificate-policy" / name, docs / "certificate-policy")
    shutil.copy(samples / "scopes.yaml", docs)
    (docs / "gatehouse").mkdir()
    (docs / "gatehouse" / "<b onclick=alert(1)>.txt").write_text(f"{EVIL}\n")
    return docs


@pytest.fixture(scope="module")
def env(
    neo4j_driver: Driver,
    cli_env: dict[str, str],
    folder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, str]:
    neo4j_driver.execute_query("MATCH (n) DETACH DELETE n")
    done = milepost("ingest", str(folder), env=cli_env)
    assert done.returncode == 0, done.stderr
    return cli_env | {"MILEPOST_DATA_DIR": str(tmp_path_factory.mktemp("data"))}


@pytest.fixture(scope="module")
def server(env: dict[str, str]) -> Iterator[Server]:
    running = Server(env)
    yield running
    running.end()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox"] if os.geteuid() == 0 else [],
        )
        yield launched
        launched.close()


@contextmanager
def opened(
    browser: Browser, url: str, *, width: int = 1280, height: int = 800, **context: Any
) -> Iterator[Page]:
    """A page that fails the test when a script fails or a request leaves the host."""
    made = browser.new_context(viewport={"width": width, "height": height}, **context)
    page = made.new_page()
    origin = url.partition("/?")[0]
    asked: list[str] = []
    failed: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("pageerror", lambda error: failed.append(str(error)))
    page.on(
        "console",
        lambda said: failed.append(said.text) if "Content Security" in said.text else None,
    )
    page.set_default_timeout(20_000)
    page.goto(url)
    expect(page.locator("#holdings")).not_to_be_empty()
    yield page
    made.close()
    assert [one for one in asked if not one.startswith((origin, f"blob:{origin}"))] == []
    assert failed == []


@pytest.fixture
def page(browser: Browser, server: Server) -> Iterator[Page]:
    with opened(browser, server.url) as found:
        yield found


def ask(page: Page, question: str = DAYS) -> None:
    page.fill("#question", question)
    page.keyboard.press("Enter")
    expect(page.locator(".turn").last.locator(".how")).to_be_visible()


def open_source(page: Page) -> None:
    page.locator(".answer .cite").first.click()
    expect(page.locator("#source-body img, #source-body mark")).to_be_visible()


def shot(page: Page, name: str) -> None:
    if SHOTS:
        page.wait_for_timeout(300)
        page.screenshot(path=Path(SHOTS) / f"{name}.png")


def yellow(page: Page) -> list[int]:
    """Return the first and the last row of the page's picture that hold the marking colour."""
    return page.locator("#source-body img").evaluate(
        """(image) => {
          const canvas = document.createElement("canvas");
          [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
          const context = canvas.getContext("2d");
          context.drawImage(image, 0, 0);
          const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
          const rows = [];
          for (let at = 0; at < data.length; at += 4)
            if (data[at] === 255 && data[at + 1] === 230 && data[at + 2] === 120)
              rows.push(Math.floor(at / 4 / canvas.width));
          return [canvas.width, rows[0] ?? -1, rows.at(-1) ?? -1];
        }"""
    )


def test_an_answer_is_streamed_and_cites_its_page(page: Page) -> None:
    shot(page, "empty")
    ask(page)

    answer = page.locator(".answer")
    expect(answer).to_contain_text("within 90 days of identity verification")
    expect(answer).to_have_attribute("aria-busy", "false")
    expect(page.locator(".card")).to_contain_text("p. 44")
    expect(page.locator(".checks")).to_contain_text("each has its source")
    expect(page.locator("#status")).to_have_text("The answer is complete.")
    shot(page, "answer")


def test_it_shows_which_scopes_were_searched_and_how_long_each_stage_took(page: Page) -> None:
    ask(page)
    page.locator(".how summary").click()

    how = page.locator(".how-parts")
    expect(how).to_contain_text("Searched (guided): everything, by")
    expect(how.locator("table").first).to_contain_text("certificate-policy")
    expect(how.locator("table.stages tr")).not_to_have_count(0)
    for row in how.locator("table.stages tr").all():
        assert row.locator(".fill").bounding_box()["width"] > 0  # type: ignore[index]
        expect(row.locator(".value")).to_contain_text("s")
    assert how.locator(".found li").count() >= 5
    shot(page, "how")


def test_a_citation_opens_the_page_that_says_so_with_the_passage_marked(page: Page) -> None:
    ask(page)
    open_source(page)

    expect(page.locator("#page-number")).to_have_text("44 of 124")
    expect(page.locator("#source-title")).to_contain_text("version 2.8")
    width, first, last = yellow(page)
    assert width == 1200
    assert 1200 < first < last < 1320
    assert page.locator("#source-body").evaluate("(body) => body.scrollTop") > 0
    shot(page, "source")

    page.click("#page-on")
    expect(page.locator("#page-number")).to_have_text("45 of 124")
    expect(page.locator("#source-body img")).to_have_attribute("data-marks", "0")
    page.click("#show-text")
    expect(page.locator("#source-body mark")).to_contain_text("within 90 days")
    page.click("#show-page")
    expect(page.locator("#source-body img")).to_be_visible()


def test_a_text_source_is_shown_in_its_section(page: Page) -> None:
    ask(page, "How long must a memorized secret chosen by the subscriber be?")
    open_source(page)

    mark = page.locator("#source-body mark")
    expect(mark).to_be_visible()
    assert mark.evaluate("(m) => getComputedStyle(m).backgroundColor") == "rgb(255, 230, 120)"
    expect(page.locator("#source .tools")).to_be_hidden()
    shot(page, "text")


def test_everything_works_with_the_keyboard_alone(page: Page) -> None:
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type(DAYS)
    page.keyboard.press("Enter")
    expect(page.locator(".how")).to_be_visible()
    for _ in range(30):
        page.keyboard.press("Shift+Tab")
        if page.evaluate("document.activeElement.classList.contains('cite')"):
            break
    cite = page.locator(".answer .cite").first
    expect(cite).to_be_focused()
    assert cite.evaluate("(c) => getComputedStyle(c).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#source-body img")).to_be_visible()
    expect(page.locator("#source")).to_be_focused()
    page.keyboard.press("Tab")
    expect(page.locator("#source-close")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#page-number")).to_have_text("45 of 124")
    page.keyboard.press("Escape")
    expect(page.locator("#source")).to_be_hidden()
    expect(cite).to_be_focused()
    page.keyboard.press("/")
    expect(page.locator("#question")).to_be_focused()
    page.keyboard.type("a/b")
    expect(page.locator("#question")).to_have_value("a/b")


def test_the_first_tab_reaches_a_link_past_the_head(page: Page) -> None:
    page.goto(page.url + "#compare")
    page.reload()
    page.keyboard.press("Tab")

    skip = page.locator(".skip")
    expect(skip).to_be_focused()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("#series")).to_be_focused()


def test_on_a_phone_the_source_covers_the_page(browser: Browser, server: Server) -> None:
    with opened(browser, server.url, width=390, height=844, has_touch=True) as page:
        ask(page)
        shot(page, "phone")
        page.locator(".answer .cite").first.tap()
        expect(page.locator("#source-body img")).to_be_visible()

        box = page.locator("#source").bounding_box()
        assert box == {"x": 0, "y": 0, "width": 390, "height": 844}
        expect(page.get_by_role("dialog")).to_be_visible()
        assert page.locator(".talk").evaluate("(talk) => talk.inert")
        shot(page, "phone-source")
        page.locator("#source-close").tap()
        expect(page.locator("#source")).to_be_hidden()
        assert not page.locator(".talk").evaluate("(talk) => talk.inert")
        page.goto(f"{server.url}/#compare")
        expect(page.locator("#series option")).not_to_have_count(0)
        page.click("#compare")
        expect(page.locator(".pair").first).to_be_visible()
        shot(page, "phone-compare")
        for view in ("#ask", "#compare"):
            page.goto(f"{server.url}/{view}")
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, view


def test_dark_follows_the_system_and_text_stays_readable(browser: Browser, server: Server) -> None:
    for scheme in ("light", "dark"):
        with opened(browser, server.url, color_scheme=scheme) as page:
            ask(page)
            open_source(page)
            shot(page, scheme)
            for selector in (".answer", ".checks", ".cite", "#source-place", "#ask", ".help"):
                assert contrast(page, selector) >= 4.5, (scheme, selector)


def contrast(page: Page, selector: str) -> float:
    """Return the ratio of WCAG 2.2, 1.4.3, of an element's text to what is behind it."""
    return page.locator(selector).first.evaluate(
        """(element) => {
          const parse = (text) => text.match(/[\\d.]+/g).map(Number);
          let behind = element;
          while (behind && (parse(getComputedStyle(behind).backgroundColor)[3] ?? 1) === 0)
            behind = behind.parentElement;
          const light = (text) => parse(text).slice(0, 3)
            .map((part) => part / 255)
            .map((part) => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
            .reduce((sum, part, at) => sum + part * [0.2126, 0.7152, 0.0722][at], 0);
          const pair = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor];
          const [high, low] = pair.map(light).sort((a, b) => b - a);
          return (high + 0.05) / (low + 0.05);
        }"""
    )


def test_two_editions_are_compared_with_their_figures_marked(page: Page) -> None:
    page.click("#to-compare")
    expect(page.locator("#series")).to_have_value("Common Policy")
    page.fill("#section", "4.2")
    page.click("#compare")

    expect(page.locator("#compare-status")).to_contain_text("Common Policy, 1.31 to 2.8: of ")
    figure = page.locator("table.figures tbody tr").first
    expect(figure.locator("del").first).to_have_text("30 days")
    expect(figure.locator("ins").first).to_have_text("90 days")
    expect(figure).to_contain_text("4.2.3, p. 45 → 4.2.3, p. 44")
    expect(page.locator(".pair del .amount").first).to_have_text("30")
    expect(page.locator(".pair ins .amount").first).to_have_text("90")
    assert "  " not in page.locator(".pair").first.inner_text()
    shot(page, "compare")


def test_what_cannot_be_compared_or_did_not_change_is_said(page: Page) -> None:
    page.click("#to-compare")
    page.select_option("#series", "SP 800-63B")
    expect(page.locator("#older")).to_have_value("3")
    expect(page.locator("#newer")).to_have_value("4 draft")
    page.fill("#section", "A.2")
    page.click("#compare")
    expect(page.locator("#sections")).to_have_text("Nothing changed here between the two editions.")
    page.fill("#section", "99.9")
    page.click("#compare")
    expect(page.locator("#compare-status")).to_contain_text("has a section '99.9'")
    page.fill("#section", "")
    page.select_option("#older", "4 draft")
    page.click("#compare")
    expect(page.locator("#compare-status")).to_contain_text("Name two editions")


def test_a_question_can_be_narrowed_to_a_scope(page: Page) -> None:
    page.locator(".narrow summary").click()
    page.select_option("#scope", "digital-identity")
    ask(page)

    page.locator(".how summary").click()
    expect(page.locator(".how-parts")).to_contain_text("Passages came from digital-identity")
    expect(page.locator("#narrowed")).to_have_text(": digital-identity")


def test_the_reader_chooses_the_machine_and_sees_which_need_a_chat_model(page: Page) -> None:
    page.locator(".narrow summary").click()
    expect(page.locator("#machine option[value=masdr]")).to_be_disabled()
    expect(page.locator("#machine option[value=masdr]")).to_contain_text("needs a chat model")
    page.locator("#machine").focus()
    page.keyboard.type("single")  # as with the keyboard alone
    expect(page.locator("#machine-help")).to_contain_text("a search in every scope")
    with page.expect_request("**/ask") as asked:
        ask(page)

    assert asked.value.post_data_json["machine"] == "single_call"
    expect(page.locator("#narrowed")).to_have_text(": single_call")


def test_what_documents_say_never_becomes_html(page: Page) -> None:
    ask(page, BADGES)

    expect(page.locator(".answer")).to_contain_text("img src=x onerror=")
    open_source(page)
    expect(page.locator("#source-body")).to_contain_text("<img src=x onerror=")
    expect(page.locator("#source-body")).to_contain_text("[signed](javascript:")
    expect(page.locator("#source-body")).to_contain_text("<script>")
    page.locator(".how summary").click()
    assert page.title() == "Milepost"
    assert page.locator("main img, main script, main b, main [onclick]").count() == 0
    assert page.locator("a[href^='javascript']").count() == 0


def test_what_a_model_says_never_becomes_html(page: Page) -> None:
    evil = "<img src=x onerror=\"document.title='owned'\"> <script>document.title='owned'</script>"
    stream(
        page,
        {"type": "route", "system": evil, "route": [], "understood": [evil]},
        {"type": "hits", "hits": []},
        {"type": "token", "text": f"{evil} **{evil}** [Source 1] [not in the source: {evil}]"},
        {"type": "error", "error": {"message": evil}},
    )
    page.fill("#question", evil)
    page.keyboard.press("Enter")

    expect(page.locator(".error")).to_contain_text("<img src=x")
    assert page.title() == "Milepost"
    assert page.locator("main img, main script").count() == 0


def stream(page: Page, *events: dict[str, Any]) -> None:
    """Let the server answer with these events."""
    body = "".join(f"event: {e['type']}\ndata: {json.dumps(e)}\n\n" for e in events)

    def answer(route: Route) -> None:
        route.fulfill(status=200, content_type="text/event-stream", body=body)

    page.route("**/ask", answer)


def test_that_the_documents_do_not_say_is_said(page: Page) -> None:
    ask(page, "Which planet has the most moons?")

    expect(page.locator(".answer")).to_have_class("answer unsupported")
    expect(page.locator(".checks")).to_have_text("No passage supports an answer.")


@pytest.mark.parametrize(
    ("status", "code", "message"),
    [
        (429, "rate_limited", "Too many requests. Try again in 7 s."),
        (503, "graph_unavailable", "The graph database does not answer."),
        (502, "model_failed", "The model failed."),
    ],
)
def test_errors_are_shown_in_words(page: Page, status: int, code: str, message: str) -> None:
    error = {"error": {"message": message, "code": code, "type": "server_error"}}
    page.route("**/ask", lambda route: route.fulfill(status=status, json=error))
    page.fill("#question", DAYS)
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_have_text(message)
    expect(page.locator("#ask")).to_be_visible()


def test_a_server_that_is_away_or_breaks_off_is_named(page: Page) -> None:
    page.route("**/ask", lambda route: route.abort())
    page.fill("#question", DAYS)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The server does not answer.")

    page.unroute("**/ask")
    stream(page, {"type": "token", "text": "Half a sen"})
    page.fill("#question", DAYS)
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").last).to_contain_text("The answer broke off")
    expect(page.locator(".answer").last).to_contain_text("Half a sen")


def test_a_proxys_own_error_page_is_not_shown(page: Page) -> None:
    page.route("**/ask", lambda route: route.fulfill(status=502, body="<h1>Bad Gateway</h1>"))
    page.fill("#question", DAYS)
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_have_text("The server answered with an error (502).")


def test_a_page_whose_file_has_changed_is_shown_as_text(page: Page, folder: Path) -> None:
    file = folder / "certificate-policy" / "fpki-x509-cert-policy-common.pdf"
    before = file.read_bytes()
    file.write_bytes(before + b"\n% changed")
    try:
        ask(page)
        page.locator(".found button").nth(2).evaluate("(button) => button.click()")
        expect(page.locator("#source-note")).to_contain_text("has changed since then")
        expect(page.locator("#source-body mark")).to_be_visible()
    finally:
        file.write_bytes(before)


def test_a_long_answer_can_be_stopped(page: Page) -> None:
    page.route("**/ask", lambda route: None)  # never answers
    page.fill("#question", DAYS)
    page.keyboard.press("Enter")
    page.click("#stop")

    expect(page.locator(".answer")).to_contain_text("Stopped.")
    expect(page.locator("#question")).to_be_focused()


@pytest.mark.parametrize("width", [1280, 390])
def test_threads_are_listed_continued_opened_and_removed(
    browser: Browser, server: Server, width: int
) -> None:
    with opened(browser, server.url, width=width) as page:

        def show_threads() -> None:
            if width < 900:
                page.click("#threads-open")

        ask(page)
        ask(page, "And in version 1.31?")
        expect(page.locator(".turn q")).to_contain_text("identity verification")
        page.reload()
        show_threads()
        thread = page.locator(".thread").first
        expect(thread).to_have_text(DAYS)
        expect(page.locator(".remove").first).to_be_in_viewport(ratio=1)
        shot(page, f"threads-{width}")
        thread.click()
        expect(page.locator(".turn h2")).to_have_text([DAYS, "And in version 1.31?"])
        expect(page.locator(".answer").first).to_contain_text("within 90 days")
        open_source(page)
        expect(page.locator("#page-number")).to_have_text("44 of 124")
        page.keyboard.press("Escape")
        ask(page, "And in version 2.8?")
        show_threads()
        expect(page.locator(".thread[aria-current]")).to_have_text(DAYS)
        kept = page.locator(".thread").count()
        page.locator(".remove").first.click()
        expect(page.locator(".thread")).to_have_count(kept - 1)
        expect(page.locator(".turn")).to_have_count(0)


def test_a_thread_that_was_not_begun_is_not_continued(page: Page) -> None:
    page.route("**/ask", lambda route: route.abort())
    page.fill("#question", "Lost?")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    page.unroute("**/ask")
    ask(page)

    expect(page.locator(".answer").last).to_contain_text("within 90 days")


def test_a_server_that_keeps_no_threads_shows_none(page: Page) -> None:
    page.route("**/threads", lambda route: route.fulfill(status=404, json={"error": {}}))
    page.reload()
    ask(page)

    expect(page.locator("#threads")).to_be_hidden()
    expect(page.locator("#threads-open")).to_be_hidden()


def test_a_server_with_keys_asks_for_one_and_forgets_it_with_the_tab(
    browser: Browser, env: dict[str, str], tmp_path: Path
) -> None:
    env = env | {"MILEPOST_DATA_DIR": str(tmp_path)}
    added = milepost("keys", "add", "reader", "--json", env=env)
    key = json.loads(added.stdout)["key"]
    server = Server(env)
    try:
        with opened_without_holdings(browser, server.url) as page:
            dialog = page.get_by_role("dialog", name="This server needs a key")
            expect(dialog).to_be_visible()
            expect(page.locator("#key")).to_be_focused()
            shot(page, "key")
            page.keyboard.type("wrong")
            page.keyboard.press("Enter")
            expect(page.locator("#key-why")).to_contain_text("The key is unknown")
            page.keyboard.type(key)
            page.keyboard.press("Enter")
            expect(page.locator("#holdings")).to_contain_text("documents in")
            ask(page)
            open_source(page)
            assert yellow(page)[1] > 0
            assert page.evaluate("localStorage.length") == 0
            assert page.evaluate("sessionStorage.getItem('milepost-key')") == key
            assert key not in page.content()
    finally:
        server.end()


@contextmanager
def opened_without_holdings(browser: Browser, url: str) -> Iterator[Page]:
    made = browser.new_context(viewport={"width": 1280, "height": 800})
    page = made.new_page()
    page.set_default_timeout(20_000)
    page.goto(url)
    yield page
    made.close()


def test_in_an_empty_collection_it_says_how_to_add_documents(
    browser: Browser, server: Server
) -> None:
    with opened(browser, f"{server.url}/?collection=none") as page:
        expect(page.locator("#holdings")).to_contain_text("milepost ingest")
        page.fill("#question", DAYS)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_contain_text("holds no document")
