# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A bundle on a server in memory: no secret in any file, whatever is broken, and nothing of others lost."""

from __future__ import annotations

import json
import stat
import tarfile
import typing as t
from pathlib import Path

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer, status

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ApiError, InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._diagnosis import walk
from ansible_collections.accelerators.openshift.plugins.module_utils._gather import plan, steps
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds

Data = dict[str, t.Any]
CANARY: t.Final = "c4n4ryValue7"
JWT: t.Final = f"eyJhbGciOiJSUzI1NiJ9.eyJ{CANARY}.sig{CANARY}"
PEM: t.Final = f"-----BEGIN PRIVATE KEY-----\nMIIEvQ{CANARY}\nAAAA{CANARY}\n-----END PRIVATE KEY-----"
AUTHS: t.Final = json.dumps(
    {"auths": {"nvcr.io": {"username": "$oauthtoken", "auth": CANARY, "password": CANARY}}}
)
KUBECONFIG: t.Final = "\n".join(
    [
        "users:",
        "- user:",
        f"    token: {CANARY}",
        f"    client-key-data: {CANARY}",
        f"    password: '{CANARY} {CANARY}'",
    ]
)
DEVICE: t.Final = "GPU-01234567-89ab-cdef-0123-456789abcdef"
# What a program may say, each in a place where text stands.
SPOKEN: t.Final = (
    JWT,
    PEM,
    AUTHS,
    json.dumps(AUTHS),
    KUBECONFIG,
    f"Authorization: Bearer {CANARY}",
    f'curl -H "Authorization: Basic {CANARY}="',
    f"proxy http://user:{CANARY}@proxy.example.com:3128",
    f"--password {CANARY} --api-key={CANARY}",
    f"NGC_API_KEY=nvapi-{CANARY}",
    f"sha256~{CANARY}",
    f"the NGC password is {CANARY}",
    f"AAAA{CANARY}" + "Ab1/" * 12,
)
ROWS: t.Final = plan.rows("nvidia-gpu-operator")


class Cluster(FakeServer):
    """A server that prints tables, and has logs. forbidden: resources that may not be read.

    log_of: what a log is instead, by its path.
    """

    def __init__(self) -> None:
        every = {row.query.kind for row in ROWS} | {kinds.known(one) for one in ("Node", "Namespace")}
        super().__init__()
        self.served = {(kind.api_version, kind.plural): kind for kind in every}
        self.forbidden: t.Collection[str] = ()
        self.log = ""
        self.log_of: t.Callable[[str], Answer | None] = lambda _path: None
        self.request = self._ask

    def _ask(self, method: str, url: str, headers: t.Any = None, **more: t.Any) -> Answer:
        path = url.partition("?")[0]
        if path.endswith("/log"):
            self.requests.append((method, path, {}))
            return self.log_of(path) or Answer(200, self.log)
        if any(f"/{plural}" in path for plural in self.forbidden):
            return status(403, "Forbidden", f'{path} is forbidden: User "me" cannot list', "")
        answer = self.answer(method, url, headers=headers, **more)
        if "as=Table" not in (headers or {}).get("Accept", "") or answer.status != 200:
            return answer
        items = json.loads(answer.read())["items"]
        cells = [
            {"cells": [one["metadata"]["name"]], "object": {"metadata": one["metadata"]}} for one in items
        ]
        return Answer(200, {"columnDefinitions": [{"name": "Name"}], "rows": cells})


def pod(name: str, space: str = "nvidia-gpu-operator", *, broken: bool = True, **metadata: t.Any) -> Data:
    state = {"waiting": {"reason": "CrashLoopBackOff", "message": SPOKEN[5]}} if broken else {"running": {}}
    ended = {"terminated": {"exitCode": 1, "message": SPOKEN[8]}} if broken else {}
    container = {"name": "nvidia-driver-ctr", "ready": not broken, "state": state, "lastState": ended}
    variables = [{"name": "DB_PASS", "value": CANARY}, {"name": "ARGS", "value": SPOKEN[8]}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": space, **metadata},
        "spec": {
            "nodeName": "gpu-0",
            "containers": [{"name": "nvidia-driver-ctr", "image": "nvcr.io/driver", "env": variables}],
        },
        "status": {
            "phase": "Running",
            "conditions": [{"type": "Ready", "status": str(not broken)}],
            "containerStatuses": [{**container, "restartCount": 4}],
        },
    }


def an_object(row: plan.Row) -> Data:
    """Return an object of the kind with secrets wherever one may stand."""
    namespace, kind = row.query.namespace, row.query.kind
    applied = {"kubectl.kubernetes.io/last-applied-configuration": AUTHS, "note": JWT}
    metadata: Data = {"name": row.query.name or "one", "annotations": applied}
    metadata |= {"namespace": namespace} if namespace else {}
    if kind.kind == "Pod":
        return pod("driver-x", str(namespace), annotations=applied, labels={"app": "gpu-operator"})
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {**metadata, "managedFields": [{"manager": "m"}]},
        "message": SPOKEN[8],
        "involvedObject": {"kind": "Pod", "name": "driver-x"},
        "data": {".dockerconfigjson": CANARY, "config": KUBECONFIG, "ca.crt": PEM, "tls.key": PEM},
        "spec": {
            "version": "26.7.1",
            "texts": list(SPOKEN),
            "password": CANARY,
            **({"manifest": CANARY} if kind.kind == "InstallPlan" else {}),
            "install": {"env": [{"name": "NGC_KEY", "value": CANARY}]},
            "uuid": DEVICE,
            "serialNumber": "1563221012345",
        },
        "status": {"plan": [{"resource": {"kind": "Secret", "manifest": AUTHS}}], "conditions": []},
    }


def a_cluster() -> Cluster:
    cluster = Cluster()
    for row in ROWS:
        cluster.put(an_object(row))
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "gpu-0", "labels": {"nvidia.com/gpu.present": "true"}},
    }
    cluster.put({**node, "status": {"nodeInfo": {"systemUUID": CANARY, "machineID": CANARY}, "x": JWT}})
    cluster.log = "\n".join(
        [f"AAAA{CANARY}", "-----END RSA PRIVATE KEY-----", *SPOKEN, f"Serial Number : {CANARY}", DEVICE]
    )
    return cluster


def gather(cluster: Cluster, dest: Path, **given: t.Any) -> Data:
    plain: Data = {"path": str(dest), "pools": None, "namespace": None, "serials": "mask", "max_size_mib": 50}
    plain |= {"log_lines": 100, "since_hours": None, "wait": True, "wait_timeout": 60}
    return steps.ensure(api_on(cluster), t.cast(steps.GpuMustGatherParams, plain | given))


def files(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "look", lambda _api, _params: {"table": [f"seen: token {CANARY}"]})


@pytest.mark.usefixtures("silent")
def test_no_secret_of_any_kind_is_in_any_file(tmp_path: Path) -> None:
    found = gather(a_cluster(), tmp_path / "out")
    every = files(tmp_path / "out")
    assert [file for file, text in every.items() if CANARY in text] == []
    assert CANARY not in json.dumps(found)
    for row in ROWS:
        ending = "txt" if row.query.kind.kind == "Event" else "yaml"
        assert every[f"{row.file}.{ending}"], row
    assert not [file for file, text in every.items() if DEVICE in text or "1563221012345" in text]
    assert "GPU-(masked 1)" in every["cluster_policy.yaml"]
    assert found["unread"] == []


@pytest.mark.usefixtures("silent")
def test_serial_numbers_stay_on_request_and_secrets_do_not(tmp_path: Path) -> None:
    gather(a_cluster(), tmp_path / "out", serials="keep")
    every = files(tmp_path / "out")
    assert DEVICE in every["cluster_policy.yaml"]
    assert "1563221012345" in every["cluster_policy.yaml"]
    assert CANARY not in every["gpu_operand_pods.yaml"] + every["gpu_configmaps.yaml"]


@pytest.mark.usefixtures("silent")
def test_the_files_have_the_names_that_nvidia_knows(tmp_path: Path) -> None:
    cluster = a_cluster()
    cluster.put(pod("nvidia-driver-a", labels={}))
    cluster.put(pod("nvidia-driver-b", broken=False))
    gather(cluster, tmp_path / "out")
    every = files(tmp_path / "out")
    assert {
        *("version", "openshift_version.yaml", "cluster_policy.yaml", "nvidiadrivers.yaml"),
        *("all_machines.list", "gpu_nodes.labels", "gpu_nodes.status", "gpu_nodes.descr"),
        *(f"gpu_operator_pod.{one}" for one in ("status", "yaml", "log", "previous.log")),
        *("gpu_operand_pods.status", "gpu_operand_pods.yaml", "gpu_operand_pod_images.txt"),
        *(f"gpu_operand_pod_nvidia-driver-a.{one}" for one in ("log", "previous.log", "descr")),
        *("gpu_operand_ds.status", "gpu_operand_ds.yaml", "gpu_operand_ds_one.descr"),
    } <= set(every)
    assert (
        "[pod/nvidia-driver-a/nvidia-driver-ctr] Authorization: "
        in every["gpu_operand_pod_nvidia-driver-a.log"]
    )
    assert "oc exec -n nvidia-gpu-operator nvidia-driver-b -c nvidia-driver-ctr" in every["summary.txt"]


def test_a_cluster_without_anything_has_a_bundle(tmp_path: Path) -> None:
    cluster = FakeServer("Namespace")
    found = gather(t.cast(Cluster, cluster), tmp_path / "out")
    every = files(tmp_path / "out")
    assert "cluster_policy.missing" in every
    assert found["unread"] == []
    assert "clusterpolicies.nvidia.com" in json.loads(every["index.json"])["not_served"]
    assert "no driver pod that works is there" in every["summary.txt"]


def test_what_is_forbidden_or_fails_hides_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_api: t.Any, _params: t.Any) -> t.NoReturn:
        raise KeyError("walk", f"token={CANARY}")

    monkeypatch.setattr(walk, "look", broken)
    cluster = a_cluster()
    cluster.forbidden = ("clusterpolicies", "events", "clusterversions")
    found = gather(cluster, tmp_path / "out")
    every = files(tmp_path / "out")
    assert "There is no diagnosis: diagnosis: KeyError: ('walk', 'token=" in every["summary.txt"]
    assert any(note.startswith("clusterpolicies.nvidia.com: API-FORBIDDEN: ") for note in found["unread"])
    assert CANARY not in json.dumps([found, *every.values()])
    assert every["gpu_operand_pods.yaml"]
    assert every["nvidiadrivers.yaml"]


def test_a_cluster_that_does_not_answer_has_no_bundle(tmp_path: Path) -> None:
    cluster = a_cluster()
    cluster.request = lambda *_args, **_more: status(401, "Unauthorized", "Unauthorized")
    with pytest.raises(ApiError):
        gather(cluster, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.usefixtures("silent")
def test_files_and_logs_are_bounded_and_say_so(tmp_path: Path) -> None:
    cluster = a_cluster()
    cluster.log = "\n".join(f"line {number}" for number in range(500))
    for number in range(40):
        cluster.put(pod(f"p{number}", annotations={"long": "x" * 60_000}))
    gather(cluster, tmp_path / "out", max_size_mib=1)
    found = json.loads((tmp_path / "out/index.json").read_text())
    assert sum(path.stat().st_size for path in (tmp_path / "out").iterdir()) <= 1 << 20
    assert any(note.startswith("gpu_operand_pods.yaml: only its first") for note in found["cut"])
    assert any("only the last 100 lines of nvidia-driver-ctr" in note for note in found["cut"])
    asked = [path for _method, path, _query in cluster.requests if path.endswith("/log")]
    assert len(asked) <= 2 * 30 * 4


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("dest", ["deep/out", "out.tar.gz"])
def test_only_the_owner_can_read_it_and_the_next_one_replaces_it(tmp_path: Path, dest: str) -> None:
    for _time in range(2):
        gather(a_cluster(), tmp_path / dest)
        assert [path.name for path in (tmp_path / dest).parent.iterdir()] == [Path(dest).name]
    if dest.endswith("gz"):
        assert stat.S_IMODE((tmp_path / dest).stat().st_mode) == 0o600
        with tarfile.open(tmp_path / dest) as tar:
            assert {entry.name.partition("/")[0] for entry in tar.getmembers()} == {"out"}
            assert {entry.mode for entry in tar.getmembers()} == {0o600}
            assert tar.getnames()[0] == "out/index.json"
    else:
        assert stat.S_IMODE((tmp_path / dest).stat().st_mode) == 0o700
        assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / dest).iterdir()} == {0o600}


def with_notes(path: Path) -> None:
    gather(a_cluster(), path)
    (path / "my-notes.txt").write_text("mine")


def in_a_file(path: Path) -> None:
    path.parent.mkdir()
    path.write_text("mine")


def of_somebody(path: Path) -> None:
    path.mkdir(parents=True)
    (path / "index.json").write_text('{"tool": "theirs", "files": {}}')


@pytest.mark.usefixtures("silent")
@pytest.mark.parametrize("prepare", [with_notes, in_a_file, of_somebody])
def test_a_folder_of_somebody_else_stays_and_is_refused_before_the_first_request(
    tmp_path: Path, prepare: t.Callable[[Path], None]
) -> None:
    dest = tmp_path / "a" / "out"
    prepare(dest)
    before = sorted(str(path) for path in tmp_path.rglob("*"))
    cluster = a_cluster()
    with pytest.raises(InputError, match="No bundle can be written to") as caught:
        gather(cluster, dest)
    assert "gpu_gather_dir" in caught.value.remedy
    assert (cluster.requests, sorted(str(path) for path in tmp_path.rglob("*"))) == ([], before)


def test_check_mode_reads_and_writes_nothing(tmp_path: Path) -> None:
    cluster = a_cluster()
    api = api_on(cluster)
    api.check_mode = True
    params: Data = {"path": str(tmp_path / "out"), "pools": None}
    assert steps.ensure(api, t.cast(steps.GpuMustGatherParams, params))["summary"] == []
    assert (cluster.requests, list(tmp_path.iterdir()), len(api.changes)) == ([], [], 1)


@pytest.mark.usefixtures("silent")
def test_when_the_time_is_over_what_was_read_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cluster = a_cluster()
    api = api_on(cluster)
    monkeypatch.setattr(type(api.deadline), "passed", property(lambda _self: len(cluster.requests) > 20))
    plain: Data = {
        "path": str(tmp_path / "out"),
        "pools": None,
        "namespace": None,
        "serials": "mask",
        "max_size_mib": 50,
    }
    plain |= {"log_lines": 100, "since_hours": 2, "wait": True, "wait_timeout": 60}
    found = steps.ensure(api, t.cast(steps.GpuMustGatherParams, plain))
    assert len(cluster.requests) == 21
    assert "the time was over" in found["unread"][0]
    assert "cluster_policy.yaml" in files(tmp_path / "out")


@pytest.mark.usefixtures("silent")
def test_a_kubelet_that_does_not_answer_costs_one_log_and_not_the_bundle(tmp_path: Path) -> None:
    cluster = a_cluster()
    cluster.put({**pod("elsewhere"), "spec": {**pod("elsewhere")["spec"], "nodeName": "gpu-1"}})
    cluster.log_of = lambda path: (
        status(502, "BadGateway", "dial tcp: refused") if "/driver-x/" in path else None
    )
    found = gather(cluster, tmp_path / "out")
    asked = {path for _method, path, _query in cluster.requests if path.endswith("/log")}
    assert len([path for path in asked if "/driver-x/" in path]) == 1
    assert len([note for note in found["unread"] if note.startswith("log of ")]) == 1
    assert "gpu_operand_pod_elsewhere.log" in files(tmp_path / "out")
