# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The text format in which Prometheus reads metrics."""

from __future__ import annotations

import typing as t

CONTENT_TYPE: t.Final = "text/plain; version=0.0.4; charset=utf-8"
_ESCAPED: t.Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Sample(t.NamedTuple):
    """One value of a metric."""

    metric: str
    labels: dict[str, str]
    value: float


def page(samples: t.Iterable[Sample]) -> str:
    """Return the samples as text. Those of one metric are together, as the format asks for."""
    by_metric: dict[str, list[str]] = {}
    for one in samples:
        inside = ",".join(f'{name}="{text.translate(_ESCAPED)}"' for name, text in one.labels.items())
        by_metric.setdefault(one.metric, []).append(f"{one.metric}{{{inside}}} {one.value!r}")
    return "".join(f"{line}\n" for lines in by_metric.values() for line in lines)
