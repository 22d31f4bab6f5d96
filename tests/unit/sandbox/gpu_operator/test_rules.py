# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the GPU operator decides: its release, and the digest of a driver."""

from __future__ import annotations

import pytest
from unit.sandbox.gpu_operator.builders import NAMESPACE, RELEASE, Object, deployment, policy

from openshift_sandbox.stand_ins.gpu_operator import daemon_sets
from openshift_sandbox.stand_ins.gpu_operator.rules import digest, release


def digest_of(version: str = "26.7.0", **spec: object) -> str:
    running = release.of(deployment(version))
    (made,) = daemon_sets.driver_daemon_sets(policy(**spec), running, {"9.8.1": "dtk:1"})
    return digest.of(made["spec"]["template"]["spec"])


@pytest.mark.parametrize(
    ("version", "found", "has_digests"), [("26.3.0", (26, 3), False), ("26.7.0", (26, 7), True)]
)
def test_the_release_is_in_the_tag_of_the_image(
    version: str, found: tuple[int, ...], has_digests: bool
) -> None:
    running = release.of(deployment(version))
    assert (running.namespace, running.version, running.has_digests) == (NAMESPACE, found, has_digests)
    assert running.images["DRIVER_MANAGER_IMAGE"].startswith(
        "nvcr.io/nvidia/cloud-native/k8s-driver-manager:"
    )


def test_an_operator_without_a_tag_is_the_newest() -> None:
    found = release.of({"metadata": {"namespace": "n"}})
    assert (found.version, dict(found.images)) == (release.NEWEST, {})


@pytest.mark.parametrize(
    ("spec", "same"),
    [
        ({"daemonsets": {"tolerations": [{"key": "team"}], "labels": {"a": "b"}}}, True),
        ({"driver": {"resources": {"limits": {"cpu": "1"}}}}, True),
        ({"driver": {"env": [{"name": "A", "value": "b"}]}}, False),
        ({"driver": {"manager": {"env": [{"name": "A", "value": "b"}]}}}, False),
        ({"driver": {"kernelModuleType": "open"}}, False),
        ({"driver": {"rdma": {"enabled": True}}}, False),
    ],
)
def test_what_the_digest_is_made_of(spec: Object, same: bool) -> None:
    assert (digest_of(**spec) == digest_of()) is same


def test_releases_before_26_7_write_no_digest() -> None:
    assert digest_of("26.3.3") == ""
    assert RELEASE.has_digests
    assert not digest.restart_only({"containers": []}, {"containers": []})
