"""Our own CRDs have the paths, types, enums, required fields and scope of reference CRDs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from openshift_sandbox.catalogue.crds import OWN, overlaid, read

Schema = dict[str, Any]

REFERENCE = Path(__file__).resolve().parents[5] / "shared/crds"
OVERLAYS = sorted(path.stem for path in (OWN / "overlays").glob("*.yml"))


def versions(crd: Schema) -> dict[str, Schema]:
    return {version["name"]: version["schema"]["openAPIV3Schema"] for version in crd["spec"]["versions"]}


def walk(schema: Schema, path: str = "") -> Iterator[tuple[str, tuple[Any, ...]]]:
    kind = "int-or-string" if schema.get("x-kubernetes-int-or-string") else schema.get("type")
    yield (
        path,
        (
            kind,
            tuple(sorted(map(str, schema.get("enum") or ()))),
            tuple(sorted(schema.get("required") or ())),
        ),
    )
    for name, child in (schema.get("properties") or {}).items():
        yield from walk(child, f"{path}.{name}")
    for key, mark in (("items", "[]"), ("additionalProperties", "{}")):
        if isinstance(schema.get(key), dict):
            yield from walk(schema[key], path + mark)


def differences(ours: Schema, theirs: Schema) -> list[str]:
    """Return the paths of ours that the reference lacks, or has with another schema."""
    reference = dict(walk(theirs))
    found = []
    for path, (kind, enum, required) in walk(ours):
        if path not in reference:
            found.append(f"{path} is not there")
        elif (kind, enum, required) != reference[path]:
            found.append(f"{path}: ours {(kind, enum, required)}, reference {reference[path]}")
    return found


@pytest.fixture(scope="module")
def references() -> dict[str, Schema]:
    if not REFERENCE.is_dir():
        pytest.skip(f"no reference CRDs at {REFERENCE}")
    return {
        crd["metadata"]["name"]: crd
        for path in sorted(REFERENCE.glob("*.yaml"))
        for crd in read(path)
        if crd.get("kind") == "CustomResourceDefinition"
    }


@pytest.mark.parametrize(
    "path",
    [path for path in sorted(OWN.rglob("*.yml")) if path.parent.name != "overlays"],
    ids=lambda path: path.stem,
)
def test_ours_agree(path: Path, references: dict[str, Schema]) -> None:
    for crd in read(path):
        reference = references.get(crd["metadata"]["name"])
        if reference is None:
            pytest.skip(f"no reference of {crd['metadata']['name']}")
        assert crd["spec"]["scope"] == reference["spec"]["scope"]
        assert {key: crd["spec"]["names"][key] for key in ("kind", "plural")} == {
            key: reference["spec"]["names"][key] for key in ("kind", "plural")
        }
        for version, schema in versions(crd).items():
            assert differences(schema, versions(reference)[version]) == []


@pytest.mark.parametrize("name", OVERLAYS)
def test_overlays_agree(name: str, references: dict[str, Schema]) -> None:
    overlay = yaml.safe_load((OWN / "overlays" / f"{name}.yml").read_text())
    for theirs in versions(references[name]).values():
        for where, properties in overlay["add"].items():
            schema = theirs
            for step in where.split("."):
                schema = schema["properties"][step]
            wanted = {"type": "object", "properties": properties, "required": schema.get("required")}
            assert differences(wanted, schema) == []


def test_an_overlay_adds_replaces_and_removes() -> None:
    crd = {
        "metadata": {"name": "clusterpolicies.nvidia.com"},
        "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": _policy()}}]},
    }
    operator = versions(overlaid(crd))["v1"]["properties"]["spec"]["properties"]["operator"]
    assert "required" not in operator
    assert operator["properties"]["defaultRuntime"] == {"type": "string"}
    assert operator["properties"]["metrics"]["properties"]["serviceMonitor"]["type"] == "object"
    assert "metrics" not in versions(crd)["v1"]["properties"]["spec"]["properties"]["operator"]["properties"]


DEFAULTS = {
    "clusterpolicies.nvidia.com": {
        "spec.cdi.nriPluginEnabled": False,
        "spec.hostPaths.kubeletRootDir": "/var/lib/kubelet",
        "spec.sandboxWorkloads.mode": "kubevirt",
    },
    "nvidiadrivers.nvidia.com": {
        "spec.default": False,
        "spec.upgradePolicy.autoUpgrade": True,
        "spec.upgradePolicy.maxParallelUpgrades": 1,
        "spec.upgradePolicy.maxUnavailable": "25%",
        "spec.upgradePolicy.podDeletion.force": False,
        "spec.upgradePolicy.podDeletion.deleteEmptyDir": False,
        "spec.upgradePolicy.podDeletion.timeoutSeconds": 300,
        "spec.upgradePolicy.drain.enable": False,
        "spec.upgradePolicy.drain.force": False,
        "spec.upgradePolicy.drain.deleteEmptyDir": False,
        "spec.upgradePolicy.drain.timeoutSeconds": 300,
        "spec.upgradePolicy.waitForCompletion.timeoutSeconds": 0,
    },
}


def defaults(schema: Schema, path: str = "") -> dict[str, Any]:
    found = {path.removeprefix("."): schema["default"]} if "default" in schema else {}
    for name, child in (schema.get("properties") or {}).items():
        found |= defaults(child, f"{path}.{name}")
    return found


@pytest.mark.parametrize("name", OVERLAYS)
def test_an_overlay_has_the_defaults_of_26_7(name: str, references: dict[str, Schema]) -> None:
    overlay = yaml.safe_load((OWN / "overlays" / f"{name}.yml").read_text())
    found: dict[str, Any] = {}
    for where, properties in overlay["add"].items():
        found |= defaults({"properties": properties}, where)
    assert found == DEFAULTS[name]
    for theirs in versions(references[name]).values():
        assert found.items() <= defaults(theirs).items()


def test_the_config_of_the_mig_manager_has_no_default_name() -> None:
    schema = _policy()
    name = schema["properties"]["spec"]["properties"]["migManager"]["properties"]["config"]["properties"][
        "name"
    ]
    name["default"] = "default-mig-parted-config"
    crd = {
        "metadata": {"name": "clusterpolicies.nvidia.com"},
        "spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]},
    }
    assert "spec.migManager.config.name" not in defaults(versions(overlaid(crd))["v1"])


def _policy() -> Schema:
    overlay = yaml.safe_load((OWN / "overlays/clusterpolicies.nvidia.com.yml").read_text())
    root: Schema = {"type": "object", "properties": {}}
    for where in [*overlay["add"], *overlay["replace"]]:
        schema = root
        for step in where.split("."):
            schema = schema.setdefault("properties", {}).setdefault(step, {"type": "object"})
    operator = root["properties"]["spec"]["properties"]["operator"]
    operator["required"] = ["defaultRuntime"]
    operator["properties"]["defaultRuntime"] = {"type": "string", "enum": ["docker"], "default": "docker"}
    return root
