# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Registry of benchmarks: one file each, with its image, its script and the parser of its log."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass

from . import matmul, nvidia_smi, vectoradd

Result = dict[str, t.Any]


@dataclass(frozen=True)
class Benchmark:
    """One benchmark.

    image: the default one. script: what a shell in the container runs. parse: returns C(passed), C(uuids) and
    the benchmark's figures from a log. memory: request of one pod.
    """

    image: str
    script: str
    parse: t.Callable[[str], Result]
    memory: str


BENCHMARKS: t.Final = {
    "vectoradd": Benchmark(vectoradd.IMAGE, vectoradd.SCRIPT, vectoradd.parse, "512Mi"),
    "nvidia_smi": Benchmark(nvidia_smi.IMAGE, nvidia_smi.SCRIPT, nvidia_smi.parse, "512Mi"),
    "matmul": Benchmark(matmul.IMAGE, matmul.SCRIPT, matmul.parse, "8Gi"),
}
