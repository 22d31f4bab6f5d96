"""Pages name what exists: links and anchors resolve, and files that a page names are there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGES = sorted(
    {
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("roles/*/README.md"),
        *ROOT.glob("examples/**/*.md"),
        *ROOT.glob("sandbox/*.md"),
        *ROOT.glob("tests/*.md"),
        *ROOT.glob("benchmarks/*.md"),
    }
)
LINK = re.compile(r"\]\(([^)\s]+)\)")
# A file or folder in backticks; capitals stand for a name that the reader chooses.
NAMED = re.compile(r"`([\w./<>-]+/[\w./<>-]*|[\w<>-]+\.(?:py|yml|md))`")
UTILS = ROOT / "plugins/module_utils"
HOMES = (
    ROOT,
    UTILS,
    ROOT / "sandbox",
    ROOT / "sandbox/openshift_sandbox",
    ROOT / "sandbox/openshift_sandbox/stand_ins",
)


def name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def resolves(page: Path, link: str) -> bool:
    file, _hash, anchor = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_links_resolve() -> None:
    links = [(page, link) for page in PAGES for link in LINK.findall(page.read_text())]
    inside = [(page, link) for page, link in links if not re.match(r"[a-z]+:", link)]
    assert len(inside) > 100
    assert [(name(page), link) for page, link in inside if not resolves(page, link)] == []


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/internals.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    """`_platforms/NAME.py` and `_platforms/<name>.py` stand for any file there."""
    found = NAMED.findall((ROOT / page).read_text())
    assert len(found) > 20
    for one in found:
        pattern = re.sub(r"<\w+>|(?<![a-zA-Z])[A-Z]{3,}(?![a-z])", "*", one)
        places = [pattern] if "/" in pattern else [pattern, f"**/{pattern}"]
        assert any(any(home.glob(place.rstrip("/"))) for home in HOMES for place in places), one
