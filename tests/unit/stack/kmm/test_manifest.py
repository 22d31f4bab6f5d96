# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Manifest of a KMM Module: options to the object, and options that cannot work."""

from __future__ import annotations

import pytest
from unit.stack.kmm.builders import IMAGE, POOL, params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    manifest as kmm_manifest,
)


def test_a_module_is_built_with_what_was_given_and_nothing_else() -> None:
    taints = [{"key": "example.com/card", "effect": "NoSchedule"}]
    sign = {"key_secret": "k", "cert_secret": "c", "files_to_sign": ["/opt/a.ko"]}
    build = {"dockerfile": "FROM x", "build_args": {"A": 1}, "secrets": ["s"]}
    more = {
        "version": "2",
        "build": build,
        "sign": sign,
        "device_plugin": {"image": "i", "args": ["-v"]},
        "in_tree_modules_to_remove": ["old"],
    }
    spec = kmm_manifest.build(
        params(
            kmm=more,
            pools=[POOL | {"taints": taints}],
            spec={"moduleLoader": {"container": {"imagePullPolicy": "Always"}}},
        )
    )["spec"]
    assert spec["selector"] == {"pool": "cards"}
    assert spec["tolerations"] == [{"key": "example.com/card", "operator": "Exists", "effect": "NoSchedule"}]
    assert spec["devicePlugin"] == {"container": {"image": "i", "args": ["-v"]}}
    assert spec["moduleLoader"]["container"] == {
        "version": "2",
        "imagePullPolicy": "Always",
        "inTreeModulesToRemove": ["old"],
        "modprobe": {"moduleName": "card"},
        "build": {
            "dockerfileConfigMap": {"name": "card-dockerfile"},
            "buildArgs": [{"name": "A", "value": "1"}],
            "secrets": [{"name": "s"}],
        },
        "sign": {"keySecret": {"name": "k"}, "certSecret": {"name": "c"}, "filesToSign": ["/opt/a.ko"]},
        "kernelMappings": [{"regexp": r"^5\.14\.", "containerImage": IMAGE}],
    }


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": ""}, "name is missing"),
        ({"kmm": {"kernel_mappings": []}}, "kmm.kernel_mappings is missing"),
        ({"kmm": {"module_name": None}}, "kmm.module_name is missing"),
        (
            {"kmm": {"kernel_mappings": [{"regexp": "a", "literal": "b", "container_image": "i"}]}},
            r"kmm.kernel_mappings\[0\] needs either",
        ),
        (
            {"kmm": {"kernel_mappings": [{"regexp": "(", "container_image": "i"}]}},
            r"kmm.kernel_mappings\[0\].regexp '\(' is no regular expression",
        ),
        (
            {"kmm": {"kernel_mappings": [{"regexp": "^5(?!.14)", "container_image": "i"}]}},
            "Go's regular expressions",
        ),
        (
            {"kmm": {"kernel_mappings": [{"literal": "a"}]}},
            r"kmm.kernel_mappings\[0\].container_image is missing",
        ),
        ({"kmm": {"build": {"secrets": ["s"]}}}, "kmm.build needs either"),
        (
            {"kmm": {"device_plugin": {"image": "i"}, "dra": {"image": "i", "driver_name": "d"}}},
            "exclude each other",
        ),
        (
            {
                "kmm": {"device_plugin": {"image": "i"}},
                "spec": {"dra": {}, "devicePlugin": {}, "moduleLoader": {}} | {"dra": {"a": 1}},
            },
            "exclude each other",
        ),
        ({"kmm": {"version": "1"}, "name": "a-name-that-is-much-too-long-for-labels"}, "at most 40"),
        ({"pools": []}, "kmm.selector is missing"),
        ({"pools": [POOL, POOL | {"node_selector": {"other": "1"}}]}, "no node_selector in common"),
    ],
)
def test_what_cannot_work_is_refused_at_once(change: KubeObject, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        kmm_manifest.check(params(**change))
    if caught.value.code == "INPUT-REQUIRED":
        assert caught.value.remedy.startswith("Set ")


def test_a_check_of_a_kernel_needs_nothing_else() -> None:
    alone = params(
        name="",
        kmm={"module_name": None, "kernel_mappings": None, "preflight": {"kernel_version": "6.1"}},
    )
    kmm_manifest.check(alone)
    assert kmm_manifest.is_preflight_only(alone)
