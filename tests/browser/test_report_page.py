# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""report.html in Debian's chromium: it loads nothing, fits every screen, can be read, and is fast."""

from __future__ import annotations

import shutil
import typing as t
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright
from unit.report.runs import REMEDY, big

from ansible_collections.accelerators.openshift.plugins.plugin_utils import _report

CHROMIUM: t.Final = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="there is no chromium: run `apt-get install chromium` as root"
)
WIDTHS: t.Final = (360, 800, 1400)
Scheme = t.Literal["light", "dark"]
SCHEMES: t.Final[tuple[Scheme, ...]] = ("light", "dark")
# The formulas are those of WCAG 2.2 (1.4.3). Text that nobody sees has no contrast.
CONTRAST: t.Final = """() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((c) => c / 255)
    .map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
  const below = (element) => {
    for (let part = element; part; part = part.parentElement) {
      const found = parts(getComputedStyle(part).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found;
    }
    return [255, 255, 255];
  };
  const found = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || !element.checkVisibility() || element.closest(".said, option, script")) continue;
    const style = getComputedStyle(element);
    const [high, low] = [light(parts(style.color)), light(below(element))].sort((a, b) => b - a);
    const size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5;
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < needed) found.push(`${element.tagName}.${element.className} ${ratio.toFixed(2)}`);
  }
  return [...new Set(found)];
}"""


@pytest.fixture(scope="module")
def browser() -> t.Iterator[Browser]:
    with sync_playwright() as playwright:
        yield playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Return the page of a run on 12 nodes, and of one on 1,000."""
    folder = tmp_path_factory.mktemp("pages")
    for size in (12, 1000):
        (folder / f"{size}.html").write_text(_report.html(big(size)))
    return {size: folder / f"{size}.html" for size in (12, 1000)}


class Opened(t.NamedTuple):
    """A page, what its console said, and what it asked for."""

    page: Page
    console: list[str]
    requests: list[str]


def open_page(browser: Browser, file: Path, width: int, scheme: Scheme = "light") -> Opened:
    context = browser.new_context(
        viewport={"width": width, "height": 900},
        color_scheme=scheme,
        permissions=["clipboard-read", "clipboard-write"],
    )
    found = Opened(context.new_page(), [], [])
    found.page.on("console", lambda message: found.console.append(message.text))
    found.page.on("pageerror", lambda error: found.console.append(str(error)))
    found.page.on("request", lambda request: found.requests.append(request.url))
    found.page.goto(file.as_uri())
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_the_page_fits_and_loads_nothing(
    browser: Browser, files: dict[int, Path], width: int, scheme: Scheme
) -> None:
    page, console, requests = open_page(browser, files[12], width, scheme)
    sizes = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
    assert sizes == [width, width]
    # The empty icon of the page is in the page itself.
    assert [url for url in requests if url not in (files[12].as_uri(), "data:,")] == []
    assert page.evaluate(CONTRAST) == []
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(245, 246, 248)") == (scheme == "light")
    for name in ("Findings", "Pools and nodes", "Figures", "Quotas", "Plan", "Time line"):
        assert page.get_by_role("heading", name=name, exact=name != "Time line").is_visible()
    page.emulate_media(media="print")
    assert not page.locator(".tools").is_visible()
    assert console == []
    page.context.close()


def work(browser: Browser, file: Path) -> dict[str, float]:
    """Return what a browser counts of its work until a page is laid out."""
    context = browser.new_context(viewport={"width": 1400, "height": 900})
    page = context.new_page()
    session = context.new_cdp_session(page)
    session.send("Performance.enable")
    page.goto(file.as_uri())
    assert page.evaluate("document.body.offsetHeight") > 1000
    found = {metric["name"]: metric["value"] for metric in session.send("Performance.getMetrics")["metrics"]}
    context.close()
    return found


def test_a_thousand_nodes_are_laid_out_as_twelve_are(browser: Browser, files: dict[int, Path]) -> None:
    """A row costs its elements and nothing else: how long that takes depends on the machine."""
    few, many = work(browser, files[12]), work(browser, files[1000])
    # A browser lays a long page out a few times while it reads it.
    assert many["LayoutCount"] + many["RecalcStyleCount"] < 100, "a row is laid out by itself"
    assert many["JSEventListeners"] == few["JSEventListeners"], "a row has a listener of its own"
    assert (many["Nodes"] - few["Nodes"]) / 988 < 45, "a row has more elements and texts than it shows"


def rows(page: Page) -> list[str]:
    return page.locator(".nodes tbody tr:not(.pool) .node-name:visible").all_inner_texts()


def test_filters_and_sorts_by_the_keyboard(browser: Browser, files: dict[int, Path]) -> None:
    page, console, _requests = open_page(browser, files[12], 1400)
    assert len(rows(page)) == 12
    page.locator("#find").focus()
    page.keyboard.type("crashloop")
    assert (len(rows(page)), page.locator("#shown").inner_text()) == (1, "1 of 12 nodes shown")
    page.locator("#find").fill("")
    page.keyboard.press("Tab")
    page.keyboard.type("inf")
    assert len(rows(page)) == 3
    page.locator("#pool").select_option("")
    page.locator("#state").select_option("late")
    assert len(rows(page)) == 3
    page.locator("#state").select_option("all")
    page.locator("#sort").select_option("state")
    last = page.locator(".nodes tbody").last.locator("tr")
    assert last.nth(0).get_attribute("class") == "pool"
    states = [last.nth(at).get_attribute("data-state") for at in range(1, 7)]
    assert states == ["failed", "failed", "pending", "ready", "ready", "ready"]
    page.locator("#sort").select_option("figure")
    assert "62 %" in last.nth(1).inner_text()
    # What scrolls can be reached, and so scrolled, by the keyboard.
    assert page.locator(".scroll:not([tabindex='0'])").count() == 0
    assert console == []
    page.context.close()


def test_a_remedy_is_copied(browser: Browser, files: dict[int, Path]) -> None:
    page, console, _requests = open_page(browser, files[12], 360)
    button = page.get_by_role("button", name="Copy the remedy of GPU-DRV-CRASH")
    button.focus()
    page.keyboard.press("Enter")
    page.wait_for_function("document.activeElement.textContent === 'Copied'")
    assert page.evaluate("navigator.clipboard.readText()") == REMEDY
    assert console == []
    page.context.close()


def test_without_a_script_everything_can_be_read(browser: Browser, files: dict[int, Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(files[12].as_uri())
    assert page.locator(".nodes tbody tr:not(.pool)").count() == 12
    assert not page.locator(".tools").is_visible()
    assert not page.get_by_text("Copy", exact=True).first.is_visible()
    context.close()
