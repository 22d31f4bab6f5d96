# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Pull secrets, what uses them, and a registry that a server in memory asks with the Secrets it has."""

from __future__ import annotations

import base64
import json
import typing as t

from unit.fake_server import Answer, FakeServer

Data = dict[str, t.Any]
SPACE: t.Final = "nvidia-gpu-operator"
DRIVER: t.Final = "nvcr.io/nvidia/driver:580.65.06-rhcos9.6"
TOOLKIT: t.Final = "nvcr.io/nvidia/k8s/container-toolkit:v1.17.8"
OLD, NEW = "old-canary-password", "new-canary-password"
USER: t.Final = "$oauthtoken"


def login(password: str, user: str = USER) -> Data:
    return {"auth": base64.b64encode(f"{user}:{password}".encode()).decode()}


def auths(password: str, *registries: str) -> Data:
    return {registry: login(password) for registry in registries or ("nvcr.io",)}


def text(password: str, *registries: str) -> str:
    return json.dumps({"auths": auths(password, *registries)})


def secret(password: str, *registries: str, name: str = "ngc", **metadata: t.Any) -> Data:
    content = base64.b64encode(text(password, *registries).encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": name, "namespace": SPACE, **metadata},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {".dockerconfigjson": content},
    }


def policy(**spec: t.Any) -> Data:
    return {
        "apiVersion": "nvidia.com/v1",
        "kind": "ClusterPolicy",
        "metadata": {"name": "gpu-cluster-policy"},
        "spec": spec or {"driver": {"imagePullSecrets": ["ngc"]}},
    }


def pod(name: str = "driver-1", *images: str, waiting: str = "", pulls: t.Sequence[str] = ("ngc",)) -> Data:
    state = {"waiting": {"reason": waiting}} if waiting else {"running": {}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": SPACE},
        "spec": {
            "imagePullSecrets": [{"name": one} for one in pulls],
            "containers": [{"name": "one", "image": image} for image in images or (DRIVER,)],
        },
        "status": {"containerStatuses": [{"name": "one", "state": state}]},
    }


def params(**options: t.Any) -> t.Any:
    return {
        "content": text(NEW),
        "path": None,
        "names": [],
        "drop": False,
        "namespace": SPACE,
        "nic_namespace": "nvidia-network-operator",
        "validation_namespace": "gpu-validation",
        "lock_timeout": 0,
        "wait": True,
        "wait_timeout": 60,
        **options,
    }


class Registry(FakeServer):
    """A server whose look-ups of images ask a registry for the password that it knows.

    As on OpenShift, the Secret with the longest key counts, and the first by name of several with the same.
    seen: the passwords of the look-ups.
    """

    def __init__(self, *objects: Data, password: str = NEW, looks_up: bool = True) -> None:
        kinds = ("Secret", "ServiceAccount", "Pod", "DaemonSet", "ClusterPolicy", "Module")
        super().__init__(*kinds, *(["ImageStreamImport"] if looks_up else []))
        self.password, self.seen = password, set[str]()
        self.request = self.ask
        for obj in objects:
            self.put(obj)

    def secret(self, name: str = "ngc") -> Data | None:
        return self.objects.get(("v1", "secrets", SPACE, name))

    def ask(self, method: str, url: str, body: bytes | None = None, **more: t.Any) -> Answer:
        answer = self.answer(method, url, body, **more)
        if method == "POST" and "imagestreamimports" in url and answer.status < 300:
            found = [self._image(one["from"]["name"]) for one in json.loads(body or b"")["spec"]["images"]]
            return Answer(201, {"kind": "ImageStreamImport", "status": {"images": found}})
        return answer

    def _image(self, image: str) -> Data:
        password = self._password(image)
        self.seen.add(password)
        if password == self.password:
            return {"status": {"status": "Success"}, "image": {"metadata": {"name": "sha256:1"}}}
        words = f'you may not have access to the container image "{image}"'
        return {"status": {"status": "Failure", "reason": "Unauthorized", "message": words}}

    def _password(self, image: str) -> str:
        logins: dict[str, str] = {}
        for (_version, plural, _space, _name), obj in sorted(self.objects.items()):
            if plural == "secrets":
                content = json.loads(base64.b64decode(obj["data"][".dockerconfigjson"]))
                for key, entry in content["auths"].items():
                    logins.setdefault(key, base64.b64decode(entry["auth"]).decode().partition(":")[2])
        best = max((key for key in logins if image.startswith(key)), default="")
        return logins.get(best, "")
