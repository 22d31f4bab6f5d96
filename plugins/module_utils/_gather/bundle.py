# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files of a bundle before they are written: bounded, and without secrets whatever is added."""

from __future__ import annotations

import json
import re
import typing as t

from .._core.objects import KubeObject, event_time
from .redaction import Redactor

try:
    import yaml
except ImportError:  # Ansible itself always has it; the import test of ansible-test has not
    yaml = None  # type: ignore[assignment]

TOOL: t.Final = "accelerators.openshift.gpu_must_gather"
INDEX, SUMMARY = "index.json", "summary.txt"
_FILE: t.Final = 2 << 20
# What is kept for the summary and the index.
_OWN: t.Final = 1 << 18
_MOST_NOTES: t.Final = 500


class Bundle:
    """Files by name. room: bytes of all of them.

    cut, unread: what is not whole and what is missing, and why. not_served: what the cluster does not have.
    """

    def __init__(self, redact: Redactor, room: int) -> None:
        self.redact, self._room = redact, room - _OWN
        self.files: dict[str, bytes] = {}
        self.cut: list[str] = []
        self.unread: list[str] = []
        self.not_served: list[str] = []

    def add(self, file: str, lines: t.Iterable[str]) -> None:
        """Add a file of lines."""
        self._add(file, (self.redact.text(line) + "\n" for line in lines))

    def add_objects(self, file: str, objects: t.Iterable[KubeObject], events: t.Iterable[str] = ()) -> None:
        """Add a file of objects as YAML, with lines about their events below."""
        self._add(file, self._as_yaml(objects, events))

    def _as_yaml(self, objects: t.Iterable[KubeObject], events: t.Iterable[str]) -> t.Iterator[str]:
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        yield "apiVersion: v1\nkind: List\nitems:\n"
        for live in objects:
            yield yaml.dump(
                [self.redact(live)], Dumper=dumper, sort_keys=False, allow_unicode=True, width=1000
            )
        yield from (f"# {self.redact.text(line)}\n" for line in events)

    def _add(self, file: str, parts: t.Iterable[str]) -> None:
        file = re.sub(r"[^\w.-]|^\.+", "_", file)[:200]
        most, data = max(0, min(_FILE, self._room)), bytearray()
        for part in parts:
            data += part.encode("utf-8", "replace")
            if len(data) > most:
                self.cut.append(f"{file}: only its first {most} bytes are here")
                break
        self.files[file] = bytes(data[:most])
        self._room -= len(self.files[file])

    def end(self, lines: t.Iterable[str], now: str) -> list[str]:
        """Add the summary and the index. Return the summary."""
        summary = self._censored(lines)
        self.unread = self._censored(self.unread[:_MOST_NOTES])
        self.files[SUMMARY] = ("\n".join(summary) + "\n").encode("utf-8", "replace")[: _OWN // 2]
        sizes = {file: len(data) for file, data in sorted(self.files.items())}
        notes = {"cut": self._censored(self.cut[:_MOST_NOTES]), "unread": self.unread}
        found = {"tool": TOOL, "time": now, "files": sizes, **notes, "not_served": self.not_served}
        self.files = {INDEX: json.dumps(found, indent=1).encode(), **self.files}
        return summary

    def _censored(self, lines: t.Iterable[str]) -> list[str]:
        return [self.redact.text(line, is_ours=True) for line in lines]


def event_lines(events: t.Iterable[KubeObject]) -> t.Iterator[str]:
    """Yield a line for each event, the oldest first."""
    for event in sorted(events, key=event_time):
        about, count = event.get("involvedObject") or {}, event.get("count") or 1
        where = f"{about.get('kind')}/{about.get('name')}" + (f" ({count} times)" if count > 1 else "")
        text = " ".join(str(event.get("message") or "").split())
        yield f"{event_time(event)} {event.get('type')} {event.get('reason')} {where}: {text}"


def table(shown: KubeObject) -> list[str]:
    """Return the lines of a Table of the server, which are those of C(oc get -o wide)."""
    rows = [["NAMESPACE", *(str(column["name"]).upper() for column in shown["columnDefinitions"])]]
    for row in shown.get("rows") or ():
        namespace = ((row.get("object") or {}).get("metadata") or {}).get("namespace")
        rows.append([str(namespace or "-"), *map(str, row["cells"])])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
