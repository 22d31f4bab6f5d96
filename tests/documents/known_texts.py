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
first entry that fits counts, so those that name a symptom come last. Where none fits, the last line that
looks like an error before the program began to clean up is quoted.

Each entry has the text, where it stands and in which releases if only some have the fault, the cause, the
code, a report of somebody who had it, and the remedy. Names such as {node} are filled in.
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
    yield from (f"## {title}", "")
    for row in map(with_text, rows):
        place = ", ".join(filter(None, (*row.where, row.releases)))
        yield (
            f"- `` {examples[row]} `` ({place}): {row.meaning}. [{row.code}](errors.md#{row.code.lower()}), "
            f"[report]({row.source}). **Remedy:** {row.remedy}"
        )
    yield ""


if __name__ == "__main__":
    PAGE.write_text(page())
