# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A cluster behind a mirror: catalogues with other names, and mirror sets that already redirect images."""

from __future__ import annotations

import contextlib
import typing as t

import pytest
from cluster import Cluster
from integration.patience import until
from integration.playbook import Playbook
from integration.wire import Audit

Data = dict[str, t.Any]
SCENARIO: t.Final = "mirrored-catalogs"
pytestmark = pytest.mark.long(
    "clusters behind a mirror of the registries: the unit tests have how images are rewritten"
)
# No source is named: each package is in one catalogue only, whose name does not matter.
OPERATORS: t.Final = {"nfd": "openshift-nfd", "gpu-operator-certified": "nvidia-gpu-operator"}

CONFIG: t.Final = "config.openshift.io/v1"
MIRROR: t.Final = "mirror.example.com:5000/gpu"
POLICY: t.Final = ("nvidia.com/v1", "clusterpolicies", "gpu-cluster-policy")
KINDS: t.Final = {
    "ImageDigestMirrorSet": (CONFIG, "imagedigestmirrorsets", "imageDigestMirrors"),
    "ImageTagMirrorSet": (CONFIG, "imagetagmirrorsets", "imageTagMirrors"),
    "ImageContentSourcePolicy": (
        "operator.openshift.io/v1alpha1",
        "imagecontentsourcepolicies",
        "repositoryDigestMirrors",
    ),
}
IMAGES: t.Final = {
    "driver": "nvcr.io/nvidia/driver",
    "toolkit": "nvcr.io/nvidia/k8s/container-toolkit",
    "devicePlugin": "nvcr.io/nvidia/k8s-device-plugin",
    "dcgmExporter": "nvcr.io/nvidia/k8s/dcgm-exporter",
    "dcgm": "nvcr.io/nvidia/cloud-native/dcgm",
}
OPTIONS: t.Final = {"devicePlugin": "device_plugin", "dcgmExporter": "dcgm_exporter"}
# All images of the operator have digests. The user gives a tag to each but the driver's.
TAGGED: t.Final[Data] = {
    OPTIONS.get(key, key): {
        "repository": image.rpartition("/")[0],
        "image": image.rpartition("/")[2],
        "version": "v1.2.3",
    }
    for key, image in IMAGES.items()
    if key != "driver"
}
DIGESTS: t.Final[Data] = {"registry": MIRROR, "wait": False}
WANTED: t.Final[Data] = {**DIGESTS, **TAGGED}


@contextlib.contextmanager
def mirror_sets(cluster: Cluster, *wanted: tuple[str, str, list[str], str]) -> t.Iterator[None]:
    """Create mirror sets, each from kind, source, mirrors and mirrorSourcePolicy; delete them at the end."""
    for index, (kind, source, mirrors, policy) in enumerate(wanted):
        api_version, _plural, key = KINDS[kind]
        entry = {"source": source, "mirrors": mirrors} | ({"mirrorSourcePolicy": policy} if policy else {})
        cluster.client.create(
            {
                "apiVersion": api_version,
                "kind": kind,
                "metadata": {"name": f"set-{index}"},
                "spec": {key: [entry]},
            }
        )
    try:
        yield
    finally:
        for index, (kind, *_rest) in enumerate(wanted):
            cluster.client.delete(*KINDS[kind][:2], f"set-{index}")


def rewritten(cluster: Cluster) -> set[str]:
    """Return the operands with images from the mirror; assert that only the registry differs."""
    live = cluster.client.get(*POLICY)
    assert live
    found = {key: live["spec"].get(key) or {} for key in IMAGES}
    given = {key: f"{one['repository']}/{one['image']}" for key, one in found.items() if one.get("version")}
    moved = {key: image for key, image in given.items() if image.startswith(MIRROR)}
    assert moved == {key: IMAGES[key].replace("nvcr.io", MIRROR) for key in moved}
    assert all(given[key] == IMAGES[key] for key in given if key not in moved)
    return set(moved)


def test_packages_come_from_the_mirrored_catalogues(
    cluster: Cluster, playbook: Playbook, audit: Audit
) -> None:
    live = cluster.client.get(
        "operators.coreos.com/v1alpha1", "subscriptions", "gpu-operator-certified", "nvidia-gpu-operator"
    )
    assert live
    assert (live["spec"]["source"], live["status"]["state"]) == ("cs-certified-operators", "AtLatestKnown")
    again = playbook.module(
        "olm_operator",
        name="gpu-operator-certified",
        namespace="nvidia-gpu-operator",
        source="cs-certified-operators",
    )
    assert (again.changed, again["operator"]["catalog"], audit.writes(again)) == (
        False,
        "cs-certified-operators",
        [],
    )
    off = playbook.module(
        "olm_operator", name="kueue-operator", namespace="it-kueue", source="redhat-operators"
    )
    assert (off["code"], audit.writes(off)) == ("OLM-CATALOG", [])
    assert "spec.disableAllDefaultSources is true" in off["msg"]
    assert off["remedy"] == (
        "Set gpu_policy_queue_operator_source: cs-redhat-operators (module option source), which has package "
        "kueue-operator."
    )
    none = playbook.module("olm_operator", name="no-such-operator", namespace="it-none")
    assert (none["code"], audit.writes(none)) == ("OLM-NO-PACKAGE", [])
    assert "mirrored catalogue" in none["remedy"]
    one = playbook.module("olm_operator", name="kueue-operator", namespace="it-kueue", check=True)
    assert (one.failed, one.changed) == (False, True)


@pytest.mark.parametrize(
    ("sets", "left"),
    [
        ([("ImageDigestMirrorSet", "nvcr.io", ["m.example.com/nvidia"], "NeverContactSource")], {"driver"}),
        (
            [
                (
                    "ImageDigestMirrorSet",
                    "nvcr.io/nvidia/driver",
                    ["m.example.com/driver"],
                    "AllowContactingSource",
                )
            ],
            {"driver"},
        ),
        ([("ImageContentSourcePolicy", "nvcr.io/nvidia", ["m.example.com/nvidia"], "")], {"driver"}),
        (
            [("ImageTagMirrorSet", "nvcr.io/nvidia/k8s", ["m.example.com/k8s"], "")],
            {"toolkit", "dcgmExporter"},
        ),
        ([("ImageTagMirrorSet", "*.io", ["m.example.com"], "")], set(IMAGES) - {"driver"}),
        (
            [
                ("ImageDigestMirrorSet", "*.nvidia", ["m.example.com"], ""),
                ("ImageDigestMirrorSet", "nvcr.io", [], ""),
            ],
            set(),
        ),
        (
            [
                ("ImageTagMirrorSet", "nvcr.io", ["m"], ""),
                ("ImageDigestMirrorSet", "nvcr.io/nvidia/k8s", ["m"], ""),
            ],
            {"devicePlugin", "dcgm"},
        ),
    ],
    ids=["registry", "repository", "icsp", "path", "below a domain", "none", "nearest"],
)
def test_what_mirror_sets_cover_is_left_and_the_rest_rewritten(
    sets: list[tuple[str, str, list[str], str]],
    left: set[str],
    cluster: Cluster,
    playbook: Playbook,
    audit: Audit,
) -> None:
    with mirror_sets(cluster, *sets):
        run = playbook.tasks(
            {"accelerators.openshift.special_resource": WANTED, "register": "made"},
            {"ansible.builtin.debug": {"msg": "{{ made.warnings | default([]) }}"}},
        )
        assert run.rc == 0, run.output[-3000:]
        told = " ".join(line for line in run.tasks[-1]["msg"] if "nothing was rewritten for" in line)
        again = playbook.module("special_resource", **WANTED)
    assert rewritten(cluster) == set(IMAGES) - left
    assert (again.failed, again.changed, audit.writes(again)) == (False, False, []), again.result
    assert all(f"{OPTIONS.get(one, one)} ({sets[0][0]} set-0)" in told for one in left), told
    assert bool(told) is bool(left)
    cluster.client.delete(*POLICY)
    until(lambda: cluster.client.get(*POLICY) is None, "the policy has gone")


@pytest.mark.parametrize(
    ("kind", "moved"), [("ImageDigestMirrorSet", set[str]()), ("ImageTagMirrorSet", set(IMAGES))]
)
def test_the_images_of_the_operator_have_digests(
    kind: str, moved: set[str], cluster: Cluster, playbook: Playbook
) -> None:
    with mirror_sets(cluster, (kind, "nvcr.io", ["m.example.com/nvidia"], "")):
        made = playbook.module("special_resource", **DIGESTS)
    assert not made.failed, made.result
    assert rewritten(cluster) == moved
    cluster.client.delete(*POLICY)
    until(lambda: cluster.client.get(*POLICY) is None, "the policy has gone")
