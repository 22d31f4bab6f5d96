"""Images from a mirror: all alike, tag or digest kept, and nothing where the cluster has mirrors already."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import registry

Data = dict[str, t.Any]
MIRROR = "mirror.example.com:5000/gpu"
CSV: Data = {
    "spec": {
        "relatedImages": [
            {"name": "driver-image", "image": "nvcr.io/nvidia/driver@sha256:0"},
            {"name": "dcgm-image", "image": "nvcr.io/nvidia/cloud-native/dcgm:4.6.0"},
        ],
        "install": {
            "spec": {
                "deployments": [
                    {
                        "spec": {
                            "template": {
                                "spec": {
                                    "containers": [
                                        {"env": [{"name": "GFD_IMAGE", "value": "nvcr.io/nvidia/gfd:v1"}]}
                                    ]
                                }
                            }
                        }
                    }
                ]
            }
        },
    }
}


def test_every_image_moves_and_keeps_its_version() -> None:
    drivers = [
        {"name": "a", "repository": "nvcr.io/nvidia", "image": "driver", "version": "595"},
        {"name": "b"},
    ]
    params = {
        "toolkit": {"repository": "nvcr.io/nvidia/k8s", "image": "container-toolkit", "version": "v1"},
        "gfd": {"enabled": True},
        "nvidia_drivers": drivers,
    }
    found = registry.mirrored(params, MIRROR, registry.images([CSV]), {})
    assert found.params["driver"] == {
        "repository": f"{MIRROR}/nvidia",
        "image": "driver",
        "version": "sha256:0",
    }
    assert found.params["dcgm"] == {
        "repository": f"{MIRROR}/nvidia/cloud-native",
        "image": "dcgm",
        "version": "4.6.0",
    }
    assert found.params["toolkit"]["repository"] == f"{MIRROR}/nvidia/k8s"
    assert found.params["gfd"] == {
        "enabled": True,
        "repository": f"{MIRROR}/nvidia",
        "image": "gfd",
        "version": "v1",
    }
    assert [one.get("repository") for one in found.params["nvidia_drivers"]] == [f"{MIRROR}/nvidia", None]
    assert {"validator", "device_plugin"} <= set(found.unknown)
    assert params["nvidia_drivers"] == drivers
    assert registry.mirrored(found.params, MIRROR, registry.images([CSV]), {}).params == found.params


@pytest.mark.parametrize(
    ("kind", "key", "kept"),
    [
        ("ImageDigestMirrorSet", "imageDigestMirrors", "driver"),
        ("ImageTagMirrorSet", "imageTagMirrors", "dcgm"),
    ],
)
def test_what_mirror_sets_cover_is_left(kind: str, key: str, kept: str) -> None:
    sets = [
        {
            "kind": kind,
            "metadata": {"name": "gpu"},
            "spec": {key: [{"source": "nvcr.io/nvidia", "mirrors": ["m"]}]},
        }
    ]
    found = registry.mirrored({}, MIRROR, registry.images([CSV]), registry.sources(sets))
    assert f"{kept} ({kind} gpu)" in found.kept
    assert found.params[kept] == {}
    assert len([one for one in ("driver", "dcgm") if found.params[one]]) == 1


def mirror_set(kind: str, source: str, *mirrors: str, **more: str) -> Data:
    return {
        "kind": kind,
        "metadata": {"name": f"{source} {kind}"},
        "spec": {registry.SETS[kind]: [{"source": source, "mirrors": list(mirrors), **more}]},
    }


IDMS, ITMS, ICSP = "ImageDigestMirrorSet", "ImageTagMirrorSet", "ImageContentSourcePolicy"


@pytest.mark.parametrize(
    ("sets", "kept"),
    [
        ([(IDMS, "nvcr.io", "m")], ["driver"]),
        ([(ITMS, "nvcr.io", "m")], ["dcgm", "gfd"]),
        ([(ICSP, "nvcr.io/nvidia", "m")], ["driver"]),
        ([(IDMS, "nvcr.io/nvidia/driver", "m")], ["driver"]),
        ([(IDMS, "nvcr.io/nvidia/driv", "m")], []),
        ([(ITMS, "nvcr.io/nvidia/cloud-native", "m")], ["dcgm"]),
        ([(IDMS, "*.io", "m"), (ITMS, "*.io", "m")], ["driver", "dcgm", "gfd"]),
        ([(IDMS, "*.nvcr.io", "m")], []),
        ([(IDMS, "*.nvidia", "m")], []),
        ([(IDMS, "nvcr.io/nvidia")], []),
        ([(IDMS, "nvcr.io/nvidia", "nvcr.io/nvidia")], []),
        # the nearest source alone counts
        ([(ITMS, "nvcr.io", "m"), (IDMS, "nvcr.io/nvidia/cloud-native", "m")], ["gfd"]),
        ([(ITMS, "nvcr.io", "m"), (IDMS, "nvcr.io", "m")], ["driver", "dcgm", "gfd"]),
        ([(ITMS, "nvcr.io", "m"), (IDMS, "nvcr.io/nvidia/cloud-native")], ["dcgm", "gfd"]),
    ],
)
def test_which_source_covers_an_image(sets: list[tuple[str, ...]], kept: list[str]) -> None:
    found = registry.mirrored(
        {}, MIRROR, registry.images([CSV]), registry.sources(mirror_set(*one) for one in sets)
    )
    assert [one.partition(" ")[0] for one in found.kept] == kept


@pytest.mark.parametrize("policy", ["NeverContactSource", "AllowContactingSource"])
def test_whether_the_source_is_a_last_resort_does_not_matter(policy: str) -> None:
    sets = [mirror_set(IDMS, "nvcr.io", "m", mirrorSourcePolicy=policy)]
    assert registry.sources(sets) == {"nvcr.io": registry.Source(digests=f"{IDMS} nvcr.io {IDMS}")}
    assert registry.sources([mirror_set(IDMS, "nvcr.io", mirrorSourcePolicy=policy)]) == {}


@pytest.mark.parametrize(
    ("repository", "moved"),
    [
        ("nvcr.io/nvidia", f"{MIRROR}/nvidia"),
        ("nvcr.io", MIRROR),
        ("nvidia", f"{MIRROR}/nvidia"),
        ("h:5000/a/b", f"{MIRROR}/a/b"),
        (f"{MIRROR}/x", f"{MIRROR}/x"),
    ],
)
def test_only_the_host_changes(repository: str, moved: str) -> None:
    assert registry.moved_to(repository, MIRROR) == moved


@pytest.mark.parametrize("image", ["", "driver", "nvcr.io/nvidia/driver", "driver:1"])
def test_what_is_no_whole_image(image: str) -> None:
    assert registry.split(image) == {}
