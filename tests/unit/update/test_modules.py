# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Modules of KMM: is there an image for the new kernel?"""

from __future__ import annotations

import typing as t

import pytest
from unit.update.builders import NEW_KERNEL, OLD_KERNEL, target

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import Answer
from ansible_collections.accelerators.openshift.plugins.module_utils._update import drivers, modules

NOTHING: t.Final[drivers.Answers] = {}


def module(*mappings: KubeObject) -> KubeObject:
    return {
        "metadata": {"name": "nic", "namespace": "n"},
        "spec": {"moduleLoader": {"container": {"kernelMappings": list(mappings)}}},
    }


def validation(status: KubeObject, kernel: str = NEW_KERNEL) -> KubeObject:
    return {"metadata": {"name": "next"}, "spec": {"kernelVersion": kernel}, "status": status}


FAILED = {"name": "nic", "namespace": "n", "verificationStatus": "Failure", "statusReason": "image not found"}


ANY = {"regexp": "^5\\.14\\.0-.*$"}


MODULES = [
    (module(ANY), [], "", "unknown", "without the kernel"),
    (module(ANY), [], NEW_KERNEL, "unknown", "must be in its registry"),
    (
        module(ANY | {"build": {}}, {"literal": OLD_KERNEL, "build": {"dockerfileConfigMap": {}}}),
        [],
        OLD_KERNEL,
        "unknown",
        "must be in its registry",
    ),
    (
        module({"literal": NEW_KERNEL, "build": {"dockerfileConfigMap": {}}}),
        [],
        NEW_KERNEL,
        "unknown",
        "would be built in the cluster",
    ),
    (module({"literal": OLD_KERNEL}), [], NEW_KERNEL, "blocking", "no kernel mapping fits"),
    (module(ANY), [validation({"modules": [FAILED]})], NEW_KERNEL, "blocking", "failed: image not found"),
    (
        module(ANY),
        [validation({"modules": [FAILED | {"verificationStatus": "Success"}]})],
        NEW_KERNEL,
        "ok",
        "succeeded",
    ),
    (
        module(ANY),
        [validation({"modules": [FAILED]}, OLD_KERNEL)],
        NEW_KERNEL,
        "unknown",
        "which has not been tested",
    ),
    (
        module(ANY),
        [validation({"crStatuses": {"nic": {"verificationStatus": "True", "statusReason": ""}}})],
        NEW_KERNEL,
        "ok",
        "succeeded",
    ),
]


@pytest.mark.parametrize(("live", "validations", "kernel", "verdict", "text"), MODULES)
def test_modules_of_kmm(
    live: KubeObject, validations: list[KubeObject], kernel: str, verdict: str, text: str
) -> None:
    (check,) = modules.checks([live], validations, target(kernel), NOTHING)
    assert (check.name, check.verdict, text in check.message) == ("module n/nic", verdict, True)
    assert check.code == ("" if verdict == "ok" else "UPDATE-KMM")


@pytest.mark.parametrize(
    ("mapping", "found", "verdict", "text"),
    [
        (ANY, "there", "ok", "its image r.io/nic:1 is there"),
        (ANY, "missing", "blocking", "there is no image r.io/nic:1 (words)"),
        (ANY, "not allowed", "unknown", "has not been tested (not allowed: words)"),
        (ANY | {"build": {"dockerfileConfigMap": {}}}, "missing", "unknown", "would be built in the cluster"),
        (ANY | {"build": {"dockerfileConfigMap": {}}}, "there", "ok", "its image r.io/nic:1 is there"),
    ],
)
def test_images_of_modules(mapping: KubeObject, found: str, verdict: str, text: str) -> None:
    known = {"r.io/nic:1": Answer("r.io/nic:1", found, words="words")}
    (check,) = modules.checks(
        [module(mapping | {"containerImage": "r.io/nic:1"})], [], target(NEW_KERNEL), known
    )
    assert (check.verdict, text in check.message) == (verdict, True)
