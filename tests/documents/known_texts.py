"""Write docs/known-texts.md from the table of known texts and its corpus."""

from __future__ import annotations

import typing as t
from pathlib import Path

import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.known_texts import (
    PULLS,
    SIGNATURES,
    Signature,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.signatures import (
    recognise,
    spoken,
    with_text,
)

_ROOT: t.Final = Path(__file__).resolve().parents[2]
PAGE: t.Final = _ROOT / "docs/known-texts.md"
COMMAND: t.Final = "make docs"
_INTRO: t.Final = """\
# Known texts

<!-- Do not edit this page: change plugins/module_utils/_stack/known_texts.py, then run `make docs`. -->

```console
ansible-playbook accelerators.openshift.diagnose      # reads the logs, and quotes what it found
```

A failed task and `special_resource` in check mode read logs, events and conditions, and look for these texts.
A text that is found gives its [code](errors.md), its cause and its remedy, and is quoted with its pod. The
first row that fits counts, so rows that name a symptom come last. Where no row fits, the last line that looks
like an error before the program began to clean up is quoted.

Names such as {node} are filled in. A release is named where only some have the fault.
"""


def corpus(name: str) -> list[dict[str, t.Any]]:
    """Return the texts of a file of the corpus."""
    found: list[dict[str, t.Any]] = yaml.safe_load(
        (_ROOT / f"tests/unit/stack/corpus/{name}.yml").read_text()
    )
    return found


def table(text: t.Mapping[str, t.Any]) -> tuple[Signature, ...]:
    """Return the table that a text of the corpus is looked up in."""
    return PULLS if text.get("pull") else SIGNATURES


def page() -> str:
    """Return docs/known-texts.md as the table and its corpus describe it."""
    examples: dict[Signature, str] = {}
    for text in corpus("known"):
        if row := recognise(text["text"], table(text)):
            examples.setdefault(row, spoken(row, text["text"]))
    return "\n".join(
        (
            _INTRO,
            *_section("Logs, events, conditions and answers of webhooks", SIGNATURES, examples),
            *_section("Pulls of images", PULLS, examples),
        )
    )


def _section(title: str, rows: t.Iterable[Signature], examples: t.Mapping[Signature, str]) -> t.Iterator[str]:
    yield from (f"## {title}", "", _row("Text", "Where", "Code", "Cause", "Remedy", "Releases", "Source"))
    yield "|---|---|---|---|---|---|---|"
    for row in map(with_text, rows):
        text = f"`` {examples[row]} ``"
        source = f"[report]({row.source})"
        yield _row(
            text,
            ", ".join(row.where),
            f"[{row.code}](errors.md#{row.code.lower()})",
            row.meaning,
            row.remedy,
            row.releases,
            source,
        )
    yield ""


def _row(*cells: str) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page())
