# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a good GPU measures: a table by model, which a user's own numbers replace.

A value of the table was measured by somebody on a healthy card, never read from a datasheet; 80 % of it is
good enough, because drivers, clocks and cooling differ.
"""

from __future__ import annotations

import re
import typing as t

from .._core.errors import InputError
from .._pools.programs import FIGURES, is_figure
from .programs.program import Figure, Settings

GOOD: t.Final = 0.8
# Label nvidia.com/gpu.product with these ends is the same card: shared, or of MIG strategy single.
_ENDS: t.Final = re.compile(r"(-SHARED|-MIG-\d+g\.\d+gb.*)$")


class Measured(t.NamedTuple):
    """A figure of a good card. product: pattern of its label. value: in the figure's unit."""

    product: str
    program: str
    figure: str
    value: float
    source: str


class Expectation(t.NamedTuple):
    """The least good value of a figure (the greatest, if lower is better), and where it comes from."""

    value: float
    source: t.Literal["user", "table"]


_MAMF: t.Final = "best matmul measured, stas00/ml-engineering, 2026-08"
_DEEP: t.Final = "NVIDIA DeepLearningExamples, ResNet-50 v1.5 AMP on one GPU, 2023-04"
# Their least good values, which are 80 % of what they measure.
_CRUSOE: t.Final = "health check of Crusoe's autoclusters charts, 2026"
_A100_SXM, _A100_PCIE = r"NVIDIA-A100-SXM4-\d+GB", r"NVIDIA-A100-(80GB-)?PCIe.*|NVIDIA-A100-PCIE.*"
_H100_SXM, _H200 = r"NVIDIA-H100-80GB-HBM3", r"NVIDIA-H200"
_B200, _B300, _GB200 = r"NVIDIA-B200.*", r"NVIDIA-B300.*", r"NVIDIA-GB200.*"
TABLE: t.Final = (
    *(
        Measured(product, "matmul", name, value, _MAMF)
        for product, value in {
            _A100_SXM: 271.0,
            _A100_PCIE: 253.0,
            _H100_SXM: 794.5,
            _H200: 794.5,
            r"NVIDIA-GH200.*": 829.0,
            _B200: 1745.0,
            _B300: 1769.0,
            _GB200: 1822.0,
        }.items()
        for name in ("bf16", "fp16")
    ),
    *(
        Measured(product, "matmul", "fp8", value, _MAMF)
        for product, value in {
            _H100_SXM: 1403.0,
            _H200: 1453.0,
            _B200: 3433.0,
            _B300: 3353.0,
            _GB200: 3616.0,
        }.items()
    ),
    *(
        Measured(product, "nvbandwidth", "device_to_device", least / GOOD, _CRUSOE)
        for product, least in {_A100_SXM: 220.0, _H100_SXM: 316.0, _H200: 316.0, _GB200: 613.0}.items()
    ),
    Measured(_H100_SXM, "nvbandwidth", "host_to_device", 54.8, "measured on a node with H100 SXM5, 2026"),
    Measured(r"NVIDIA-A100-SXM4-80GB", "resnet50", "images", 2470.0, _DEEP),
    Measured(r"Tesla-V100-SXM2-16GB", "resnet50", "images", 1200.0, _DEEP),
    Measured(r"Tesla-V100-SXM\d-32GB.*", "resnet50", "images", 1156.0, _DEEP),
)


def check(own: t.Mapping[str, t.Any]) -> None:
    """Raise InputError for numbers of the user that are none, or that everything passes."""
    for product, programs in own.items():
        path = f"expectations[{product}]"
        for program, figures in (programs if isinstance(programs, dict) else {"": None}).items():
            path = f"expectations[{product}].{program}".rstrip(".")
            for figure, number in (figures if isinstance(figures, dict) else {"": None}).items():
                if figure not in FIGURES.get(program, ()) or not is_figure(number):
                    known = "; ".join(f"{name}: {', '.join(its)}" for name, its in FIGURES.items())
                    raise InputError(
                        "INPUT-VALUE",
                        f"{path}.{figure} is {number!r}.".replace(". is", " is"),
                        "Set gpu_validation_expectations (module option expectations) to product, program, "
                        f"figure and a number above 0. The figures of each program: {known}.",
                    )


def has_table(product: str, program: str) -> bool:
    """Return whether the table knows what the program measures on this card."""
    return any(_is_of(one, product, program) for one in TABLE)


def expected(
    figure: Figure,
    product: str,
    settings: Settings,
    own: t.Mapping[str, t.Mapping[str, t.Mapping[str, float]]],
) -> Expectation | None:
    """Return what the figure should be at least (at most, if lower is better); None if nobody says it.

    The pool's own number comes first, then the user's table, then ours. own: product -> program -> figure ->
    number. A MIG device has no entry in our table, which is of whole cards.
    """
    if figure.name in settings.expected:
        return Expectation(settings.expected[figure.name], "user")
    card = _ENDS.sub("", product)
    for name in (product, card):
        number = own.get(name, {}).get(settings.program, {}).get(figure.name)
        if number is not None:
            return Expectation(number, "user")
    if "-MIG-" in product or figure.device.startswith("MIG-"):
        return None
    for one in TABLE:
        if _is_of(one, card, settings.program) and one.figure == figure.name:
            return Expectation(round(one.value * GOOD, 1), "table")
    return Expectation(figure.least, "table") if figure.least else None


def _is_of(one: Measured, product: str, program: str) -> bool:
    return one.program == program and re.fullmatch(one.product, product) is not None
