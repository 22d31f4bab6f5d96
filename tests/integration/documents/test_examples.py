# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each file of examples/ is rendered, planned, checked, run twice and removed, on its kind of cluster."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml
from cluster import own
from integration.playbook import ROOT
from integration.scenarios.place import Place
from integration.troubles.demo import PATIENT, Demo
from integration.wire import Audit

Data = dict[str, t.Any]
STARTS_CLUSTERS: t.Final = True
OPERATOR: t.Final = "nvidia-gpu-operator"
WAVE: t.Final = "argocd.argoproj.io/sync-wave"
pytestmark = pytest.mark.long("each example, one after the other: test_requests.py runs examples/demo.yml")


@dataclass(frozen=True)
class Case:
    """What an example finds on a sandbox.

    labels: of nodes, by the name of the node. secrets: in the namespace of the operator, as its comment says.
    """

    scenario: str = "aws"
    labels: dict[str, dict[str, str]] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()


CASES: t.Final[dict[str, Case]] = {
    "azure.yml": Case("azure"),
    "gcp.yml": Case("gcp"),
    "baremetal.yml": Case("baremetal"),
    "existing-nodes.yml": Case("hosted"),
    "ibm.yml": Case("ibmcloud"),
    "nutanix.yml": Case("nutanix"),
    "openstack.yml": Case("openstack"),
    "vsphere.yml": Case("vsphere"),
    "vm-passthrough.yml": Case("virtual-machines"),
    "vm-vgpu.yml": Case(
        "virtual-machines", {"cuda-0": {"example.com/gpus": "vms"}}, ("vgpu-licence", "registry-example-com")
    ),
}
# Files that hold no pools, or whose whole life another test plays.
ELSEWHERE: t.Final = {
    "demo/walkthrough.yml": "a play: `make demo` runs it",
    "fpga.yml": "a play: test_custom.py runs it twice",
    "gpu_nodes.yml": "an inventory: test_lookups.py reads it",
    "infiniband.yml": "test_infiniband.py runs it twice and removes it",
    "macvlan.yml": "no scenario has adapters and one GPU on a node: test_chain.py runs such a network",
    "sriov-rdma.yml": "no scenario has Ethernet and eight GPUs on a node: test_chain.py runs such a network",
    "kueue.yml": "needs the real Kueue: test_real_kueue.py runs it",
}
FILES: t.Final = sorted(
    path.relative_to(ROOT / "examples").as_posix() for path in ROOT.glob("examples/**/*.yml")
)
RUN: t.Final = sorted(set(FILES) - set(ELSEWHERE), key=lambda name: (CASES.get(name, Case()).scenario, name))


@pytest.fixture(scope="module")
def place(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Place]:
    with own(request.param) as cluster:
        for namespace in ("team-a", "team-b"):
            metadata = {"name": namespace}
            cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": metadata})
        demo = Demo(tmp_path_factory.mktemp(request.param), cluster.kubeconfig)
        yield Place(cluster, demo, Audit(cluster.needs_sandbox().audit_log, cluster.client))


def prepare(place: Place, case: Case) -> None:
    for node, labels in case.labels.items():
        place.client.patch("v1", "nodes", node, None, {"metadata": {"labels": labels}})
    for secret in case.secrets:
        place.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": OPERATOR}})
        metadata = {"name": secret, "namespace": OPERATOR}
        files = {"gridd.conf": "FeatureType=4", "client_configuration_token.tok": "token"}
        made = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": files}
        place.client.apply(made)


each_example = pytest.mark.parametrize(
    ("place", "name"),
    [(CASES.get(name, Case()).scenario, name) for name in RUN],
    indirect=["place"],
    ids=RUN,
)


@each_example
def test_it_is_rendered_for_git(place: Place, name: str, tmp_path: Path) -> None:
    """Argo CD can apply the files: one object each, in order, listed, nothing secret, and the same again."""
    prepare(place, CASES.get(name, Case()))
    turns = []
    for _turn in range(2):
        assert place.writes(place.done("render", file=name, gpu_render_dir=str(tmp_path))) == []
        turns.append({path.name: path.read_text() for path in tmp_path.iterdir() if path.is_file()})
    assert turns[0] == turns[1]
    files = turns[1]
    readme = files.pop("README.md")
    waves: dict[str, int] = {}
    for file, text in files.items():
        (manifest,) = yaml.safe_load_all(text)
        metadata = manifest["metadata"]
        wave = waves[f"{manifest['kind']} {metadata['name']}"] = int(metadata["annotations"][WAVE])
        assert file.startswith(f"{wave:02}-")
        assert f"]({file})" in readme
        assert manifest["kind"] not in ("Secret", "Node")
    assert {wave for kind, wave in waves.items() if kind.startswith("Namespace ")} <= {0}
    assert readme.count(".yaml](") == len(files)


@each_example
def test_it_is_planned_made_kept_and_removed(place: Place, name: str) -> None:
    case = CASES.get(name, Case())
    prepare(place, case)
    given: Data = {"file": name, **PATIENT}
    for planned in (place.done("plan", **given), place.done("enable_gpus", "--check", **given)):
        assert place.writes(planned) == []
    assert place.done("enable_gpus", **given).changed
    again = place.done("enable_gpus", **given)
    assert (again.changed, place.writes(again)) == (0, [])
    assert place.done("remove_gpus", **given).changed
    for node, labels in case.labels.items():
        place.client.patch("v1", "nodes", node, None, {"metadata": {"labels": dict.fromkeys(labels)}})


def test_each_file_is_run_here_or_elsewhere() -> None:
    assert set(CASES) | set(ELSEWHERE) <= set(FILES)
