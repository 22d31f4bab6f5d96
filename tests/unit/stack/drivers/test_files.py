"""Files of the driver's pods: ConfigMaps by content, what names them, and which are left over."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import manifest
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import files

MODULES: t.Final = {"nvidia.conf": "NVreg_EnableGpuFirmware=0"}
REPOS: t.Final = {"local.repo": "[local]"}


def params(driver: t.Any = None, **kinds: t.Any) -> t.Any:
    return some_params(namespace="gpu", driver=driver, driver_files=kinds)


def test_each_content_is_a_config_map_of_its_own() -> None:
    (one,) = files.config_maps(params(kernel_module_config=MODULES))
    object_name = one["metadata"]["name"]
    assert object_name.startswith("gpu-driver-kernel-module-config-")
    assert (one["data"], one["metadata"]["namespace"]) == (MODULES, "gpu")
    (same,) = files.config_maps(params(kernel_module_config=dict(MODULES)))
    (other,) = files.config_maps(params(kernel_module_config={"nvidia.conf": "NVreg_A=1"}))
    assert same["metadata"]["name"] == object_name != other["metadata"]["name"]
    assert files.config_maps(params(kernel_module_config={}, repo_config=None)) == []


def test_the_driver_names_them() -> None:
    given = params({"version": "595"}, kernel_module_config=MODULES, repo_config=REPOS)
    modules, repos = (one["metadata"]["name"] for one in files.config_maps(given))
    asked = manifest.asked(files.named(given))["driver"]
    assert asked == {
        "version": "595",
        "kernelModuleConfig": {"name": modules},
        "repoConfig": {"configMapName": repos},
    }
    assert files.named(params()) == params()


def test_what_no_pod_has_any_more_is_left_over() -> None:
    given = params(cert_config={"ca.pem": "A"})
    (now,) = files.config_maps(given)
    ours = {"app.kubernetes.io/managed-by": "accelerators.openshift"}
    live = [
        {"metadata": {"name": object_name, "labels": ours, "namespace": "gpu"}}
        for object_name in (now["metadata"]["name"], "before", "mounted")
    ]
    live.append({"metadata": {"name": "of-others", "namespace": "gpu"}})
    pod = {"spec": {"volumes": [{"configMap": {"name": "mounted"}}, {"emptyDir": {}}]}}
    assert files.left_over(given, live, [pod]) == ["before"]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (params(kernel_module_config={"a/b": "x"}), "driver_files.kernel_module_config has 'a/b'"),
        (params(kernel_module_config={"a": 1}), "its value the content as text"),
        (params({"cert_config": {"name": "mine"}}, cert_config={"a": "b"}), "both say which files"),
    ],
)
def test_files_that_cannot_be(given: t.Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        files.check(given)
