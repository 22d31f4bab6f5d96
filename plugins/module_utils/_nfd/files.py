# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Feature files: nfd-worker reads features from files in features.d, without running a program (a hook)."""

from __future__ import annotations

import base64
import datetime
import re
import typing as t

from .._core.errors import InputError
from .._core.syntax import key_fault, value_fault
from .._nodes.labels import text

FOLDER: t.Final = "/etc/kubernetes/node-feature-discovery/features.d"
LARGEST: t.Final = 65536
_DIRECTIVES: t.Final = ("expiry-time", "no-label", "no-feature")
_NAME: t.Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_PUBLISH: t.Final = {"both": (), "feature": ("no-label",), "label": ("no-feature",)}


def render(values: t.Mapping[t.Any, t.Any], expires: str = "", publish: str = "both") -> str:
    """Return the text of a feature file: a line per feature, after its directives. Raise NFD-FILE."""
    if publish not in _PUBLISH:
        raise _wrong(f"publish is {publish!r}", f"Allowed are {', '.join(_PUBLISH)}.")
    lines = [f"# +expiry-time={moment(expires)}"] if expires else []
    for key, value in sorted(values.items(), key=lambda one: str(one[0])):
        lines += [f"# +{directive}" for directive in _PUBLISH[publish]]
        lines.append(str(key) if value is True or value is None else f"{key}={text(value)}")
    content = "\n".join(lines) + "\n"
    check(content)
    return content


def moment(given: str) -> str:
    """Return a time in the form that nfd-worker reads: RFC 3339 with a time zone. Raise NFD-FILE."""
    try:
        when = datetime.datetime.fromisoformat(str(given))
    except ValueError as exc:
        raise _wrong(
            f"expiry time {given!r} is no RFC 3339 time", "Write it like 2027-01-31T00:00:00Z."
        ) from exc
    if when.tzinfo is None:
        raise _wrong(f"expiry time {given!r} has no time zone", "Write it like 2027-01-31T00:00:00Z.")
    return when.isoformat(timespec="seconds").replace("+00:00", "Z")


def check(content: str) -> None:
    """Raise NFD-FILE for a line that nfd-worker would skip with a message in its log."""
    if len(content.encode()) > LARGEST:
        raise _wrong(
            f"the file has {len(content.encode())} bytes, and nfd-worker reads none with more than {LARGEST}",
            "Divide it.",
        )
    for number, raw in enumerate(content.split("\n"), 1):
        line = raw.strip()
        if line.startswith("# +"):
            name, _is, value = line.removeprefix("# +").partition("=")
            if name not in _DIRECTIVES:
                raise _wrong(
                    f"line {number}: directive {name!r} is unknown", f"Allowed are {', '.join(_DIRECTIVES)}."
                )
            if name == "expiry-time":
                moment(value.strip())
        elif line and not line.startswith("#"):
            _check_feature(number, line)


def _check_feature(number: int, line: str) -> None:
    key, _is, value = line.partition("=")
    if fault := key_fault(key):
        raise _wrong(
            f"line {number}: {key!r} is no legal name: it {fault}",
            "Write NAME or DOMAIN/NAME, and no blank around '='.",
        )
    if fault := value_fault(value):
        raise _wrong(
            f"line {number}: the value {value!r} {fault}",
            "Change the value: what becomes a label has to be one.",
        )


def check_name(name: str) -> None:
    """Raise NFD-FILE if nfd-worker would not read a file of this name."""
    if not _NAME.fullmatch(name):
        raise _wrong(
            f"{name!r} is no name for a feature file",
            "Use letters, digits, '.', '_' and '-'; a file that begins with '.' is not read.",
        )


def machine_config(name: str, content: str, pool: str) -> dict[str, t.Any]:
    """Return the MachineConfig that puts the file on every node of a MachineConfigPool.

    The machine-config operator reboots these nodes for it, one after the other.
    """
    check_name(name)
    check(content)
    source = f"data:text/plain;charset=utf-8;base64,{base64.b64encode(content.encode()).decode()}"
    file = {"path": f"{FOLDER}/{name}", "mode": 0o644, "overwrite": True, "contents": {"source": source}}
    return {
        "apiVersion": "machineconfiguration.openshift.io/v1",
        "kind": "MachineConfig",
        "metadata": {
            "name": f"99-{pool}-features-{re.sub('[^a-z0-9-]', '-', name.lower()).strip('-')}",
            "labels": {"machineconfiguration.openshift.io/role": pool},
        },
        "spec": {"config": {"ignition": {"version": "3.4.0"}, "storage": {"files": [file]}}},
    }


def daemon_set(
    name: str, content: str, namespace: str, selector: t.Mapping[str, str], image: str
) -> list[dict[str, t.Any]]:
    """Return a ConfigMap and a DaemonSet that put the file on the selected nodes, without a reboot.

    Its pod writes the file, renames it, and deletes it at its own end.
    """
    check_name(name)
    check(content)
    own = f"features-{re.sub('[^a-z0-9-]', '-', name.lower()).strip('-')}"
    metadata = {"name": own, "namespace": namespace}
    template = {"metadata": {"labels": {"app": own}}, "spec": _pod(name, own, selector, image)}
    return [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {name: content}},
        {
            "apiVersion": "apps/v1",
            "kind": "DaemonSet",
            "metadata": metadata,
            "spec": {"selector": {"matchLabels": {"app": own}}, "template": template},
        },
    ]


def _pod(name: str, config_map: str, selector: t.Mapping[str, str], image: str) -> dict[str, t.Any]:
    put = f"cp /source/{name} /features.d/.{name} && mv /features.d/.{name} /features.d/{name}"
    script = (
        f"trap 'rm -f /features.d/{name}; exit 0' TERM; while true; do "
        f"cmp -s /source/{name} /features.d/{name} || {{ {put}; }}; sleep 10 & wait $!; done"
    )
    container = {
        "name": "copy",
        "image": image,
        "command": ["/bin/sh", "-c", script],
        "securityContext": {"privileged": True},
        "volumeMounts": [
            {"name": "source", "mountPath": "/source"},
            {"name": "features", "mountPath": "/features.d"},
        ],
    }
    volumes = [
        {"name": "source", "configMap": {"name": config_map}},
        {"name": "features", "hostPath": {"path": FOLDER, "type": "DirectoryOrCreate"}},
    ]
    return {
        "nodeSelector": dict(selector),
        "tolerations": [{"operator": "Exists", "effect": "NoSchedule"}],
        "containers": [container],
        "volumes": volumes,
    }


def _wrong(problem: str, remedy: str) -> InputError:
    return InputError("NFD-FILE", f"{problem[0].upper()}{problem[1:]}.", remedy)
