# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The file for oc-mirror v2: every hop is in its ranges, and a user's file without one is refused."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.mirrors.builders import CATALOG, DIGEST, operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors import image_set
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.images import Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._operators.order import GPU

Data = dict[str, t.Any]
# The fields of oc-mirror's own types: a type, or the fields of each entry of a list.
# https://github.com/openshift/oc-mirror/blob/main/internal/pkg/api/v2alpha1/type_config.go
_CHANNEL: t.Final = {"name": str, "minVersion": str, "maxVersion": str}
_PACKAGE: t.Final = {
    **_CHANNEL,
    "defaultChannel": str,
    "channels": [_CHANNEL],
}
SCHEMA: t.Final[Data] = {
    "kind": str,
    "apiVersion": str,
    "archiveSize": int,
    "mirror": {
        "operators": [
            {
                "catalog": str,
                "targetCatalog": str,
                "targetTag": str,
                "targetCatalogSourceTemplate": str,
                "full": bool,
                "skipDependencies": bool,
                "packages": [_PACKAGE],
            }
        ],
        "additionalImages": [{"name": str, "targetRepo": str, "targetTag": str}],
        "blockedImages": [{"name": str}],
    },
}
PYTORCH: t.Final = Wanted("nvcr.io/nvidia/pytorch:26.01-py3", "validation matmul", ("a",), ("amd64",))
RELATED: t.Final = Wanted(f"nvcr.io/nvidia/driver@{DIGEST}", "driver", (GPU,), ("amd64",), GPU)
FULL: t.Final = "26.3.0 26.3.3 26.7.0 26.7.1"


def unknown(given: t.Any, schema: t.Any, path: str = "") -> list[str]:
    """Return the paths of a file that oc-mirror's types do not have, or that have another type."""
    if isinstance(schema, type):
        return [] if isinstance(given, schema) else [path]
    if isinstance(schema, list):
        entries = given if isinstance(given, list) else [None]
        return [bad for at, one in enumerate(entries) for bad in unknown(one, schema[0], f"{path}[{at}]")]
    if not isinstance(given, dict):
        return [path]
    return [
        bad
        for key, value in given.items()
        for bad in (unknown(value, schema[key], f"{path}.{key}") if key in schema else [f"{path}.{key}"])
    ]


def way() -> t.Any:
    """Return the operator on its way over two channels, neither of which is the default."""
    stops = (("v26.3", "26.3.3", ("26.3.3",)), ("v26.7", "26.7.1", ("26.7.0", "26.7.1")))
    return operator("26.3.0", *stops, stable=FULL, v26__3="26.3.0 26.3.3", v26__7="26.7.0 26.7.1")


def test_every_hop_is_in_a_range_and_the_default_channel_exists() -> None:
    found = image_set.build([way()], [PYTORCH, RELATED])
    assert unknown(found, SCHEMA) == []
    assert (found["kind"], found["apiVersion"]) == ("ImageSetConfiguration", "mirror.openshift.io/v2alpha1")
    assert found["mirror"]["operators"] == [
        {
            "catalog": CATALOG,
            "packages": [
                {
                    "name": GPU,
                    "defaultChannel": "v26.7",
                    "channels": [
                        {"name": "v26.3", "minVersion": "26.3.0", "maxVersion": "26.3.3"},
                        {"name": "v26.7", "minVersion": "26.7.0", "maxVersion": "26.7.1"},
                    ],
                }
            ],
        }
    ]
    assert found["mirror"]["additionalImages"] == [{"name": PYTORCH.image}]


def test_the_schema_of_this_test_finds_fields_of_version_1() -> None:
    old = {"kind": "x", "storageConfig": {}, "mirror": {"operators": [{"catalog": 1, "headsOnly": True}]}}
    assert unknown(old, SCHEMA) == [
        ".storageConfig",
        ".mirror.operators[0].catalog",
        ".mirror.operators[0].headsOnly",
    ]


def test_the_default_channel_needs_no_word() -> None:
    found = image_set.build([operator("", ("stable", "26.7.1", ("26.7.1",)), stable=FULL)], [])
    (package,) = found["mirror"]["operators"][0]["packages"]
    assert package == {
        "name": GPU,
        "channels": [{"name": "stable", "minVersion": "26.7.1", "maxVersion": "26.7.1"}],
    }


def test_the_bounds_are_those_of_oc_mirror_not_those_of_the_channel() -> None:
    """The network operator made 26.7.0-1 after 26.7.0; for oc-mirror it is older."""
    channel = "26.4.0 26.7.0 26.7.0-1"
    passes = ("26.7.0", "26.7.0-1")
    found = operator("26.4.0", ("stable", "26.7.0-1", passes), stable=channel)

    def bounds(one: t.Any) -> tuple[str, str]:
        (entry,) = image_set.build([one], [])["mirror"]["operators"][0]["packages"][0]["channels"]
        return entry["minVersion"], entry["maxVersion"]

    assert bounds(found) == ("26.4.0", "26.7.0"), "26.7.0-1 is below 26.7.0"
    assert bounds(operator("26.7.0", ("stable", "26.7.0-1", ("26.7.0-1",)), stable=channel)) == (
        "26.7.0-1",
        "26.7.0",
    )
    given = image_set.build([found], [])
    image_set.check(given, [found], [], "file")
    given["mirror"]["operators"][0]["packages"][0]["channels"][0]["maxVersion"] = "26.7.0-1"
    with pytest.raises(InputError, match=r"maxVersion is 26\.7\.0-1, and the way ends with 26\.7\.0"):
        image_set.check(given, [found], [], "file")


def test_an_installed_release_stays_in_the_mirror() -> None:
    still = operator("26.7.0", stable=FULL)
    assert image_set.build([still], [])["mirror"]["operators"][0]["packages"][0]["channels"] == [
        {"name": "stable", "minVersion": "26.7.0", "maxVersion": "26.7.0"}
    ]
    # A head that skips: the way begins in a channel that does not have the installed release.
    skips = operator("26.3.0", ("v26.7", "26.7.1", ("26.7.1",)), v26__7="26.7.1", v26__3="26.3.0 26.3.3")
    assert [
        (one["name"], one["minVersion"], one["maxVersion"])
        for one in image_set.build([skips], [])["mirror"]["operators"][0]["packages"][0]["channels"]
    ] == [("v26.3", "26.3.0", "26.3.0"), ("v26.7", "26.7.1", "26.7.1")]


def test_a_file_of_heads_alone_lacks_an_installed_release_that_is_no_head() -> None:
    heads: Data = image_set.build([operator("26.7.1", stable=FULL)], [])
    package_of(heads)["channels"] = [{"name": "stable"}]
    image_set.check(heads, [operator("26.7.1", stable=FULL)], [], "file")
    with pytest.raises(InputError, match=r"only the newest release is mirrored, without 26\.7\.0"):
        image_set.check(heads, [operator("26.7.0", stable=FULL)], [], "file")


def test_the_default_channel_is_one_of_the_file() -> None:
    """The subscription's channel no longer has the installed release; another one does."""
    left = operator("26.3.0", v26__7="26.7.1", v26__3="26.3.0 26.3.3")
    (package,) = image_set.build([left], [])["mirror"]["operators"][0]["packages"]
    assert [package["defaultChannel"]] == [one["name"] for one in package["channels"]] == ["v26.3"]


def edited(change: t.Callable[[Data], t.Any]) -> Data:
    found = copy.deepcopy(image_set.build([way()], [PYTORCH]))
    change(found)
    return found


def package_of(given: Data) -> Data:
    found: Data = given["mirror"]["operators"][0]["packages"][0]
    return found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda one: one.update(kind="List"), "kind is not ImageSetConfiguration"),
        (
            lambda one: one.update(apiVersion="mirror.openshift.io/v1alpha2"),
            "apiVersion is mirror.openshift.io/v1alpha2",
        ),
        (lambda one: one.update(storageConfig={}), "storageConfig is of oc-mirror v1"),
        (lambda one: one["mirror"].update(operators="x"), "mirror.operators is no list of maps"),
        (
            lambda one: package_of(one).update(channels=["stable"]),
            "mirror.operators[0].packages[0].channels is no list of maps",
        ),
        (lambda one: one["mirror"].update(operators=[]), f"mirror.operators lacks package {GPU}"),
        (
            lambda one: one["mirror"]["operators"][0].update(catalog="r.io/redhat-operator-index:v4.22"),
            f"mirror.operators[0].packages[0] asks r.io/redhat-operator-index:v4.22 for {GPU}",
        ),
        (
            lambda one: package_of(one)["channels"][0].update(minVersion="26.3.3"),
            "packages[0].channels[0].minVersion is 26.3.3, and the way begins with 26.3.0",
        ),
        (
            lambda one: package_of(one)["channels"][1].update(maxVersion="26.7.0"),
            "mirror.operators[0].packages[0].channels[1].maxVersion is 26.7.0, and the way ends with 26.7.1",
        ),
        (
            lambda one: package_of(one)["channels"].pop(0),
            "mirror.operators[0].packages[0].channels lacks channel v26.3",
        ),
        (lambda one: package_of(one).pop("channels"), "has no minVersion"),
        (
            lambda one: one["mirror"]["operators"][0].pop("packages"),
            "mirror.operators[0] has no minVersion: only the newest release is mirrored, without 26.3.0",
        ),
        (
            lambda one: package_of(one)["channels"][1].update(minVersion="", maxVersion=None),
            "packages[0].channels[1] has no minVersion",
        ),
        (
            lambda one: one["mirror"].update(blockedImages=[{"name": "("}, {"name": "nvidia/py.*"}]),
            f"mirror.blockedImages[1] keeps {PYTORCH.image} out (validation matmul)",
        ),
        (lambda one: one["mirror"].update(blockedImages="x"), "mirror.blockedImages is no list of maps"),
        (
            lambda one: one["mirror"].pop("additionalImages"),
            f"mirror.additionalImages lacks {PYTORCH.image}",
        ),
    ],
)
def test_a_file_that_does_not_bring_everything_is_refused_with_the_path(
    change: t.Callable[[Data], t.Any], words: str
) -> None:
    with pytest.raises(InputError) as failed:
        image_set.check(edited(change), [way()], [PYTORCH], "gpu_mirror_config")
    assert (failed.value.code, words in failed.value.message) == ("MIRROR-FILE", True), failed.value.message


def test_a_file_that_brings_everything_is_taken() -> None:
    image_set.check(edited(lambda _one: None), [way()], [PYTORCH, RELATED], "gpu_mirror_config")
    wide = edited(lambda one: package_of(one).update(channels=[], minVersion="26.3.0"))
    image_set.check(wide, [way()], [PYTORCH], "gpu_mirror_config")
    ranged = edited(lambda one: package_of(one).update(channels=[{"name": "v26.3"}, {"name": "v26.7"}]))
    with pytest.raises(InputError, match="no minVersion"):
        image_set.check(ranged, [way()], [PYTORCH], "gpu_mirror_config")
    package_of(ranged)["minVersion"] = "26.3.0"
    image_set.check(ranged, [way()], [PYTORCH], "gpu_mirror_config")
    del package_of(ranged)["minVersion"]
    ranged["mirror"]["operators"][0]["full"] = True
    image_set.check(ranged, [way()], [PYTORCH], "gpu_mirror_config")
    whole: Data = {"catalog": CATALOG.replace("registry.redhat.io", "mirror.example.com"), "full": True}
    image_set.check(
        edited(lambda one: one["mirror"].update(operators=[whole])), [way()], [PYTORCH], "gpu_mirror_config"
    )


@pytest.mark.parametrize(
    ("source", "image", "catalog"),
    [
        ("certified-operators", "registry.redhat.io/redhat/certified-operator-index:v4.22", CATALOG),
        ("certified-operators", "", CATALOG),
        ("cs-certified-operator-index-v4-22", "", CATALOG),
        ("mine", "registry.example.com:8443/redhat/certified-operator-index:v4.22", CATALOG),
        ("mine", "registry.example.com:8443/my/index:1", "registry.example.com:8443/my/index:1"),
        ("mine", "", "mine"),
    ],
)
def test_oc_mirror_reads_the_catalogue_where_it_comes_from(source: str, image: str, catalog: str) -> None:
    live = {"metadata": {"name": source}, "spec": {"image": image}}
    assert image_set.index_of(source, [live], "4.22") == catalog


def test_the_line_names_the_part_of_the_file() -> None:
    assert image_set.line(PYTORCH, [way()]) == f"mirror.additionalImages: - name: {PYTORCH.image}"
    assert f'"catalog": "{CATALOG}"' in image_set.line(RELATED, [way()])
