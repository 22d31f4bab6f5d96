# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Exec plugins of a kubeconfig: run without a shell, without a terminal, and not for ever; a failure is told."""

from __future__ import annotations

import contextlib
import json
import math
import os
import signal
import subprocess
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError

SECONDS = 60.0
_LINES = 5

Plugin = t.Mapping[str, t.Any]


def run(plugin: Plugin, folder: str, cluster: Plugin | None, seconds: float = math.inf) -> dict[str, t.Any]:
    """The status of the ExecCredential that the plugin prints. folder: where a relative command starts. cluster: handed to plugins that ask for it."""
    command, version = str(plugin.get("command") or ""), str(plugin.get("apiVersion") or "")
    if not command or not version:
        raise _failure(command, "the kubeconfig names no command or no apiVersion for it")
    spec: dict[str, t.Any] = {"interactive": False}
    if cluster is not None and plugin.get("provideClusterInfo"):
        spec["cluster"] = _told(cluster)
    info = json.dumps({"apiVersion": version, "kind": "ExecCredential", "spec": spec})
    own = {str(entry["name"]): str(entry["value"]) for entry in plugin.get("env") or ()}
    arguments = [command, *map(str, plugin.get("args") or ())]
    out, errors = _output(
        arguments, folder, {**os.environ, **own, "KUBERNETES_EXEC_INFO": info}, min(SECONDS, seconds)
    )
    try:
        answer = json.loads(out)
        status: dict[str, t.Any] = answer["status"]
        secrets.register(status.get("token"), status.get("clientKeyData"))
        said = str(answer.get("apiVersion"))
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise _failure(command, "what it prints is no ExecCredential with a status", errors) from exc
    if said != version:
        raise _failure(command, f"it speaks {said}, and the kubeconfig wants {version}", errors)
    if not status.get("token") and not (status.get("clientCertificateData") and status.get("clientKeyData")):
        raise _failure(command, "it gives neither a token nor a certificate with its key", errors)
    return status


def _output(
    arguments: list[str], folder: str, environment: dict[str, str], seconds: float
) -> tuple[str, str]:
    command = arguments[0]
    try:
        # In a session of its own, so that what it starts can be ended with it.
        process = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder or None,
            env=environment,
            text=True,
            errors="replace",
            start_new_session=True,
        )
    except OSError as exc:
        raise _failure(command, f"it cannot be started: {exc.strerror}") from exc
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as exc:
        raise _failure(
            command, f"it has not ended after {seconds:.0f} s; it may be waiting for somebody to log in"
        ) from exc
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode != 0:
        raise _failure(command, f"it ended with status {process.returncode}", errors)
    return out, errors


def _told(cluster: Plugin) -> dict[str, t.Any]:
    """What a plugin may know of the cluster, its own extension as config."""
    extensions = {entry.get("name"): entry.get("extension") for entry in cluster.get("extensions") or ()}
    public = {name: value for name, value in cluster.items() if name != "extensions"}
    config = extensions.get("client.authentication.k8s.io/exec")
    return {**public, "config": config} if config is not None else public


def _failure(command: str, why: str, errors: str = "") -> CredentialsError:
    return CredentialsError(
        "CRED-EXEC",
        f"The kubeconfig's exec plugin {command or '(without a command)'} gives no credentials: {why}.",
        "Run the plugin by hand as the user that runs Ansible, and log in with it.",
        evidence=errors.strip().splitlines()[-_LINES:],
    )
