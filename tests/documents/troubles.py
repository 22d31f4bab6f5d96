"""docs/troubles.md: what diagnose.yml says of each pain of troubles.yml, as a run on a sandbox saw it."""

from __future__ import annotations

import re
import shlex
import typing as t
from pathlib import Path

import yaml

Row = dict[str, t.Any]
_ROOT: t.Final = Path(__file__).resolve().parents[2]
PAGE: t.Final = _ROOT / "docs/troubles.md"
COMMAND: t.Final = "make troubles"
HEAD: t.Final = ("Pain", "Reports", "Staged by", "Code", "Layer", "Found", "Remedy")
_INTRO: t.Final = """\
# Troubles

<!-- Do not edit this page: change tests/documents/troubles.yml, then run `make troubles`. -->

```console
ansible-playbook accelerators.openshift.diagnose
```

Pains that people report, and what `ansible-playbook playbooks/diagnose.yml` says of each. A run on sandboxes
wrote this page: it staged each pain on a cluster with the pools `inference` (t4-0, t4-1) and `training`
(a100-0), looked for the first cause, and copied its remedy. Pods and machines have other names in each run.
[Error codes](errors.md) describes the codes, [Known texts](known-texts.md) the texts in logs and events.

`sandbox fault add` in the third column is a command of the [sandbox](../sandbox/README.md); the other steps
change objects.
"""


def rows() -> list[Row]:
    """Return the rows of troubles.yml."""
    found: list[Row] = yaml.safe_load((_ROOT / "tests/documents/troubles.yml").read_text())
    return found


def title(row: Row) -> str:
    return f"{row['pain']}. {row['what']}"


def how(row: Row) -> str:
    """Return how a row is staged, in words and commands."""
    return "; ".join(_step(step) for step in row.get("staged") or []) or row["no_stage"]


def _step(step: Row) -> str:
    kind, *_more = step
    if kind == "trouble":
        words = [f"{key}={value}" for key, value in step.items() if key != "trouble"]
        return f"`sandbox fault add {shlex.join([step[kind], *words])}`"
    if kind in ("apply", "merge", "status"):
        metadata = step[kind]["metadata"]
        place = "/".join(filter(None, (metadata.get("namespace"), metadata["name"])))
        return (
            f"{ {'apply': 'create', 'merge': 'change'}.get(kind, 'status of') } {step[kind]['kind']} {place}"
        )
    if kind == "machine_set":
        return f"a pool with a machine {step['instance_type']}"
    if kind == "restart":
        return f"delete pod {step[kind]}-*"
    return f"wait for {step[kind]} {step.get('labels') or step.get('quota') or step.get('pods')}"


def linked(code: str) -> str:
    return f"[{code}](errors.md#{code.lower()})"


def reports(row: Row) -> str:
    links = []
    for one in row["reports"]:
        repository, _hash, number = one.partition("#")
        links.append(
            f"[{repository.rpartition('/')[2]} {number}](https://github.com/{repository}/issues/{number})"
        )
    return ", ".join(links)


def read() -> dict[str, tuple[str, ...]]:
    """Return the cells of the page by the title of their row."""
    lines = PAGE.read_text().splitlines() if PAGE.exists() else []
    table = [line for line in lines if line.startswith("| ")][1:]
    cells = [re.split(r"(?<!\\) \| ", line.removeprefix("| ").removesuffix(" |")) for line in table]
    return {row[0]: tuple(row) for row in cells}


def record(row: Row, code: str, layer: str, remedy: str) -> None:
    """Write what a run found for a row; the remedy stays if only names of pods in it are new."""
    page, is_found = read(), (code, layer) == (row["code"], row["layer"])
    old = page.get(title(row), ("",) * len(HEAD))
    same = _nameless(old[-1]) == _nameless(_cell(remedy))
    found = (
        linked(code) if code else "none",
        layer or "none",
        "yes" if is_found else "**no**",
        old[-1] if same else _cell(remedy),
    )
    page[title(row)] = (title(row), reports(row), _cell(how(row)), *found)
    write(page)


def write(page: t.Mapping[str, t.Sequence[str]]) -> None:
    """Write the page: a row for each of the table; one that no run has seen is empty."""
    empty = ("", "", "", "")
    lines = []
    for row in sorted(rows(), key=lambda row: int(row["pain"])):
        place = (title(row), reports(row), _cell(how(row)))
        unseen = (
            (*place, *empty)
            if row.get("staged")
            else (*place, linked(row["code"]), row["layer"], "not staged", "")
        )
        lines.append(page.get(title(row), unseen) if row.get("staged") else unseen)
    body = [_line(HEAD), "|---" * len(HEAD) + "|", *map(_line, lines)]
    number, found = len(lines), sum(one[5] == "yes" for one in lines)
    staged = sum(bool(row.get("staged")) for row in rows())
    told = f"{found} of the {staged} that are staged are found; {number - staged} cannot be staged."
    PAGE.write_text("\n".join((_INTRO, told, "", *body, "")))


def _line(cells: t.Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(text: str) -> str:
    return text.replace("|", r"\|").replace("\n", " ")


def _nameless(text: str) -> str:
    """Return the text without the ends of names that a controller made up."""
    return re.sub(r"-[a-z0-9]{5}\b|\d{4}-\d\d-\d\dT[\d:]+Z", "-x", text)
