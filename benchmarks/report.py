# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The numbers of each part, and the tables of README.md that are made from them."""

from __future__ import annotations

import datetime
import importlib.metadata
import json
import os
import platform
import re
import typing as t
from pathlib import Path

from measure import Report, Row

Data = dict[str, t.Any]

HERE: t.Final = Path(__file__).resolve().parent
RESULTS: t.Final = HERE.parent / ".build/bench.json"
README: t.Final = HERE / "README.md"
MARK: t.Final = "<!-- {} of the tables -->"
PACKAGES: t.Final = ("ansible-core", "kubernetes", "openshift", "urllib3")


def save(part: str, rounds: int, report: Report, load: tuple[float, float]) -> None:
    """The part's rows take the place of those of its last run."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {"parts": {}, "rows": []}
    results["machine"] = machine()
    results["parts"][part] = {
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "rounds": rounds,
        "load": [round(one, 1) for one in load],
    }
    rows = [row for row in results["rows"] if row["part"] != part] + [
        {"part": part, **row.data()} for row in report.rows
    ]
    results["rows"] = sorted(rows, key=lambda row: int(row["metric"]))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    README.write_text(shown(README.read_text(), results))


def shown(text: str, results: Data) -> str:
    """The text with tables of these results in the place of those that it has."""
    start, end = MARK.format("start"), MARK.format("end")
    tables = "\n".join((start, "", *_tables(results), end))
    return re.sub(f"{start}.*{end}", lambda _match: tables, text, flags=re.DOTALL)


def machine() -> Data:
    model = re.search(r"^model name\s*:\s*(.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    memory = re.search(r"^MemTotal:\s*(\d+)", Path("/proc/meminfo").read_text(), re.MULTILINE)
    ansible = importlib.metadata.distribution("ansible")
    collection = Path(str(ansible.locate_file("ansible_collections/kubernetes/core/MANIFEST.json")))
    versions = {name: importlib.metadata.version(name) for name in PACKAGES}
    versions["kubernetes.core"] = json.loads(collection.read_text())["collection_info"]["version"]
    return {
        "cpus": os.cpu_count(),
        "cpu": model.group(1) if model else platform.machine(),
        "memory_gib": round(int(memory.group(1)) / 2**20) if memory else 0,
        "python": platform.python_version(),
        "versions": versions,
    }


def line(row: Row) -> str:
    """For the terminal."""
    return f"{row.metric:>2}  {_verdict(row.data())}  {row.name}: {_value(row.data())}, target {row.target}"


def _tables(results: Data) -> list[str]:
    return [*_about(results), *_claims(results["rows"])]


def _about(results: Data) -> list[str]:
    about = results["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in about["versions"].items())
    dates = "; ".join(
        f"{part} {one['date']} ({one['rounds']} rounds, load {' to '.join(map(str, one['load']))})"
        for part, one in results["parts"].items()
    )
    return [
        f"Machine: {about['cpus']} x {about['cpu']}, {about['memory_gib']} GiB, "
        f"Python {about['python']}; {versions}.",
        f"Measured: {dates}.",
        "",
        "Medians; p99 is the 99th percentile by nearest rank: with fewer than 100 runs the largest.",
        "",
    ]


def _claims(rows: list[Data]) -> list[str]:
    """Return the table of all rows, and below it their notes."""
    lines = []
    for row in rows:
        ours = _number(row["ours"], row["unit"])
        against = "; ".join(
            f"{name} {_number(numbers, row['unit'])}" for name, numbers in row["peers"].items()
        )
        lines.append(
            f"| {row['metric']} | {row['name']} | {ours} | {against} | {row['target']} "
            f"| {_value(row)}: {_verdict(row)} |"
        )
    notes = [f"- {row['metric']}, {row['name']}: {row['note']}." for row in rows if row["note"]]
    return [
        "| # | what | ours | against | target | result |",
        "|---|---|---|---|---|---|",
        *lines,
        "",
        *notes,
        "",
    ]


def _verdict(row: Data) -> str:
    if row["met"] is None:
        return "for information"
    return "met" if row["met"] else "**missed**"


def _value(row: Data) -> str:
    if row["ratio"] is None:
        return _number(row["ours"], row["unit"])
    if row["ratio"] < 0:
        return "nothing above the base"
    return (
        f"ratio {row['ratio']:.3g}"
        if row["ratio"] >= 0.1 or not row["ratio"]
        else f"1/{1 / row['ratio']:.3g}"
    )


def _number(numbers: Data, unit: str) -> str:
    if not unit.startswith("s"):
        return f"{numbers['median']:g}{'' if unit in ('requests', 'processes') else f' {unit}'}"
    return f"{_time(numbers['median'])} (p99 {_time(numbers['p99'])})"


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if abs(seconds) >= 1 else f"{seconds * 1000:.3g} ms"
