"""The command `sandbox` for real: start, reuse, repair, trouble, two at once, nothing left after `down`."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import typing as t
from collections.abc import Iterator
from pathlib import Path

import pytest
from integration.patience import until

from openshift_sandbox import audit
from openshift_sandbox.client import ApiError, Client
from openshift_sandbox.processes import MARK
from openshift_sandbox.sandbox import Sandbox

STARTS_CLUSTERS: t.Final = True

UP_SECONDS = 60.0  # 20 on an idle machine; other tests may share the cores
CORE = [
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kwok",
    "oauth",
    "olm",
    "olm-catalog",
    "stand-ins",
]


def sandbox(*words: str, directory: Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "openshift_sandbox", *words, "--dir", str(directory)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=180, check=False)
    assert done.returncode == 0 or not check, done.stderr
    return done


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    directory = tmp_path_factory.mktemp("lifecycle") / "one"
    started = time.monotonic()
    try:
        sandbox("up", "--scenario", "aws", directory=directory)
        assert time.monotonic() - started < UP_SECONDS
        yield directory
    finally:
        sandbox("down", directory=directory)


@pytest.fixture(scope="module")
def client(directory: Path) -> Client:
    return Client(directory / "kubeconfig", "lifecycle-test")


def answers(client: Client) -> bool:
    try:
        return client.request("GET", "/readyz")[0] == 200
    except ApiError:
        return False


def of_directory(directory: Path) -> list[int]:
    """Return the pids of a sandbox's processes, found without the sandbox's own record."""
    mark, found = f"{MARK}={directory}".encode(), []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    return found


def test_the_scenarios_cluster_is_there(client: Client) -> None:
    assert len(client.list("v1", "nodes")) == 6
    machines = client.list("machine.openshift.io/v1beta1", "machines", "openshift-machine-api")
    assert {machine["status"]["phase"] for machine in machines} == {"Running"}
    version = client.get("config.openshift.io/v1", "clusterversions", "version")
    assert version is not None
    assert version["status"]["history"][0]["state"] == "Completed"
    served = {
        crd["spec"]["group"] for crd in client.list("apiextensions.k8s.io/v1", "customresourcedefinitions")
    }
    assert "operators.coreos.com" in served
    assert not served & {"nvidia.com", "nfd.openshift.io"}


def test_up_again_changes_nothing(directory: Path) -> None:
    before = {child.name: child.pid for child in Sandbox(directory).processes.all()}
    offset = audit.position(directory / "audit.log")
    done = sandbox("up", "--scenario", "aws", directory=directory)
    assert "runs already" in done.stderr
    assert {child.name: child.pid for child in Sandbox(directory).processes.all()} == before
    agents = {request.user_agent for request in audit.writes(audit.read(directory / "audit.log", offset))}
    assert not agents & {"sandbox", "cluster-bootstrap", "sandbox-olm"}


def test_another_scenario_is_refused_with_a_way_out(directory: Path) -> None:
    other = directory.parent / "other.yml"
    other.write_text("extends: aws\n")
    done = sandbox("up", "--scenario", str(other), directory=directory, check=False)
    assert done.returncode == 1
    assert "holds a sandbox of scenario aws, not other" in done.stderr
    assert "--fresh" in done.stderr


def test_the_restricted_identity_reads_and_writes_nothing(directory: Path) -> None:
    restricted = Client(directory / "kubeconfig-restricted")
    assert len(restricted.list("v1", "nodes")) == 6
    with pytest.raises(ApiError, match=r'403.*User "restricted" cannot create resource "namespaces"'):
        restricted.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}})
    with pytest.raises(ApiError, match='"secrets"'):
        restricted.list("v1", "secrets", "openshift-machine-api")


@pytest.mark.parametrize("victims", [["kube-apiserver"], CORE], ids="+".join)
def test_up_repairs_what_was_killed(directory: Path, client: Client, victims: list[str]) -> None:
    client.apply(
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "kept", "namespace": "default"},
            "data": {"victims": ",".join(victims)},
        }
    )
    one = Sandbox(directory)
    for name in victims:
        one.processes.signal(name, signal.SIGKILL)
    until(lambda: not any(one.processes.alive(name) for name in victims), "their end")
    sandbox("up", "--scenario", "aws", directory=directory)
    assert all(one.processes.alive(name) for name in CORE)
    kept = client.get("v1", "configmaps", "kept", "default")
    assert kept is not None
    assert kept["data"]["victims"] == ",".join(victims)
    assert sandbox("status", directory=directory).returncode == 0


@pytest.mark.parametrize("mode", [[], ["--hang"]], ids=["refused", "hanging"])
def test_the_api_goes_away_and_comes_back(directory: Path, client: Client, mode: list[str]) -> None:
    argv = [
        sys.executable,
        "-m",
        "openshift_sandbox",
        "fault",
        "api-down",
        "--seconds",
        "3",
        *mode,
        "--dir",
        str(directory),
    ]
    with subprocess.Popen(argv) as fault:
        apiserver = Sandbox(directory).processes.find("kube-apiserver")
        assert apiserver is not None
        until(lambda: apiserver.stopped or not apiserver.alive, "no API server")
        assert fault.wait(120) == 0
    assert answers(client)
    assert len(client.list("v1", "nodes")) == 6


def test_a_trouble_comes_and_goes(directory: Path) -> None:
    sandbox("fault", "add", "no_capacity", "zone=us-east-2a", directory=directory)
    assert Sandbox(directory).scenario.trouble("no_capacity", zone="us-east-2a")
    assert not Sandbox(directory).scenario.trouble("no_capacity", zone="us-east-2b")
    assert "zone=us-east-2a" in sandbox("fault", "list", directory=directory).stdout
    assert "1 troubles" in sandbox("fault", "clear", "no_capacity", directory=directory).stderr
    assert not Sandbox(directory).scenario.troubles


@pytest.mark.long("three workers of every run have a sandbox each")
def test_two_sandboxes_do_not_disturb_each_other(directory: Path, client: Client) -> None:
    second = directory.parent / "two"
    prepared = Sandbox(second)
    prepared.create()
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        # The port is taken already: Python reports that in other words than Go.
        prepared.state.set(ports={"oauth": stranger.getsockname()[1]})
        done = sandbox("up", "--scenario", "aws", directory=second)
    assert "oauth found its port taken: trying other ports" in done.stderr
    try:
        other = Client(second / "kubeconfig")
        other.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "only-here"}})
        assert client.get("v1", "namespaces", "only-here") is None
        assert not set(of_directory(directory)) & set(of_directory(second))
    finally:
        sandbox("down", directory=second)
    assert of_directory(second) == []
    assert not second.exists()
    assert sandbox("status", directory=directory).returncode == 0


def test_a_foreign_directory_is_not_touched(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("mine")
    done = sandbox("up", "--scenario", "aws", directory=tmp_path, check=False)
    assert done.returncode == 1
    assert "no sandbox's" in done.stderr
    sandbox("down", directory=tmp_path)
    assert os.listdir(tmp_path) == ["precious"]


def test_down_leaves_nothing_even_when_its_record_is_lost(directory: Path) -> None:
    (directory / "state.json").unlink()
    sandbox("down", directory=directory)
    assert of_directory(directory) == []
    assert not directory.exists()
