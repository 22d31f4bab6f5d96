# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What KMM's webhook refuses is refused before the first write, with a way out."""

from __future__ import annotations

import copy

import pytest
from unit.stack.kmm.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    InputError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    admission,
    manifest as kmm_manifest,
)
from openshift_sandbox.stand_ins.kmm import module_rules


def plugin(path: str) -> KubeObject:
    return {"device_plugin": {"image": "i", "volumes": [{"name": "v", "hostPath": {"path": path}}]}}


def loader(**modprobe: object) -> KubeObject:
    return {"moduleLoader": {"container": {"modprobe": modprobe}}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"name": "c" * 28}, "have 41 characters"),
        ({"kmm": plugin("/etc")}, "hostPath /etc"),
        ({"kmm": plugin("/dev/../etc")}, "hostPath /dev/../etc"),
        (
            {"kmm": {"container_image": "acme/card", "kernel_mappings": [{"literal": "6"}]}},
            "without a tag or a digest",
        ),
        ({"kmm": {"modules_loading_order": ["card"]}}, "at least two modules"),
        ({"kmm": {"modules_loading_order": ["base", "card"]}}, "kmm.module_name first"),
        ({"kmm": {"modules_loading_order": ["card", "base", "base"]}}, "each only once"),
        ({"spec": loader(rawArgs={"load": ["card"], "unload": ["card"]})}, "takes one of the two"),
    ],
)
def test_what_the_webhook_refuses_is_refused_here(change: KubeObject, said: str) -> None:
    asked = params(**copy.deepcopy(change))
    assert module_rules.refusal(kmm_manifest.build(asked), None)
    with pytest.raises(InputError, match=said):
        kmm_manifest.check(asked)


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({"moduleLoader": {"container": {"kernelMappings": []}}}, "kernelMappings is empty"),
        (loader(args={"load": []}), r"modprobe.args.load is empty"),
    ],
)
def test_lists_that_the_crd_wants_filled_are_refused_here(spec: KubeObject, said: str) -> None:
    with pytest.raises(InputError, match=said):
        kmm_manifest.check(params(spec=spec))


@pytest.mark.parametrize(
    "change",
    [
        {"name": "c" * 27, "kmm": {"version": "1"}},
        {"kmm": plugin("/dev/card")},
        {"kmm": plugin("/var")},
        {"kmm": {"modules_loading_order": ["card", "base"]}},
        {"kmm": {"container_image": "quay.io/acme/card@sha256:0"}},
    ],
)
def test_what_the_webhook_takes_is_taken(change: KubeObject) -> None:
    asked = params(**copy.deepcopy(change))
    kmm_manifest.check(asked)
    assert not module_rules.refusal(kmm_manifest.build(asked), None)


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (None, "2", "has no version, not 2"),
        ("1", None, "has version 1, and kmm.version is missing"),
    ],
)
def test_a_module_neither_gets_its_first_version_nor_loses_it(
    before: str | None, after: str | None, said: str
) -> None:
    live, wanted = (kmm_manifest.build(params(kmm={"version": one})) for one in (before, after))
    assert module_rules.refusal(wanted, live) == module_rules.VERSIONS
    with pytest.raises(NotReadyError, match=said) as caught:
        admission.refuse_switch(live, wanted)
    assert caught.value.code == "GPU-KMM-RECREATE"
    assert "`oc delete module card -n openshift-kmm`" in caught.value.remedy


@pytest.mark.parametrize(("before", "after"), [(None, None), ("1", "2")])
def test_a_version_may_change(before: str | None, after: str | None) -> None:
    live, wanted = (kmm_manifest.build(params(kmm={"version": one})) for one in (before, after))
    assert not module_rules.refusal(wanted, live)
    admission.refuse_switch(live, wanted)
