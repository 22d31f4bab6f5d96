"""The inventory of GPU nodes: hosts, groups, health, the cache, and text that looks like a template."""

from __future__ import annotations

import typing as t
from pathlib import Path

import pytest
from ansible import template
from ansible.errors import AnsibleParserError
from ansible.inventory.data import InventoryData
from ansible.parsing.dataloader import DataLoader

from ansible_collections.accelerators.openshift.plugins.inventory import gpu_nodes
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError

Data = dict[str, t.Any]
GPU: t.Final = "nvidia.com/gpu"
EVIL: t.Final = "{{ lookup('ansible.builtin.pipe', 'touch /tmp/evil') }}"


def trusted(text: str) -> str:
    """Return the text as Ansible reads it from the inventory's file. Releases before 2.19 mark nothing."""
    mark: t.Callable[[str], str] = getattr(template, "trust_as_template", str)
    return mark(text)


def node(name: str, gpus: int = 8, ready: str = "True", labels: dict[str, str] | None = None) -> Data:
    marks = {
        "accelerators.openshift/pool": "train-a",
        "topology.kubernetes.io/zone": "us-east-2a",
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
        "nvidia.com/cuda.driver-version.full": "580.95.05",
        "nvidia.com/mig.config": "all-1g.10gb",
        "nvidia.com/gpu.count": "8",
        **(labels or {}),
    }
    conditions = [{"type": "Ready", "status": ready, "message": EVIL}]
    return {
        "metadata": {"name": name, "labels": marks, "annotations": {"note": EVIL}, "managedFields": [{}]},
        "spec": {"providerID": "aws:///x"},
        "status": {
            "allocatable": {GPU: str(gpus), "cpu": "4"},
            "conditions": conditions,
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "images": [{}],
        },
    }


class FakeApi:
    """Holds lists by kind, and counts how often each was read."""

    def __init__(self, **objects: list[Data]) -> None:
        self.objects, self.reads = objects, list[str]()

    def list(self, kind: t.Any, keep: t.Any = None, **_query: t.Any) -> list[t.Any]:
        self.reads.append(kind.kind)
        found = self.objects.get(kind.kind, [])
        return found if keep is None else [kept for one in found if (kept := keep(one)) is not None]

    list_if_served = list


OPTIONS: t.Final = {"pool": None, "label_selector": None, "requested": False, "annotations": False}


def read(api: FakeApi, **options: t.Any) -> list[Data]:
    return gpu_nodes.read(api, {**OPTIONS, "address": "InternalIP", **options})  # type: ignore[arg-type]


def test_variables_of_a_host() -> None:
    api = FakeApi(Node=[node("n"), {"metadata": {"name": "worker"}, "status": {}}])
    ((host),) = read(api)
    found = host["variables"]
    assert (host["name"], api.reads) == ("n", ["Node"])
    assert found["node_labels"]["nvidia.com/gpu.count"] == "8"
    assert {key: found[key] for key in ("node_pool", "node_mig", "node_health", "node_faults")} == {
        "node_pool": "train-a",
        "node_mig": "all-1g.10gb",
        "node_health": "healthy",
        "node_faults": [],
    }
    assert (found["node_allocatable"], found["ansible_host"]) == ({GPU: 8}, "10.0.0.1")
    assert not {"node_requested", "node_annotations"} & found.keys()
    (without,) = read(api, address="none", annotations=True)
    assert "ansible_host" not in without["variables"]
    assert without["variables"]["node_annotations"] == {"note": EVIL}


def test_health() -> None:
    hosts = read(FakeApi(Node=[node("a", gpus=7), node("b", ready="Unknown"), node("c")]))
    assert [host["variables"]["node_health"] for host in hosts] == ["faulty", "not_ready", "healthy"]
    assert hosts[0]["variables"]["node_faults"] == ["7 of 8 nvidia.com/gpu are allocatable"]


def test_pods_are_read_only_if_asked() -> None:
    containers = [{"resources": {"limits": {GPU: "3"}}}]
    pods = [{"metadata": {"namespace": "team"}, "spec": {"nodeName": "n", "containers": containers}}]
    api = FakeApi(Node=[node("n")], Pod=pods)
    (host,) = read(api, requested=True)
    assert api.reads == ["Node", "Pod"]
    assert (host["variables"]["node_requested"], host["variables"]["node_free"]) == ({GPU: 3}, {GPU: 5})


def test_devices_that_slices_offer_are_no_fault() -> None:
    devices = [{"name": f"gpu-{number}", "attributes": {"type": {"string": "gpu"}}} for number in range(8)]
    pool = {"name": "n", "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": "n", "pool": pool, "devices": devices}
    (host,) = read(FakeApi(Node=[node("n", gpus=0)], ResourceSlice=[{"spec": spec}]))
    assert (host["variables"]["node_health"], host["variables"]["node_allocatable"]) == ("healthy", {GPU: 8})


class Inventory:
    """A plugin with options that are handed in, and the inventory that it fills."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: t.Any) -> None:
        self.plugin = gpu_nodes.InventoryModule()
        self.data = InventoryData()
        given: Data = {
            **OPTIONS,
            "address": "InternalIP",
            "create_groups": True,
            "strict": True,
            "cache": False,
        }
        given |= {"compose": {}, "groups": {}, "keyed_groups": [], "leading_separator": True, **options}
        monkeypatch.setattr(self.plugin, "_read_config_data", lambda _path: {})
        monkeypatch.setattr(self.plugin, "get_option", given.get)
        monkeypatch.setattr(self.plugin, "get_options", lambda: given)
        monkeypatch.setattr(self.plugin, "get_cache_key", lambda path: path)

    def parse(self, cache: bool = True) -> InventoryData:
        self.plugin.parse(self.data, DataLoader(), "x/gpu_nodes.yml", cache)
        return self.data


def answer(monkeypatch: pytest.MonkeyPatch, *nodes: Data) -> FakeApi:
    api = FakeApi(Node=list(nodes))
    monkeypatch.setattr(gpu_nodes, "look", lambda options: gpu_nodes.read(api, options))  # type: ignore[arg-type]
    return api


def test_groups(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(
        monkeypatch,
        node("n"),
        node("m", labels={"accelerators.openshift/pool": "b", "nvidia.com/mig.config": ""}),
    )
    groups = Inventory(monkeypatch).parse().get_groups_dict()
    assert {name: sorted(hosts) for name, hosts in groups.items() if name.startswith("gpu_")} == {
        "gpu_nodes": ["m", "n"],
        "gpu_pool_train_a": ["n"],
        "gpu_pool_b": ["m"],
        "gpu_model_NVIDIA_A100_SXM4_80GB": ["m", "n"],
        "gpu_driver_580_95_05": ["m", "n"],
        "gpu_mig_all_1g_10gb": ["n"],
        "gpu_health_healthy": ["m", "n"],
        "gpu_zone_us_east_2a": ["m", "n"],
    }
    only = Inventory(monkeypatch, create_groups=False).parse().get_groups_dict()
    assert [name for name in only if name.startswith("gpu_")] == ["gpu_nodes"]


def test_constructed_groups_and_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, node("n"))
    keyed = [{"key": trusted("node_labels['team']"), "prefix": "team"}]
    options: Data = {
        "compose": {"gpus": trusted("node_allocatable['nvidia.com/gpu'] | int")},
        "keyed_groups": keyed,
    }
    with pytest.raises(AnsibleParserError, match="team"):
        Inventory(monkeypatch, **options).parse()
    data = Inventory(
        monkeypatch, **options, strict=False, groups={"big": trusted("node_schedulable")}
    ).parse()
    assert str(data.get_host("n").vars["gpus"]) == "8"
    assert data.get_groups_dict()["big"] == ["n"]


def test_text_of_a_node_is_no_template(monkeypatch: pytest.MonkeyPatch) -> None:
    answer(monkeypatch, node("n", ready="False"))
    compose = {"copied": trusted("node_annotations['note']")}
    host = Inventory(monkeypatch, annotations=True, compose=compose).parse().get_host("n")
    (fault,) = host.vars["node_faults"]
    assert fault.endswith(EVIL)
    templar = template.Templar(loader=DataLoader(), variables=dict(host.vars))
    for value in (fault, host.vars["node_annotations"], host.vars["copied"]):
        assert templar.template(value) == value
    assert host.vars["copied"] == EVIL


def test_the_cache_spares_the_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    api = answer(monkeypatch, node("n"))
    inventory = Inventory(monkeypatch, cache=True)
    inventory.plugin._cache = kept = dict[str, t.Any]()
    for fresh, reads in ((True, 1), (True, 1), (False, 2)):
        inventory.parse(cache=fresh)
        assert len(api.reads) == reads
    assert len(kept) == 1
    other = Inventory(monkeypatch, cache=True, pool="b")
    other.plugin._cache = kept
    other.parse()
    assert (len(kept), len(api.reads)) == (2, 3)
    monkeypatch.setenv("K8S_AUTH_HOST", "https://elsewhere")
    inventory.parse()
    assert (len(kept), len(api.reads)) == (3, 4)


@pytest.mark.parametrize(
    ("name", "is_ours"),
    [("gpu_nodes.yml", True), ("a.gpu_nodes.yaml", True), ("nodes.yml", False), ("gpu_nodes.json", False)],
)
def test_names_of_files(tmp_path: Path, name: str, is_ours: bool) -> None:
    (tmp_path / name).write_text("")
    assert gpu_nodes.InventoryModule().verify_file(str(tmp_path / name)) is is_ours
    assert gpu_nodes.InventoryModule().verify_file(str(tmp_path / f"missing.{name}")) is False


def test_a_failure_has_its_code_and_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_options: Data) -> t.NoReturn:
        raise CredentialsError("CRED-NONE", "There are no credentials.", "Set kubeconfig.")

    monkeypatch.setattr(gpu_nodes, "look", refuse)
    with pytest.raises(AnsibleParserError, match=r"CRED-NONE.*Set kubeconfig") as caught:
        Inventory(monkeypatch).parse()
    assert caught.value.__suppress_context__
