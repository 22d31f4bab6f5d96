# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs that validate a pool, as users write them: names, options of each, and their limits."""

from __future__ import annotations

import re
import typing as t

from .._core import references
from .._core.input import Field, Problems, read, read_map
from .._core.objects import number_of

JsonObject = dict[str, t.Any]

OWN: t.Final = "own"
RDMA: t.Final = "rdma"
# Programs that need options of the user, so `benchmark` cannot name them.
WITH_OPTIONS: t.Final = (OWN, RDMA)
TYPES: t.Final = ("fp32", "tf32", "bf16", "fp16", "fp8")
# Starts of the catalogue's models whose GPUs cannot multiply in a type: before Ampere, and before Ada.
_BEFORE_AMPERE: t.Final = ("V100", "P100", "P4", "M60", "T4")
_LACKING: t.Final = {
    "tf32": _BEFORE_AMPERE,
    "bf16": _BEFORE_AMPERE,
    "fp8": (*_BEFORE_AMPERE, "A100", "A10", "A16", "A2", "A30", "A40"),
}


def _image_fault(text: str) -> str:
    """Return why the text names no image that stays the same."""
    if fault := references.reference_fault(text):
        return fault
    is_open = "@" not in text and ":" not in text.rpartition("/")[2]
    return "has no tag and no digest, so nobody knows which image it is" if is_open else ""


_IMAGE: t.Final = {"image": Field("text", fault=_image_fault)}
_JUDGED: t.Final = {**_IMAGE, "expected": Field("any"), "tolerance": Field("any")}
_SECONDS: t.Final = {"seconds": Field("integer", low=1, high=3600)}
# Program -> its options. The order is that in which they run: the cheapest proof first.
PROGRAMS: t.Final[dict[str, dict[str, Field]]] = {
    "nvidia_smi": _IMAGE,
    "vectoradd": _IMAGE,
    "compute_domain": _IMAGE,
    "matmul": {**_JUDGED, **_SECONDS, "types": Field("list", entry=Field("text", choices=TYPES))},
    "dcgm": {**_IMAGE, "level": Field("integer", low=1, high=4)},
    "nvbandwidth": _JUDGED,
    RDMA: {
        **_JUDGED,
        "network": Field("text", required=True),
        "nodes": Field("integer", low=2, high=2),
        "gpu_memory": Field("flag"),
    },
    "nccl": {**_JUDGED, "nodes": Field("integer", low=1, high=1000), "network": Field("text")},
    "resnet50": {**_JUDGED, "variant": Field("text", choices=("current", "2019"))},
    "gpu_burn": {**_IMAGE, **_SECONDS},
    "trtexec": {**_JUDGED, **_SECONDS},
    "vllm": {**_JUDGED, "model": Field("text")},
    OWN: {
        "name": Field("text"),
        "image": Field("text", required=True, fault=_image_fault),
        "script": Field("text", required=True),
        "figure": Field("text", required=True),
        "unit": Field("text"),
        "better": Field("text", choices=("higher", "lower")),
        **_SECONDS,
        "expected": Field("any", required=True),
        "tolerance": Field("any"),
    },
}
# Program -> the figures that it measures.
FIGURES: t.Final[dict[str, tuple[str, ...]]] = {
    "matmul": TYPES,
    "nvbandwidth": ("host_to_device", "device_to_host", "device_to_device"),
    RDMA: ("host", "gpu"),
    "nccl": ("all_reduce", "loopback"),
    "resnet50": ("images",),
    "gpu_burn": ("burn", "heat"),
    "trtexec": ("throughput", "latency", "latency_p99"),
    "vllm": ("output_tokens", "total_tokens", "ttft", "tpot"),
    OWN: ("figure",),
}
_NAME: t.Final = Field("text", required=True, choices=tuple(PROGRAMS))


def read_programs(value: t.Any, path: str, problems: Problems) -> list[JsonObject]:
    """Return the programs of a list, each as a mapping with C(program), and {} for one that is not valid.

    An entry is the name of a program, or a mapping with its options. Each keeps its place, for other checks.
    """
    if not isinstance(value, list) or not value:
        problems.add("POOL-TYPE", path, form=f"a list of programs ({', '.join(PROGRAMS)})", value=repr(value))
        return []
    entries = [_read(entry, f"{path}[{index}]", problems) for index, entry in enumerate(value)]
    for index, entry in enumerate(entries):
        if entry and entry["program"] != OWN and entry in entries[:index]:
            problems.add("POOL-DUPLICATE", path, name=entry["program"])
    return entries


def in_order(programs: t.Iterable[JsonObject]) -> list[JsonObject]:
    """Return the valid programs in the order in which they run."""
    order = list(PROGRAMS)
    return sorted(filter(None, programs), key=lambda entry: order.index(entry["program"]))


def _read(entry: t.Any, path: str, problems: Problems) -> JsonObject:
    given = entry if isinstance(entry, t.Mapping) else {"program": entry}
    where = f"{path}.program" if isinstance(entry, t.Mapping) else path
    name = read(given.get("program", ""), _NAME, where, problems)
    if name is None:
        return {}
    options = {key: value for key, value in given.items() if key != "program"}
    found = {"program": name, **read_map(options, PROGRAMS[name], path, problems)}
    if "expected" in found:
        found["expected"] = _numbers(found["expected"], name, f"{path}.expected", problems)
    if "tolerance" in found:
        found["tolerance"] = tolerance(found["tolerance"], f"{path}.tolerance", problems)
    if name == RDMA:
        found["nodes"] = 2
    if name == OWN and "figure" in found:
        _check_figure(found["figure"], f"{path}.figure", problems)
    return found


def _numbers(value: t.Any, program: str, path: str, problems: Problems) -> dict[str, float]:
    """Return figure -> number. One number alone is for the only figure of a user's own program."""
    given = value if isinstance(value, t.Mapping) else {"figure": value}
    if program != OWN and not isinstance(value, t.Mapping):
        problems.add("POOL-TYPE", path, form="a mapping of figures and numbers", value=repr(value))
        return {}
    found = {}
    for key, number in given.items():
        where = f"{path}.{key}" if isinstance(value, t.Mapping) else path
        if key not in FIGURES[program]:
            message = f"{program} measures no figure {key}."
            problems.add("POOL-VALUE", where, message, f"Its figures: {', '.join(FIGURES[program])}.")
        elif not is_figure(number):
            message = f"{number!r} is no number above 0: everything would pass."
            problems.add("POOL-VALUE", where, message, "Give what a good GPU measures at least.")
        else:
            found[str(key)] = float(number)
    return found


def is_figure(number: t.Any) -> bool:
    """Return True for a number with which a figure can be compared."""
    is_number = isinstance(number, int | float) and not isinstance(number, bool)
    return is_number and 0 < number < 1e300


def tolerance(value: t.Any, path: str, problems: Problems) -> float:
    """Return a share above 0 and below 1."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 1:
        return float(value)
    problems.add(
        "POOL-VALUE", path, f"{value!r} is no share between 0 and 1.", "Give a share: 0.1 is 10 percent."
    )
    return 0.1


def _check_figure(text: str, path: str, problems: Problems) -> None:
    if text.startswith("$."):
        return
    try:
        groups = re.compile(text).groups
    except re.error as exc:
        problems.add("POOL-VALUE", path, f"is no regular expression: {exc}.", "Correct it.")
        return
    if groups != 1:
        problems.add(
            "POOL-VALUE",
            path,
            f"has {groups} groups, and the figure is what one group matches.",
            r"Write one group, such as `throughput: ([0-9.]+)`, or a JSON path such as `$.throughput`.",
        )


def read_pool(pool: JsonObject, path: str, problems: Problems) -> None:
    """Replace the programs and the tolerance in C(validate) of a pool by checked ones."""
    validate, where = pool.get("validate") or {}, f"{path}.validate"
    if "tolerance" in validate:
        validate["tolerance"] = tolerance(validate["tolerance"], f"{where}.tolerance", problems)
    if "programs" not in validate:
        if (name := validate.get("benchmark")) in WITH_OPTIONS:
            message, remedy = f"{name} needs options.", f"Set {where}.programs instead."
            problems.add("POOL-VALUE", f"{where}.benchmark", message, remedy)
        return
    for key in ("benchmark", "image"):
        if key in validate:
            remedy = f"Move it into an entry of `{where}.programs`."
            problems.add("POOL-CONFLICT", f"{where}.{key}", remedy=remedy, other="programs")
    validate["programs"] = read_programs(validate["programs"], f"{where}.programs", problems)


def check_pool(pool: JsonObject, path: str, problems: Problems) -> None:
    """Add what does not fit the pool: types that its GPUs lack, more nodes than it can have, a gate."""
    _check_gate(pool, f"{path}.validate.gate", problems)
    models = sorted({one.gpu_model for one in pool["resolved"]})
    most = None if "existing" in pool else pool.get("replicas", (pool.get("autoscale") or {}).get("max"))
    where = f"{path}.validate.programs"
    for index, entry in enumerate((pool.get("validate") or {}).get("programs") or []):
        lacking = [
            f"{name} ({model})"
            for name in entry.get("types") or ()
            for model in models
            if any(re.match(rf"{start}(?![0-9])", model) for start in _LACKING.get(name, ()))
        ]
        if lacking:
            problems.add(
                "POOL-VALUE",
                f"{where}[{index}].types",
                f"the GPUs of the pool do not have {', '.join(lacking)}.",
                "Remove the type; fp16 and fp32 work on every GPU.",
            )
        if most is not None and entry.get("nodes", 0) > max(most, 1):
            limit = f"the {number_of(most, 'node')} of the pool"
            problems.add(
                "POOL-TOO-MANY", f"{where}[{index}].nodes", value=entry["nodes"], limit=limit, most=most
            )


def _check_gate(pool: JsonObject, where: str, problems: Problems) -> None:
    """Refuse a gate for nodes that come without a startup taint, and for devices that nothing validates."""
    if not (pool.get("validate") or {}).get("gate"):
        return
    strangers = sorted({one.vendor for one in pool["resolved"]} - {"nvidia"})
    if "existing" in pool:
        other = "existing: only machines that the collection makes come with a startup taint"
        remedy = "Remove it. With `validate.on_failure: taint` a node that fails takes no new pods."
        problems.add("POOL-CONFLICT", where, remedy=remedy, other=other)
    elif strangers:
        other = f"devices of {', '.join(strangers)}, which nothing validates"
        problems.add("POOL-CONFLICT", where, remedy="Remove it.", other=other)
