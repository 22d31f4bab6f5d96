# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who names a pull secret, and which pods and images are pulled with it."""

from __future__ import annotations

import typing as t

import pytest
from unit.pull_secret.builders import DRIVER, SPACE, TOOLKIT, pod, policy

from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret import uses

MODULE: t.Final = {
    "metadata": {"name": "m", "namespace": "kmm"},
    "spec": {"imageRepoSecret": {"name": "repo"}},
}
ACCOUNT: t.Final = {
    "metadata": {"name": "default"},
    "imagePullSecrets": [{"name": "default-dockercfg-x7k2p"}, {"name": "mirror"}],
}


@pytest.mark.parametrize(
    ("kind", "obj", "found"),
    [
        (
            "ClusterPolicy",
            policy(driver={"imagePullSecrets": ["a"], "manager": {"imagePullSecrets": ["b"]}}, dcgm={}),
            [("spec.driver.imagePullSecrets", "a"), ("spec.driver.manager.imagePullSecrets", "b")],
        ),
        (
            "NicClusterPolicy",
            policy(list=[{"imagePullSecrets": ["a"]}]),
            [("spec.list[0].imagePullSecrets", "a")],
        ),
        (
            "NVIDIADriver",
            policy(imagePullSecrets=["a", "b"]),
            [("spec.imagePullSecrets", one) for one in "ab"],
        ),
        ("Module", MODULE, [("spec.imageRepoSecret", "repo")]),
        ("ServiceAccount", ACCOUNT, [("imagePullSecrets", "mirror")]),
    ],
)
def test_fields_that_name_pull_secrets(kind: str, obj: t.Any, found: list[tuple[str, str]]) -> None:
    object_name = f"{kind} {obj['metadata']['name']}"
    assert uses.named(kind, obj) == [(f"{object_name}: {path}", secret) for path, secret in found]


def test_pods_and_images_of_a_secret() -> None:
    template = {"spec": {"imagePullSecrets": [{"name": "ngc"}], "initContainers": [{"image": TOOLKIT}]}}
    daemon_set = {"metadata": {"name": "d"}, "spec": {"template": template}}
    pods = [pod(), pod("driver-2", waiting="ImagePullBackOff"), pod("other", "r.io/x:1", pulls=["mirror"])]
    (found,) = uses.used(uses.Place(SPACE, pods, [daemon_set]), [("ClusterPolicy p: spec.x", "ngc")])
    assert (found.pods, found.waiting) == (("driver-1", "driver-2"), ("driver-2",))
    assert found.images == tuple(sorted((DRIVER, TOOLKIT)))
    assert found.object_name == f"Secret {SPACE}/ngc"
