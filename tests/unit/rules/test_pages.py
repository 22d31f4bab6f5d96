"""Pages name what exists: links and anchors resolve, and files that a page names are there."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.input import Field
from ansible_collections.accelerators.openshift.plugins.module_utils._pools import health
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.markets import MARKET
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.schema import POOL
from ansible_collections.accelerators.openshift.plugins.module_utils._tuning import schema as tuning

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
    """Return the anchors of a page: those of its headings, as GitHub makes them, and its own."""
    text = page.read_text()
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in re.findall(r"(?m)^#+ (.+)$", text))
    return {heading.replace(" ", "-") for heading in plain} | set(re.findall(r'<a id="([^"]+)"></a>', text))


def resolves(page: Path, link: str) -> bool:
    file, _hash, anchor = link.partition("#")
    target = (page.parent / file).resolve() if file else page
    return target.exists() and (not anchor or anchor in anchors(target))


def test_links_resolve() -> None:
    links = [(page, link) for page in PAGES for link in LINK.findall(page.read_text())]
    inside = [(page, link) for page, link in links if not re.match(r"[a-z]+:", link)]
    assert len(inside) > 100
    assert [(name(page), link) for page, link in inside if not resolves(page, link)] == []


@pytest.mark.parametrize("page", ["README.md", *sorted(map(name, ROOT.glob("roles/*/README.md")))])
def test_a_picture_of_a_page_that_galaxy_shows_has_the_address_of_the_repository(page: str) -> None:
    """Galaxy shows these pages without the files beside them."""
    repository = str(yaml.safe_load((ROOT / "galaxy.yml").read_text())["repository"])
    raw = f"{repository.replace('//github.com/', '//raw.githubusercontent.com/')}/main/"
    for picture in re.findall(r"!\[[^\]]*\]\(([^)\s]+)\)", (ROOT / page).read_text()):
        assert picture.startswith(raw)
        assert (ROOT / picture.removeprefix(raw)).is_file()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/internals.md"])
def test_files_that_a_page_names_exist(page: str) -> None:
    """`_platforms/NAME.py` and `_platforms/<name>.py` stand for any file there."""
    found = NAMED.findall((ROOT / page).read_text())
    assert len(found) > 20
    for one in found:
        pattern = re.sub(r"<\w+>|(?<![a-zA-Z])[A-Z]{3,}(?![a-z])", "*", one)
        places = [pattern] if "/" in pattern else [pattern, f"**/{pattern}"]
        assert any(any(home.glob(place.rstrip("/"))) for home in HOMES for place in places), one


# Keys with several forms, of which the schema leaves the longest one to another file.
LONG_FORMS: t.Final = {"market": MARKET.fields, "health": health.FIELDS, "tuning": tuning.FIELDS}


def keys_of(fields: t.Mapping[str, Field], start: str = "") -> t.Iterator[tuple[str, Field]]:
    """Yield path and field of each key, but for those that a candidate shares with its pool."""
    for key, field in fields.items():
        if start == "candidates[]." and field == POOL.get(key):
            continue
        yield start + key, field
        below = LONG_FORMS.get(key, {}) if field.kind == "any" else field.fields
        yield from keys_of(below, f"{start}{key}{'[]' if field.kind == 'list' else ''}.")


def type_of(field: Field) -> str:
    """Return what the page says about the type of a field."""
    if field.kind == "list":
        return "list of maps" if field.entry is None else f"list of {type_of(field.entry)}"
    if field.choices:
        return ", ".join(f"`{choice}`" for choice in field.choices)
    name = {"flag": "boolean", "labels": "map of texts", "counts": "map of integers"}.get(
        field.kind, field.kind
    )
    if field.low is None or field.kind == "quantities":
        return name
    return (
        f"{name}, {field.low} to {field.high}" if field.high is not None else f"{name}, at least {field.low}"
    )


def test_the_page_of_pools_has_each_key_with_its_type() -> None:
    table = re.findall(
        r"^\| `([^`]+)` \| ([^|]+) \| ([^|]+) \|", (ROOT / "docs/pools.md").read_text(), re.MULTILINE
    )
    schema = dict(keys_of(POOL))
    assert [key for key, _type, _default in table] == list(schema)
    assert [
        (key, kind, default)
        for key, kind, default in table
        if (schema[key].kind != "any" and kind != type_of(schema[key]))
        or (default == "required") != schema[key].required
    ] == []
