# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for OpenShift's Builds with which KMM builds and signs: a pod each, whose end is the Build's
phase.

The real ones run the Dockerfile.
"""

from __future__ import annotations

import base64
import typing as t

from openshift_sandbox.stand_ins.core.pod_logs import PodLogs
from openshift_sandbox.stand_ins.core.reconciler import Cluster
from openshift_sandbox.stand_ins.kmm import modules
from openshift_sandbox.stand_ins.kmm.modules import Object

API: t.Final = "build.openshift.io/v1"
NAME: t.Final = "openshift.io/build.name"
TYPE: t.Final = "kmm.openshift.io/build.type"
KERNEL: t.Final = f"{modules.PREFIX}/target-kernel"
HASH: t.Final = f"{modules.PREFIX}/last-hash"
EXIT: t.Final = "sandbox.openshift/exit-code"
STEPS: t.Final = {"BuildImage": "build", "SignImage": "sign"}
_LOGS: t.Final = PodLogs()


def done(cluster: Cluster, module: Object, step: str, mapping: Object, kernel: str) -> bool:
    """Return whether the Build of a step is Complete; delete it then."""
    namespace, module_name = modules.place(module)
    name = f"{module_name}-{STEPS[step]}-{modules.dns_safe(kernel)}"
    secrets = _secrets(cluster, namespace, mapping["sign"]) if step == "SignImage" else ()
    if secrets is None:
        return False
    live, digest = (
        cluster.find("Build", name, namespace),
        modules.digest(mapping.get(STEPS[step]), [one.hex() for one in secrets]),
    )
    if live is None:
        _create(cluster, module, name, step, kernel, digest, modules.image_for(mapping, kernel))
        return False
    if live["metadata"].get("deletionTimestamp"):
        return False
    trouble = cluster.trouble("kmm_build_fails" if step == "BuildImage" else "kmm_sign_fails", kernel=kernel)
    text = str(trouble.get("text", "make: *** [Makefile:4: all] Error 2")) if trouble else unusable(secrets)
    if live["metadata"]["annotations"][HASH] != digest or (_phase(live) == "Failed" and not text):
        cluster.delete("Build", name, namespace)
        return False
    _follow(cluster, module, live, step, text)
    if _phase(live) == "Complete":
        cluster.delete("Build", name, namespace)
    return _phase(live) == "Complete"


def _secrets(cluster: Cluster, namespace: str, sign: Object) -> tuple[bytes, bytes] | None:
    """Return both keys, or None where KMM makes no Build.

    Then a Secret or its key is missing, which only KMM's own log says.
    """
    found = []
    for field, key in (("keySecret", "key"), ("certSecret", "cert")):
        secret = cluster.find("Secret", sign[field]["name"], namespace)
        if key not in ((secret or {}).get("data") or {}):
            return None
        found.append(base64.b64decode(t.cast(Object, secret)["data"][key]))
    return found[0], found[1]


def unusable(secrets: t.Sequence[bytes]) -> str:
    """Return what sign-file says about a file that is no key, or no certificate."""
    if secrets and b"PRIVATE KEY" not in secrets[0]:
        return "sign-file: /run/secrets/key/key"
    if secrets and not (secrets[1].startswith(b"\x30") or b"BEGIN CERTIFICATE" in secrets[1]):
        return "sign-file: /run/secrets/cert/cert"
    return ""


def _create(
    cluster: Cluster, module: Object, name: str, step: str, kernel: str, digest: str, image: str
) -> None:
    namespace, module_name = modules.place(module)
    labels = {
        modules.MODULE: module_name,
        TYPE: step,
        KERNEL: modules.dns_safe(kernel),
        "app.kubernetes.io/name": "kmm",
    }
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": labels,
        "annotations": {HASH: digest},
        "ownerReferences": [modules.owner(module)],
    }
    spec = {
        "serviceAccount": "builder",
        "strategy": {"type": "Docker"},
        "output": {"to": {"kind": "DockerImage", "name": image}},
    }
    cluster.create({"apiVersion": API, "kind": "Build", "metadata": metadata, "spec": spec})


def _pod(module: Object, build: Object) -> Object:
    metadata = build["metadata"]
    owner = {
        "apiVersion": API,
        "kind": "Build",
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
    }
    pod = modules.pod(
        module,
        f"{metadata['name']}-build",
        {NAME: metadata["name"]},
        "registry.example.com/builder:1",
        None,
        ["openshift-docker-build"],
    )
    return pod | {"metadata": {**pod["metadata"], "ownerReferences": [owner]}}


def _follow(cluster: Cluster, module: Object, build: Object, step: str, text: str) -> None:
    """Follow the pod of a Build.

    The pod of an earlier Build of the same name may still exist for a moment.
    """
    metadata = build["metadata"]
    pod = cluster.find("Pod", f"{metadata['name']}-build", metadata["namespace"])
    if pod is None:
        cluster.create(_pod(module, build))
        return
    if pod["metadata"]["ownerReferences"][0]["uid"] != metadata["uid"]:
        return
    lines = [
        f"STEP 1/4: FROM source AS {STEPS[step]}",
        text,
        "error: build error: building at STEP: while running runtime: exit status 1",
    ]
    if text and EXIT not in (pod["metadata"].get("annotations") or {}):
        _LOGS.write(cluster, pod, lines)
        cluster.patch(
            "Pod", pod["metadata"]["name"], metadata["namespace"], {"metadata": {"annotations": {EXIT: "1"}}}
        )
    phase = {"Succeeded": "Complete", "Failed": "Failed", "Running": "Running"}.get(
        (pod.get("status") or {}).get("phase", ""), "Pending"
    )
    if phase == "Complete" and text:
        phase = "Failed"
    status: Object = {"phase": phase}
    if phase == "Failed":
        status |= {
            "reason": "DockerBuildFailed",
            "message": "Dockerfile build strategy has failed.",
            "logSnippet": "\n".join(lines),
        }
    if {key: (build.get("status") or {}).get(key) for key in status} != status:
        cluster.patch("Build", metadata["name"], metadata["namespace"], {"status": status}, "status")


def _phase(build: Object) -> str:
    return str((build.get("status") or {}).get("phase", "New"))
