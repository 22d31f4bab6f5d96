# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_must_gather: read what the plan says, and write the files. A failed part hides no other."""

from __future__ import annotations

import contextlib
import datetime
import functools
import json
import os
import secrets as random
import shutil
import tarfile
import time
import typing as t
from io import BytesIO
from pathlib import Path

from .._core.errors import AcceleratorError, ForbiddenError, InputError, KindNotServedError
from .._core.objects import KubeObject, name
from .._diagnosis import options, seen as reads, walk
from .._frame.argspec import WaitParams
from .._kube import reads as api_reads
from .._kube.client import Api, Query
from .._kube.kinds import by_name, known
from .._kube.session import Change
from .._nodes.labels import labels
from .._nodes.pool_nodes import check_pools
from .._queue import served
from .._stack.operands import pod_is_ready
from .._stack.params import StackPool
from . import plan, summary
from .bundle import INDEX, TOOL, Bundle, event_lines, table
from .redaction import Redactor

# Seconds that a request is tried again here: a part of the API that is down must not take all the time.
_OUTAGE: t.Final = 10.0
_MOST_OUTAGES: t.Final = 3
# The same for a log, which a kubelet has.
_SILENCE: t.Final = 2.0
_TABLE: t.Final = "application/json;as=Table;v=v1;g=meta.k8s.io"
_SHOWN: t.Final = {"Pod": "status", "DaemonSet": "status", "Machine": "list", "Node": "status"}
_PENDING: t.Final = Query(known("Pod"), fields="status.phase=Pending")
_OF_NODES: t.Final = Query(known("Event"), "default", fields="involvedObject.kind=Node")


class GpuMustGatherParams(WaitParams):
    """The options of gpu_must_gather. max_size_mib: of all files. log_lines: of each log."""

    path: str
    pools: list[StackPool] | None
    namespace: str | None
    serials: t.Literal["keep", "mask"]
    max_size_mib: int
    log_lines: int
    since_hours: int | None


def ensure(api: Api, params: GpuMustGatherParams) -> dict[str, t.Any]:
    """Write a bundle, and return where it is and what it lacks. An InputError comes before any request."""
    check_pools(params["pools"] or [])
    path = _checked(params["path"])
    api.changes.append(Change(f"File {path}", {}, {"path": str(path)}))
    if api.check_mode:
        return {"path": str(path), "unread": [], "summary": []}
    api.http.limits = api.http.limits._replace(outage=_OUTAGE)
    bundle = Bundle(Redactor(params["serials"] == "keep"), max(1, params["max_size_mib"]) << 20)
    with contextlib.suppress(ForbiddenError, KindNotServedError):
        # Without an answer there is no bundle.
        api.get(known("ClusterVersion"), "version")
    gatherer = Gatherer(api, bundle, params)
    told = gatherer.diagnosed()
    gatherer.read_lists()
    gatherer.read_nodes()
    gatherer.read_logs()
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    lines = bundle.end(summary.lines(told, bundle, gatherer.pods, now), now)
    _write(path, bundle.files)
    return {"path": str(path), "unread": bundle.unread, "summary": lines}


class Gatherer:
    """What reads for a bundle. pods: place -> the pods of its namespace."""

    def __init__(self, api: Api, bundle: Bundle, params: GpuMustGatherParams) -> None:
        self._api, self._bundle, self._params = api, bundle, params
        self.pods: dict[str, list[KubeObject]] = {}
        self._events: dict[str, list[KubeObject]] = {}
        self._outages = 0
        self._silent: set[str] = set()

    def diagnosed(self) -> list[str]:
        """Return the lines of a diagnosis, or why there is none."""
        pools, namespace = self._params["pools"], self._params["namespace"]
        given = options.GpuDiagnoseParams(pools=pools, namespace=namespace, pod="", wait=True, wait_timeout=1)
        look = self._try("diagnosis", lambda: walk.look(self._api, given))
        return look["table"] if look else [f"There is no diagnosis: {self._bundle.unread[-1]}"]

    def _try(self, what: str, read: t.Callable[[], t.Any]) -> t.Any:
        """Return what a step returns; None, with a note, if it fails or if the time is over."""
        if self._api.deadline.passed or self._outages == _MOST_OUTAGES:
            self._bundle.unread.append(f"{what}: the time was over, or the cluster had stopped answering")
            return None
        try:
            return read()
        except KindNotServedError:
            self._bundle.not_served.append(what)
        except AcceleratorError as why:
            self._outages += why.code == "API-UNREACHABLE"
            self._bundle.unread.append(f"{what}: {why.code}: {why.message}")
        except Exception as why:
            self._bundle.unread.append(f"{what}: {type(why).__name__}: {why}")
        return None

    def _ask(self, query: Query, most: int, accept: str = "application/json") -> KubeObject:
        """Return the answer to a list: one request, and at most so many objects."""
        fields = by_name(query.name) if query.name else query.fields
        asked = {"limit": most, "labelSelector": query.labels, "fieldSelector": fields}
        path, given = query.kind.path(query.namespace), {key: value for key, value in asked.items() if value}
        answer = self._api.http.request("GET", path, given, accept=accept)
        if answer.status != 200:
            raise api_reads.error(answer, "GET", path, query.kind, None, query.namespace)
        return t.cast(KubeObject, answer.body)

    def _list(self, query: Query, most: int = plan.MOST) -> list[KubeObject]:
        what = " ".join(filter(None, (query.kind.resource, *query[1:])))
        body = self._try(what, functools.partial(self._ask, query, most)) or {}
        if (body.get("metadata") or {}).get("continue"):
            self._bundle.cut.append(f"{what}: only {most} objects were read")
        kind = {"apiVersion": query.kind.api_version, "kind": query.kind.kind}
        return [{**kind, **live} for live in body.get("items") or ()]

    def _show(self, file: str, query: Query, most: int = plan.MOST) -> None:
        """Add the table of a list, as the server prints it."""
        self._try(file, lambda: self._bundle.add(file, table(self._ask(query, most, _TABLE))))

    def read_lists(self) -> None:
        """Read every list of the plan, and put it into its files."""
        kueue = self._try("kueue.x-k8s.io", lambda: served.kinds(self._api))
        kinds = [kueue.cluster_queue, kueue.local_queue, kueue.flavor, kueue.workload] if kueue else []
        for row in plan.rows(self._params["namespace"] or reads.GPU, kinds):
            is_first = row.query.kind.kind in ("Subscription", "Pod")
            if is_first or row.place not in plan.OPTIONAL or self.pods.get(row.place):
                found = self._list(row.query, row.most)
                self._try(row.file, lambda row=row, found=found: self._put(row, found))  # type: ignore[misc]
        self._show("pending_pods.status", _PENDING)

    def _put(self, row: plan.Row, found: list[KubeObject]) -> None:
        bundle, kind = self._bundle, row.query.kind.kind
        if kind == "Event":
            self._events[row.place] = found
            if found:
                bundle.add(f"{row.file}.txt", event_lines(found))
            return
        if kind == "Pod":
            self.pods[row.place] = found = sorted(found, key=plan.is_broken, reverse=True)
        if found:
            bundle.add_objects(f"{row.file}.yaml", found)
            if kind in _SHOWN:
                self._show(f"{row.file}.{_SHOWN[kind]}", row.query, row.most)
        if row.file == "cluster_policy" and not found:
            bundle.add("cluster_policy.missing", [])
        for live in found[:50] if kind == "DaemonSet" else ():
            self._describe(f"{row.file}_{name(live)}.descr", row.place, live)
        if row.place == plan.GPU and kind == "ClusterServiceVersion":
            versions = [str(csv["spec"]["version"]) for csv in found if name(csv).startswith("gpu-operator")]
            bundle.add("version", ["NVIDIA GPU Operator", *(versions or ["N/A"])])

    def _describe(self, file: str, place: str, live: KubeObject) -> None:
        events = self._events.get(place, [])
        own = [event for event in events if (event.get("involvedObject") or {}).get("name") == name(live)]
        self._bundle.add_objects(file, [live], ["Events:", *event_lines(own)])

    def read_nodes(self) -> None:
        """Read the GPU nodes, those that are not Ready first."""
        selectors = reads.node_selectors(self._params["pools"] or [])
        lists = [self._list(Query(known("Node"), labels=selector)) for selector in selectors]
        nodes = sorted({name(node): node for found in lists for node in found}.values(), key=pod_is_ready)
        if nodes:
            marks = (
                (name(node), *(f"- {key}={value}" for key, value in labels(node).items())) for node in nodes
            )
            self._bundle.add("gpu_nodes.labels", (line for lines in marks for line in (*lines, "")))
            self._bundle.add_objects("gpu_nodes.descr", nodes, event_lines(self._list(_OF_NODES, 2000)))
            _number, widest = max(
                (len(found), selector) for selector, found in zip(selectors, lists, strict=True)
            )
            self._show("gpu_nodes.status", Query(known("Node"), labels=widest))

    def read_logs(self) -> None:
        """Read the logs of pods, those of broken pods first, and describe these pods."""
        for place, pods in self.pods.items():
            operator = [pod for pod in pods if labels(pod).get("app") == "gpu-operator"]
            if operator:
                own = Query(known("Pod"), operator[0]["metadata"]["namespace"], labels="app=gpu-operator")
                self._show("gpu_operator_pod.status", own)
                self._bundle.add_objects("gpu_operator_pod.yaml", operator)
            if place == plan.GPU:
                images = (" ".join(str(part["image"]) for part in pod["spec"]["containers"]) for pod in pods)
                lines = (f"{name(pod)}:\t{every}" for pod, every in zip(pods, images, strict=True))
                self._bundle.add("gpu_operand_pod_images.txt", lines)
            for pod in plan.worth_reading(pods):
                stem = f"{plan.operand(place)}_pod_{name(pod)}"
                self._describe(f"{stem}.descr", place, pod)
                self._read_logs_of("gpu_operator_pod" if pod in operator[:1] else stem, pod)

    def _read_logs_of(self, stem: str, pod: KubeObject) -> None:
        most, since = max(1, self._params["log_lines"]), self._params["since_hours"]
        files: dict[str, list[str]] = {}
        node = str(pod["spec"].get("nodeName"))
        for container, is_last in plan.logs_of(pod):
            if node in self._silent:
                break
            where = (pod["metadata"]["namespace"], name(pod), container)
            seconds = since * 3600 if since and not is_last else None
            read = functools.partial(self._api.log, *where, most, is_last, _SILENCE, seconds)
            outages, self._outages = self._outages, 0
            log = self._try(f"log of {'/'.join(where)}", read) or ""
            # The kubelet of this node does not answer; the cluster does.
            self._silent |= {node} if self._outages else set()
            self._outages = outages
            lines = self._bundle.redact.without_keys(log).splitlines()
            file = f"{stem}.previous.log" if is_last else f"{stem}.log"
            files.setdefault(file, []).extend(f"[pod/{name(pod)}/{container}] {line}" for line in lines)
            if len(lines) >= most:
                self._bundle.cut.append(f"{file}: only the last {most} lines of {container} are here")
        for file, every in files.items():
            self._bundle.add(file, every)


def _checked(dest: str) -> Path:
    """Return where the bundle goes. Raises InputError if it cannot be written, or is of somebody else."""
    path = Path(os.path.realpath(os.path.expanduser(dest)))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fault = "" if os.access(path.parent, os.W_OK) else f"you may not write in {path.parent}"
        fault = fault or ("" if _is_free(path) else "something that is no bundle of this module is there")
    except (OSError, ValueError, tarfile.TarError) as why:
        fault = f"something that is no bundle of this module is there, or {why}"
    if fault:
        remedy = "Set path (gpu_gather_dir of must_gather.yml) to a new folder or a new file NAME.tar.gz."
        raise InputError("INPUT-VALUE", f"No bundle can be written to {path}: {fault}.", remedy)
    return path


def _is_free(path: Path) -> bool:
    """Return whether nothing is there, or an earlier bundle and nothing else."""
    if not path.exists() or (path.is_dir() and not any(path.iterdir())):
        return True
    if path.is_dir():
        found = json.loads((path / INDEX).read_text(encoding="utf-8"))
        return found["tool"] == TOOL and {entry.name for entry in path.iterdir()} <= {INDEX, *found["files"]}
    with tarfile.open(path) as tar:
        index = tar.extractfile(tar.getmembers()[0])
        return bool(index and json.load(index)["tool"] == TOOL)


def _write(path: Path, files: t.Mapping[str, bytes]) -> None:
    """Write all files under another name, then give them theirs. Only their owner can read them."""
    part = path.with_name(f".{path.name}.{random.token_hex(8)}")
    try:
        if path.name.endswith((".tar.gz", ".tgz")):
            with _new(part) as whole, tarfile.open(fileobj=whole, mode="w:gz") as tar:
                for file, data in files.items():
                    entry = tarfile.TarInfo(f"{path.name.partition('.')[0]}/{file}")
                    entry.size, entry.mode, entry.mtime = len(data), 0o600, int(time.time())
                    tar.addfile(entry, BytesIO(data))
        else:
            part.mkdir(mode=0o700)
            for file, data in files.items():
                with _new(part / file) as whole:
                    whole.write(data)
            shutil.rmtree(path, ignore_errors=True)
        os.replace(part, path)
    finally:
        shutil.rmtree(part, ignore_errors=True)
        part.unlink(missing_ok=True)


def _new(path: Path) -> t.IO[bytes]:
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb")
