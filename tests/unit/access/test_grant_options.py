# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The options of access_grant: what is refused, and by which path."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._access import grant_options, needs
from ansible_collections.accelerators.openshift.plugins.module_utils._access.grant import Subject, Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError

Data = dict[str, t.Any]
EVA: t.Final[Data] = {"kind": "User", "name": "eva"}
ROBOT: t.Final[Data] = {"kind": "ServiceAccount", "name": "robot", "namespace": "awx"}


def read(**given: t.Any) -> Wanted:
    options: Data = {"playbooks": [], "namespace": "home", "namespaces": {}, "subjects": []}
    return grant_options.read(**{**options, **given})


def test_without_options_every_playbook_has_its_usual_namespaces() -> None:
    assert read() == Wanted(tuple(needs.GRANTED), "home", needs.NAMESPACES, ())


def test_a_subject_gets_all_playbooks_or_those_that_it_names() -> None:
    robot = {**ROBOT, "playbooks": ["remove_pool"]}
    found = read(playbooks=["resize_pool", "remove_pool"], subjects=[EVA, robot])
    assert found.subjects == (
        Subject("User", "eva", "", ("resize_pool", "remove_pool")),
        Subject("ServiceAccount", "robot", "awx", ("remove_pool",)),
    )


def test_namespaces_replace_the_usual_ones() -> None:
    found = read(namespaces={"gpu": "mine", "quota": ["a", "b", "a"]}).namespaces
    assert (found["gpu"], found["quota"], found["nfd"]) == (("mine",), ("a", "b"), ("openshift-nfd",))


@pytest.mark.parametrize(
    ("given", "code", "start"),
    [
        ({"playbooks": ["enable_gpus", "resize"]}, "INPUT-VALUE", "gpu_rbac_playbooks[1]: 'resize'"),
        ({"playbooks": ["rbac"]}, "INPUT-VALUE", "gpu_rbac_playbooks[0]: 'rbac'"),
        ({"namespace": "Home"}, "INPUT-VALUE", "gpu_rbac_namespace: 'Home'"),
        ({"namespaces": {"gpus": "a"}}, "INPUT-VALUE", "gpu_rbac_namespaces.gpus: "),
        ({"namespaces": {"gpu": 7}}, "INPUT-TYPE", "gpu_rbac_namespaces.gpu must be"),
        ({"namespaces": {"quota": ["a", "B"]}}, "INPUT-VALUE", "gpu_rbac_namespaces.quota[1]: 'B'"),
        ({"namespaces": {"quota": [7]}}, "INPUT-VALUE", "gpu_rbac_namespaces.quota[0]: 7 must be text"),
        ({"subjects": [{"name": "eva"}]}, "INPUT-REQUIRED", "gpu_rbac_subjects[0].kind is missing"),
        ({"subjects": [EVA, {"kind": "User"}]}, "INPUT-REQUIRED", "gpu_rbac_subjects[1].name is missing"),
        ({"subjects": [{**EVA, "kind": "user"}]}, "INPUT-VALUE", "gpu_rbac_subjects[0].kind: 'user'"),
        ({"subjects": [{**EVA, "role": "a"}]}, "INPUT-VALUE", "gpu_rbac_subjects[0].role: 'role'"),
        ({"subjects": [{**EVA, "namespace": "a"}]}, "INPUT-VALUE", "gpu_rbac_subjects[0].namespace is set"),
        (
            {"subjects": [{**ROBOT, "namespace": None}]},
            "INPUT-REQUIRED",
            "gpu_rbac_subjects[0].namespace is missing",
        ),
        ({"subjects": [{**ROBOT, "namespace": "A"}]}, "INPUT-VALUE", "gpu_rbac_subjects[0].namespace: 'A'"),
        (
            {"subjects": [{**EVA, "playbooks": ["plan"]}]},
            "INPUT-VALUE",
            "gpu_rbac_subjects[0].playbooks[0]: 'plan'",
        ),
        ({"subjects": [{**EVA, "playbooks": "plan"}]}, "INPUT-TYPE", "gpu_rbac_subjects[0].playbooks must"),
    ],
)
def test_what_is_wrong_is_named_by_its_path(given: Data, code: str, start: str) -> None:
    with pytest.raises(InputError) as caught:
        read(**given)
    assert caught.value.code == code
    assert caught.value.message.startswith(start)
    missing = start.removesuffix(" is missing")
    assert (f"Set {missing}, such as " if code == "INPUT-REQUIRED" else "") in caught.value.remedy
    assert caught.value.remedy


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("Group", "system:authenticated"),
        ("Group", "system:authenticated:oauth"),
        ("Group", "system:unauthenticated"),
        ("Group", "system:serviceaccounts"),
        ("Group", "system:serviceaccounts:default"),
        ("User", "system:anonymous"),
    ],
)
def test_nobody_gives_the_rights_to_everybody(kind: str, name: str) -> None:
    with pytest.raises(InputError) as caught:
        read(subjects=[{"kind": kind, "name": name}])
    assert caught.value.message.startswith(f"gpu_rbac_subjects[0].name is {name}")
