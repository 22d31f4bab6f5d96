# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Versions that fit together: OpenShift, the GPU operator, the driver and the generation of GPU."""

from __future__ import annotations

import re
import typing as t

from .._catalogue import driver_branches, driver_modules, generations
from .._core.errors import InputError
from .._core.input import Field, Problems, read_map
from .._core.objects import KubeObject, name
from .support import AS_OF, SUPPORT, Release, release_of, write

PACKAGE: t.Final = "gpu-operator-certified"
EITHER: t.Final = "either"
CATALOGUE, USER = "catalogue", "user"


class Operator(t.NamedTuple):
    """What is known of a release of the GPU operator. branches: of the driver, the default one first."""

    first: Release
    last: Release
    branches: tuple[str, ...]
    as_of: str
    source: str = CATALOGUE


class Facts(t.NamedTuple):
    """Operators by release, and the newest driver of each branch."""

    operators: dict[Release, Operator]
    drivers: dict[str, str]


def gpu_operator(csvs: t.Iterable[KubeObject]) -> Release | None:
    """Return the newest release of the GPU operator among these CSVs, or None."""
    parts = [name(csv).partition(".") for csv in csvs]
    found = [release_of(version) for package, _dot, version in parts if package == PACKAGE]
    return max(filter(None, found), default=None)


def _release_fault(text: str) -> str:
    return "" if re.fullmatch(r"\d+\.\d+", text) else "is no release, such as 4.20"


def _branch_fault(text: str) -> str:
    return "" if re.fullmatch(r"\d{3}", text) else "is no branch of the driver, such as 580"


def _version_fault(text: str) -> str:
    return (
        "" if re.fullmatch(r"\d{3}(\.\d+){1,2}", text) else "is no version of the driver, such as 580.95.05"
    )


_RELEASE: t.Final = Field("text", required=True, fault=_release_fault)
OVERRIDES: t.Final[dict[str, Field]] = {
    "as_of": Field("text", required=True),
    "operators": Field(
        "list",
        fields={
            "release": _RELEASE,
            "first_openshift": _RELEASE,
            "last_openshift": _RELEASE,
            "branches": Field("list", required=True, entry=Field("text", fault=_branch_fault)),
        },
    ),
    "drivers": Field("list", entry=Field("text", fault=_version_fault)),
}


def built_in() -> Facts:
    """Return what the collection knows. Of an operator before the newest it knows the default branch only."""
    operators = {}
    for release, (first, last) in SUPPORT[PACKAGE].items():
        default = driver_modules.default_branch(release)
        others = driver_branches.NEWEST if release == driver_branches.OPERATOR else ()
        branches = (default, *(branch for branch in others if branch != default))
        operators[release] = Operator(first, last, branches, min(AS_OF, driver_branches.AS_OF))
    return Facts(operators, dict(driver_branches.NEWEST))


def extended(given: t.Any, path: str = "facts") -> Facts:
    """Return what the collection knows with the user's facts, which replace its own.

    Raises InputError with the path of every problem.
    """
    problems, facts = Problems(), built_in()
    found = read_map(given, OVERRIDES, path, problems)
    problems.raise_if_any()
    for version in found.get("drivers") or ():
        facts.drivers[version.partition(".")[0]] = version
    for one in found.get("operators") or ():
        release, first, last = (
            t.cast(Release, release_of(one[key])) for key in ("release", "first_openshift", "last_openshift")
        )
        facts.operators[release] = Operator(first, last, tuple(one["branches"]), found["as_of"], USER)
    return facts


def rows(facts: Facts, wanted: t.Mapping[str, t.Any]) -> list[dict[str, t.Any]]:
    """Return a row for each combination that fits, the newest first, and of one release the default driver.

    wanted: openshift, operator, driver, generation, gpu_model; None does not filter. Raises InputError.
    """
    openshift, operator = _release(wanted, "openshift"), _release(wanted, "operator")
    branch = _branch(wanted)
    model, generation = wanted.get("gpu_model") or "", wanted.get("generation") or ""
    if model and not (generation := _generation(model, generation)):
        return []
    found: list[dict[str, t.Any]] = []
    for release, one in sorted(facts.operators.items(), reverse=True):
        if operator not in (None, release):
            continue
        for minor in range(one.last[1], one.first[1] - 1, -1):
            runs = (one.first[0], minor)
            if openshift in (None, runs):
                found += _of_release(facts, release, runs, branch, (model, generation))
    return found


def _of_release(
    facts: Facts, release: Release, runs: Release, wanted: str, gpu: tuple[str, str]
) -> t.Iterator[dict[str, t.Any]]:
    operator, (model, only) = facts.operators[release], gpu
    for branch in operator.branches:
        for generation in reversed(generations.NAMES):
            models = (model,) if model else generations.models(generation)
            fits = not driver_modules.outgrown(branch, models) and not generations.too_new(branch, generation)
            if wanted in ("", branch) and only in ("", generation) and fits:
                yield {
                    "openshift": write(runs),
                    "operator": write(release),
                    "driver_branch": branch,
                    "driver_version": facts.drivers.get(branch, ""),
                    "is_default": branch == operator.branches[0],
                    "generation": generation,
                    "kernel_modules": modules(models),
                    "as_of": operator.as_of,
                    "source": operator.source,
                }


def modules(models: t.Iterable[str]) -> str:
    """Return the kind of kernel modules that all these GPUs need, or C(either) if some take both."""
    kinds = {driver_modules.only(model) or EITHER for model in models}
    return kinds.pop() if len(kinds) == 1 else EITHER


def _release(wanted: t.Mapping[str, t.Any], option: str) -> Release | None:
    if wanted.get(option) is None:
        return None
    found = release_of(str(wanted[option]))
    if not found:
        message = f"{option}: {wanted[option]} is no release."
        raise InputError("INPUT-VALUE", message, f'Write {option} with both numbers, in quotes: "4.20".')
    return found


def _branch(wanted: t.Mapping[str, t.Any]) -> str:
    if wanted.get("driver") is None:
        return ""
    if not (found := re.match(r"\d{3}(?=\.|$)", str(wanted["driver"]))):
        message = f"driver: {wanted['driver']} is no branch and no version of the driver."
        raise InputError("INPUT-VALUE", message, "Write driver like 580 or 580.95.05.")
    return found[0]


def _generation(model: str, wanted: str) -> str:
    """Return the generation of the model; empty if another one is wanted. Raise InputError if unknown."""
    found = generations.of(model)
    if not found:
        message = f"gpu_model: no generation of NVIDIA's GPUs has a model called {model}."
        remedy = f"Set generation to one of {', '.join(generations.NAMES)}, and leave gpu_model out."
        raise InputError("INPUT-VALUE", message, remedy)
    return found if wanted in ("", found) else ""
