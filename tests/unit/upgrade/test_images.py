# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The images that an upgrade needs, and what is said of one that does not exist."""

from __future__ import annotations

import typing as t

import pytest
from unit.upgrade.in_memory.builders import NEW, OLD

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import (
    MISSING,
    REFUSED,
    THERE,
    Answer,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import images
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.options import Triple
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade.targets import POLICY, Target

PREFIX: t.Final = "feature.node.kubernetes.io/"
KERNEL: t.Final = "5.14.0-570.12.1.el9_6.x86_64"
WANTED: t.Final = Triple("nvcr.io/nvidia", "driver", NEW)
PATH: t.Final = "nvcr.io/nvidia/driver"


def node(name: str, system: str = "rhcos", version: str = "4.18") -> KubeObject:
    marks = {
        f"{PREFIX}system-os_release.ID": system,
        f"{PREFIX}system-os_release.VERSION_ID": version,
        f"{PREFIX}kernel-version.full": KERNEL,
        f"{PREFIX}pci-10de.present": "true",
    }
    return {"metadata": {"name": name, "labels": marks if system else {}}}


def target(*nodes: str, version: str = OLD, **driver: t.Any) -> Target:
    section = {"repository": "nvcr.io/nvidia", "image": "driver", "version": version} | driver
    return Target(POLICY, {"metadata": {"name": "p"}, "spec": {"driver": section}}, nodes)


@pytest.mark.parametrize(
    ("one", "driver", "triple", "group"),
    [
        (node("a"), {}, WANTED, (f"{PATH}:{NEW}-rhcos4.18",)),
        (node("a", "rhel", "9.6"), {}, WANTED, (f"{PATH}:{NEW}-rhel9.6", f"{PATH}:{NEW}-rhel9")),
        (node("a"), {"usePrecompiled": True}, WANTED, (f"{PATH}:{NEW}-{KERNEL}-rhcos4.18",)),
        (node("a"), {}, WANTED._replace(version="sha256:1"), (f"{PATH}@sha256:1",)),
    ],
)
def test_the_image_that_a_node_needs(
    one: KubeObject, driver: t.Any, triple: Triple, group: tuple[str, ...]
) -> None:
    assert images.needed([target("a", **driver)], triple, {"a": one}) == {group: ["a"]}


def test_nodes_share_a_group_and_others_need_none() -> None:
    nodes = {name: node(name) for name in ("a", "b")} | {"c": node("c", "")}
    found = images.needed([target("a", "b", "c", "not-due")], WANTED, nodes)
    assert list(found.values()) == [["a", "b"], ["c"]]
    assert images.missing(found, {}) == []
    assert "for c: no label of Node Feature Discovery names their system" in images.unknown(found, {})
    assert images.needed([target("a", version=NEW)], WANTED, nodes) == {}


GROUP: t.Final[tuple[str, ...]] = (f"{PATH}:{NEW}-rhcos4.18",)


def test_what_is_missing_and_what_is_unknown() -> None:
    groups = {GROUP: ["a"]}
    gone = {GROUP[0]: Answer(GROUP[0], MISSING)}
    assert (images.missing(groups, gone), images.unknown(groups, gone)) == ([GROUP], "")
    denied = {GROUP[0]: Answer(GROUP[0], REFUSED, words="denied")}
    assert images.missing(groups, denied) == []
    assert "It is not known whether the new driver exists (not allowed: denied)" in images.unknown(
        groups, denied
    )
    there = {GROUP[0]: Answer(GROUP[0], THERE)}
    assert (images.missing(groups, there), images.unknown(groups, there)) == ([], "")


def test_other_branches_have_the_same_form() -> None:
    found = images.others([GROUP], WANTED)
    assert found[f"{PATH}:595.91.07-rhcos4.18"] == "595"
    assert GROUP[0] not in found
    assert images.others([(f"{PATH}@sha256:1",)], WANTED._replace(version="sha256:1")) == {}


def test_the_refusal_says_what_exists() -> None:
    instead = {f"{PATH}:580.173.02-rhcos4.18": "580", f"{PATH}:595.91.07-rhcos4.18": "595"}
    error = images.refusal({GROUP: ["a", "b"]}, [GROUP], instead)
    assert (error.code, error.layer) == ("UPGRADE-IMAGE", "upgrade")
    assert f"{GROUP[0]} is not in the registry, and a, b would need it" in error.message
    assert f"{PATH}:580.173.02-rhcos4.18, {PATH}:595.91.07-rhcos4.18" in error.message
    assert (
        error.remedy
        == "Set gpu_driver_branch (module option branch) to 580 or 595, and leave out gpu_driver_version."
    )
    none = images.refusal({GROUP: ["a"]}, [GROUP], {})
    assert none.remedy.startswith(f"Push {GROUP[0]} into the registry")


BOTH: t.Final[tuple[str, ...]] = (f"{PATH}:{NEW}-rhel9.8", f"{PATH}:{NEW}-rhel9")


def test_an_image_for_another_release_of_the_operator_does_not_count() -> None:
    known = {
        BOTH[0]: Answer(BOTH[0], THERE),
        BOTH[1]: Answer(BOTH[1], MISSING, words=f"m.io/{BOTH[1].partition('/')[2]}: manifest unknown"),
    }
    groups = {BOTH: ["a"], images.UNNAMED: ["b"]}
    assert images.of_release(groups, known, (26, 3)) == {BOTH[:1]: ["a"], images.UNNAMED: ["b"]}
    assert images.of_release(groups, known, None) == groups
    with pytest.raises(NotReadyError) as caught:
        images.of_release(groups, known, (26, 7))
    assert caught.value.code == "MIRROR-OS-TAG"
    assert f"GPU operator 26.7 takes the driver image {BOTH[1]}," in caught.value.message
    assert f"{BOTH[0]} is another image" in caught.value.message
    assert f"- name: {BOTH[1]}." in caught.value.remedy
    assert " docker://m.io`" in caught.value.remedy


def test_an_image_that_no_release_has_stays_missing() -> None:
    known = {one: Answer(one, MISSING) for one in BOTH}
    own = images.of_release({BOTH: ["a"]}, known, (26, 7))
    assert images.missing(own, known) == [BOTH[1:]]
