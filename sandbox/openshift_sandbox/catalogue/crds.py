# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""CRDs: collected from Go modules at build time, completed by our own, loaded when a sandbox starts."""

from __future__ import annotations

import functools
import json
import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.go.modules import CRD_SETS
from openshift_sandbox.sandbox import BUILD, SOURCES, SandboxError

Crd = dict[str, t.Any]

OWN: t.Final = SOURCES / "crds"
COLLECTED: t.Final = BUILD / "crds"
CRD_VERSION: t.Final = "apiextensions.k8s.io/v1"
ESTABLISH_SECONDS: t.Final = 60.0
TECH_PREVIEW: t.Final = "TechPreviewNoUpgrade"


def collect(folders: t.Mapping[str, Path], target: Path = COLLECTED) -> None:
    """Write one JSON file per set, without descriptions.

    It loads faster, and the apiserver publishes less.
    """
    target.mkdir(parents=True, exist_ok=True)
    for name, files in CRD_SETS.items():
        found = [crd for module, path in files for crd in read(folders[module] / path)]
        (target / f"{name}.json").write_text(json.dumps([_slim(crd) for crd in found]))


def platform_crds(absent_groups: t.Collection[str] = (), feature_set: str = "") -> list[Crd]:
    """Return the CRDs that `up` loads, without the API groups that the cluster does not have.

    A feature set of the scenario adds its fields.
    """
    found = {crd["metadata"]["name"]: crd for crd in (*_collected("platform"), *_own("platform"))}
    if feature_set == TECH_PREVIEW:
        found |= {crd["metadata"]["name"]: crd for crd in _collected("tech-preview")}
    return [crd for crd in found.values() if crd["spec"]["group"] not in absent_groups]


def operator_crds(package: str) -> list[Crd]:
    """Return the CRDs in the bundle of an operator. Our own file of a CRD replaces the module's."""
    own = _own(f"operators/{package}")
    names = {crd["metadata"]["name"] for crd in own}
    collected = _collected(package) if package in CRD_SETS else []
    return [*own, *(overlaid(crd) for crd in collected if crd["metadata"]["name"] not in names)]


def upstream_crds(package: str) -> list[Crd]:
    """Return the CRDs of a module as upstream's chart brings them, without OpenShift's changes."""
    return _collected(package)


def kueue_crds() -> list[Crd]:
    """Return the CRDs that Kueue's operator applies when its own object exists."""
    return _own("kueue")


def nv_ipam_crds() -> list[Crd]:
    """Return the CRDs that the network operator applies when a policy wants NV-IPAM."""
    return _own("nv-ipam")


def nmstate_crds() -> list[Crd]:
    """Return the CRD in which NMState says what the network of a node is."""
    return _own("nmstate")


def openshift_ai_crds() -> list[Crd]:
    """Return the CRDs of OpenShift AI that say where it is and what its users may choose."""
    return _own("openshift-ai")


def maintenance_crds() -> list[Crd]:
    """Return the CRDs of NVIDIA's maintenance operator, which only a Helm chart brings."""
    return _own("maintenance-operator")


def compute_domain_crds() -> list[Crd]:
    """Return the CRD that NVIDIA's DRA driver brings for its compute domains."""
    return _own("compute-domains")


def kubevirt_crds() -> list[Crd]:
    """Return the CRDs that OpenShift Virtualization brings when its own object exists."""
    return _own("kubevirt")


def cert_manager_crds() -> list[Crd]:
    """Return the CRDs of cert-manager that other operators look for."""
    return _own("cert-manager")


def overlaid(crd: Crd) -> Crd:
    """Return a CRD together with the fields that a newer release of its operator has."""
    path = OWN / "overlays" / f"{crd['metadata']['name']}.yml"
    if not path.exists():
        return crd
    (overlay,) = read(path)
    crd = t.cast(Crd, json.loads(json.dumps(crd)))
    for version in crd["spec"]["versions"]:
        schema = version["schema"]["openAPIV3Schema"]
        for where, properties in overlay.get("add", {}).items():
            _at(schema, where).setdefault("properties", {}).update(properties)
        for where, keys in overlay.get("replace", {}).items():
            node = _at(schema, where)
            node.update(keys)
            for key in [key for key, value in keys.items() if value is None]:
                del node[key]
    return crd


def load(client: Client, crds: t.Sequence[Crd]) -> None:
    """Apply all CRDs in parallel; return when every one is Established. Raises SandboxError."""
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda crd: _apply(client, crd), crds))
    wanted = {crd["metadata"]["name"] for crd in crds}
    deadline = time.monotonic() + ESTABLISH_SECONDS
    while missing := wanted - _established(client):
        if time.monotonic() > deadline:
            raise SandboxError(
                f"CRDs not established after {ESTABLISH_SECONDS:.0f} s: {', '.join(sorted(missing))}"
            )
        time.sleep(0.1)


@functools.cache
def read(path: Path) -> list[Crd]:
    """Return the objects in a YAML file. Nobody may change them: a process reads each file once."""
    return [
        document
        for document in yaml.load_all(path.read_text(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if document
    ]


def _apply(client: Client, crd: Crd) -> None:
    try:
        client.checked(
            "PATCH",
            f"/apis/{CRD_VERSION}/customresourcedefinitions/{crd['metadata']['name']}",
            crd,
            "application/apply-patch+yaml",
            _QUERY,
        )
    except ApiError as error:
        raise SandboxError(f"CRD {crd['metadata']['name']}: {error}") from error


def _established(client: Client) -> set[str]:
    return {
        crd["metadata"]["name"]
        for crd in client.list(CRD_VERSION, "customresourcedefinitions")
        if any(
            one["type"] == "Established" and one["status"] == "True"
            for one in crd.get("status", {}).get("conditions") or []
        )
    }


def _collected(name: str) -> list[Crd]:
    path = COLLECTED / f"{name}.json"
    if not path.exists():
        raise SandboxError(f"{path} is missing: run `sandbox build`")
    return t.cast("list[Crd]", json.loads(path.read_text()))


def _own(name: str) -> list[Crd]:
    return [crd for path in sorted((OWN / name).glob("*.yml")) for crd in read(path)]


def _at(schema: Crd, where: str) -> Crd:
    for name in where.split("."):
        schema = schema["properties"][name]
    return schema


def _slim(node: t.Any) -> t.Any:
    if isinstance(node, dict):
        return {
            key: _slim(value)
            for key, value in node.items()
            if not (key == "description" and isinstance(value, str))
        }
    return [_slim(item) for item in node] if isinstance(node, list) else node


_QUERY: t.Final = {"fieldManager": "sandbox", "force": "true"}
