# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""With a mirror no image stays at its first registry: every name in the operator's CSV, of every backend."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import registry

Data = dict[str, t.Any]
MIRROR = "mirror.example.com:5000/gpu"
CATALOG = yaml.safe_load(
    (Path(__file__).parents[4] / "sandbox/catalog/gpu-operator-certified.yml").read_text()
)
# Names in env of the operator's Deployment -> option that moves the image.
BY_ENV: t.Final = {
    "GDRCOPY_IMAGE": "gdrcopy",
    "KATA_SANDBOX_DEVICE_PLUGIN_IMAGE": "kata_sandbox_device_plugin",
    "GFD_IMAGE": "gfd",
    "VALIDATOR_IMAGE": "validator",
    "CC_MANAGER_IMAGE": "cc_manager",
}


def csv(**env: str) -> Data:
    container = {"env": [{"name": key, "value": value} for key, value in env.items()]}
    deployment = {"spec": {"template": {"spec": {"containers": [container]}}}}
    return {"spec": {"install": {"spec": {"deployments": [deployment]}}}}


def moved(known: Data, **params: t.Any) -> registry.Mirrored:
    return registry.mirrored(params, MIRROR, registry.images([known]), {})


@pytest.mark.parametrize(("name", "option"), BY_ENV.items())
def test_an_image_that_the_env_names_moves(name: str, option: str) -> None:
    found = moved(csv(**{name: "nvcr.io/nvidia/x@sha256:1"}))
    assert found.params[option] == {
        "repository": f"{MIRROR}/nvidia",
        "image": "x",
        "version": "sha256:1",
    }
    assert option not in found.unknown


def test_the_driver_manager_moves_by_its_env() -> None:
    found = moved(csv(DRIVER_MANAGER_IMAGE="nvcr.io/nvidia/cloud-native/k8s-driver-manager:v1"))
    assert found.params["driver"]["manager"]["repository"] == f"{MIRROR}/nvidia/cloud-native"


def test_the_validator_moves_by_its_name_in_related_images() -> None:
    known = {
        "spec": {
            "relatedImages": [
                {"name": "gpu-operator-validator-image", "image": "nvcr.io/nvidia/gpu-operator:v26.7.0"}
            ]
        }
    }
    found = moved(known)
    assert (
        found.params["validator"]["version"] == found.params["node_status_exporter"]["version"] == "v26.7.0"
    )


def test_images_that_a_release_does_not_have_are_not_missed_until_they_are_switched_on() -> None:
    found = moved(csv())
    assert not {"gdrcopy", "gds", "kata_sandbox_device_plugin"} & {*found.unknown, *found.params}
    assert "gdrcopy" in moved(csv(), gdrcopy={"enabled": True}).unknown


def test_a_driver_of_its_own_takes_its_sidecars_along() -> None:
    sidecar = {"repository": "nvcr.io/nvidia", "image": "gdrdrv", "version": "1"}
    driver = {"repository": "nvcr.io/nvidia", "image": "driver", "version": "595", "gdrcopy": sidecar}
    found = moved(csv(), nvidia_drivers=[{"name": "a", **driver}], pools=[{"name": "p", "driver": driver}])
    for one in (found.params["nvidia_drivers"][0], found.params["pools"][0]["driver"]):
        assert one["repository"] == one["gdrcopy"]["repository"] == f"{MIRROR}/nvidia"


def test_with_dra_the_dra_driver_moves_and_operands_of_the_other_stack_are_not_missed() -> None:
    known = csv(
        DRA_DRIVER_IMAGE="nvcr.io/nvidia/dra@sha256:1",
        DCGM_EXPORTER_IMAGE="nvcr.io/nvidia/k8s/exporter:1",
        DRIVER_IMAGE="nvcr.io/nvidia/driver@sha256:2",
    )
    found = moved(known, backend="dra", gpu_cluster={"dra_driver": {"compute_domains": False}})
    assert found.params["gpu_cluster"] == {
        "dra_driver": {
            "compute_domains": False,
            "repository": f"{MIRROR}/nvidia",
            "image": "dra",
            "version": "sha256:1",
        },
        "dcgm_exporter": {"repository": f"{MIRROR}/nvidia/k8s", "image": "exporter", "version": "1"},
    }
    assert found.params["driver"]["repository"] == f"{MIRROR}/nvidia"
    assert found.unknown == ["driver.manager"]


# The operator takes these for releases of the driver that a policy names by itself.
@pytest.mark.parametrize("name", [one for one in CATALOG["images"] if not one.startswith("driver-image-")])
def test_no_image_of_the_operator_stays_behind(name: str) -> None:
    known = {"spec": {"relatedImages": [{"name": name, "image": "nvcr.io/nvidia/x@sha256:1"}]}}
    found = [moved(known, backend=backend).params for backend in ("clusterpolicy", "dra")]
    assert MIRROR in str(found)
