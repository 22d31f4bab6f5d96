"""KMM's webhook: which Modules it refuses, and when it is there."""

from __future__ import annotations

import copy
import typing as t
from pathlib import Path

import pytest
from unit.sandbox.fake_api import World
from unit.sandbox.webhooks import registered, served

from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.webhook import CONFIGURATION, KmmWebhook, review

Object = dict[str, t.Any]
MAPPING = {"regexp": "^5", "containerImage": "quay.io/acme/card:1"}
VERSIONS = "cannot update to or from an empty version; please delete the Module and create it again"


def module(name: str = "card", **loader: t.Any) -> Object:
    container = {"modprobe": {"moduleName": "card"}, "kernelMappings": [MAPPING]} | loader
    return {
        "metadata": {"name": name, "namespace": "openshift-kmm"},
        "spec": {"selector": {"card": "true"}, "moduleLoader": {"container": container}},
    }


def with_volume(path: str) -> Object:
    made = module()
    made["spec"]["devicePlugin"] = {"volumes": [{"name": "a"}, {"name": "b", "hostPath": {"path": path}}]}
    return made


def said(new: Object, old: Object | None = None) -> str:
    denial = review({"object": new, "oldObject": old})
    return denial.message if denial else ""


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (module(), module(version="1"), VERSIONS),
        (module(version="1"), module(), VERSIONS),
        (module(version="1"), module(version="2"), ""),
        (module(), module(), ""),
    ],
)
def test_a_version_is_neither_added_nor_removed(old: Object, new: Object, text: str) -> None:
    assert said(new, old) == text


def test_a_name_that_is_too_long_is_refused_also_without_a_version() -> None:
    assert said(module("c" * 27)) == ""
    assert said(module("c" * 28)) == (
        "module name and namespace have a combined length of 41 characters, which exceeds the maximum of 40 "
        "when version is set"
    )


@pytest.mark.parametrize("path", ["/dev", "/sys/class", "/var/lib/kubelet/device-plugins", "/opt/x"])
def test_a_device_plugin_may_mount_these_paths(path: str) -> None:
    assert said(with_volume(path)) == ""


@pytest.mark.parametrize("path", ["/", "/etc", "/devices", "/dev/../etc"])
def test_a_device_plugin_may_not_mount_others(path: str) -> None:
    assert said(with_volume(path)) == (
        f'failed to validate device plugin volumes: spec.devicePlugin.volumes[1]: hostPath "{path}" is not '
        "allowed; only /dev, /sys, /var and /opt paths are permitted"
    )


@pytest.mark.parametrize(
    ("loader", "text"),
    [
        (
            {"kernelMappings": [{"containerImage": "i:1"}]},
            "regexp or literal must be set at kernelMappings[0]",
        ),
        ({"kernelMappings": [MAPPING | {"literal": "5"}]}, "regexp and literal are mutually exclusive"),
        ({"kernelMappings": [MAPPING | {"regexp": "("}]}, "invalid regexp at index 0"),
        ({"kernelMappings": [{"literal": "5"}]}, "missing spec.moduleLoader.container.kernelMappings[0]"),
        (
            {"kernelMappings": [MAPPING | {"containerImage": "i"}]},
            "must explicitely set a tag or digest; got: i",
        ),
        ({"containerImage": "i"}, "must explicitely set a tag or digest; got: i"),
        ({"modprobe": {}}, "load and unload rawArgs must be set when moduleName is unset"),
        (
            {"modprobe": {"moduleName": "a", "rawArgs": {"load": ["a"], "unload": ["a"]}}},
            "rawArgs cannot be set when moduleName is set",
        ),
        (
            {"modprobe": {"moduleName": "a", "modulesLoadingOrder": ["a"]}},
            "at least two values must be defined",
        ),
        (
            {"modprobe": {"moduleName": "a", "modulesLoadingOrder": ["b", "a"]}},
            "the first element must be moduleName",
        ),
        (
            {"modprobe": {"moduleName": "a", "modulesLoadingOrder": ["a", "b", "b"]}},
            '"b": duplicate value in the loading order list',
        ),
        (
            {
                "modprobe": {
                    "rawArgs": {"load": ["a"], "unload": ["a"]},
                    "modulesLoadingOrder": ["a", "b"],
                }
            },
            "moduleName must be set",
        ),
    ],
)
def test_what_the_loader_needs(loader: Object, text: str) -> None:
    assert text in said(module(**loader))


def test_a_module_without_a_loader_passes() -> None:
    bare = module()
    del bare["spec"]["moduleLoader"]
    assert said(bare, module(version="1")) == ""


def test_the_webhook_comes_and_goes_with_the_operator(tmp_path: Path) -> None:
    world = World(KmmWebhook(), directory=served(tmp_path))
    world.settle(1)
    assert world.api.all("ValidatingWebhookConfiguration") == []
    metadata = {"name": modules.OPERATOR, "namespace": "openshift-kmm"}
    world.api.create({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": copy.copy(metadata)})
    world.settle(1)
    webhook = registered(world, CONFIGURATION)
    assert (webhook["name"], webhook["failurePolicy"]) == ("vmodule.kb.io", "Fail")
    assert webhook["rules"][0]["operations"] == ["CREATE", "UPDATE"]
    world.cluster.delete("Deployment", modules.OPERATOR, "openshift-kmm")
    world.settle(1)
    assert world.api.all("ValidatingWebhookConfiguration") == []
