# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Read a kubeconfig as kubectl does, where the kubernetes package differs; mixed into the package's loader.

An exec plugin runs without a shell, without a terminal and not for ever, and its failure is an error.
"""

from __future__ import annotations

import base64
import contextlib
import json
import math
import os
import signal
import ssl
import subprocess
import typing as t

from .._core import secrets
from .._core.errors import CredentialsError
from .deadline import within

EXEC_SECONDS = 60.0
_SECRET = frozenset(
    ("token", "password", "client-key-data", "id-token", "refresh-token", "access-token", "client-secret")
)
# The client asks these again when the server does not accept what they gave.
_RENEWED = frozenset(("exec", "tokenFile", "auth-provider"))
_ISSUER_SECONDS = 30.0

# An entry of a kubeconfig, or the JSON that a plugin prints.
Fields = dict[str, t.Any]
_LINES_SHOWN = 5


def register(kubeconfig: object) -> None:
    """Remember the secrets in a file, so that no message shows them."""
    if isinstance(kubeconfig, dict):
        for name, value in kubeconfig.items():
            secrets.register(*secrets.strings(value)) if name in _SECRET else register(value)
    elif isinstance(kubeconfig, list):
        for value in kubeconfig:
            register(value)


def current(kubeconfigs: t.Iterable[object]) -> str:
    """Return the current context of several files: that of the first file that names one."""
    found = (kubeconfig.get("current-context") for kubeconfig in kubeconfigs if isinstance(kubeconfig, dict))
    return str(next(filter(None, found), ""))


def chosen(contexts: t.Sequence[t.Any], wanted: str, where: str) -> str:
    """Return the context to use. Raises CredentialsError if it is not named or does not exist."""
    names = [str(context["name"]) for context in contexts]
    there = f"it has {', '.join(names)}" if names else "it has none"
    if wanted in names:
        return wanted
    what = f"context {wanted}" if wanted else "current context, and the task does not set one"
    raise CredentialsError("CRED-CONTEXT", kubeconfig=where, context=what, contexts=there)


class Reader:
    """Stands before the package's KubeConfigLoader among the bases of a class.

    seconds: how long a plugin or an issuer may take.
    """

    seconds: float
    _user: t.Any
    _cluster: t.Any
    _current_context: t.Any
    _get_base_path: t.Callable[[str | None], str]

    @property
    def user(self) -> Fields:
        return self._user.value if self._user else {}

    @property
    def is_renewed(self) -> bool:
        return bool(_RENEWED & self.user.keys())

    def nobody(self, context: str, where: str) -> str:
        """Return, in words, why the context sends no credentials, if it sends none."""
        user = (self._current_context.value.get("context") or {}).get("user")
        if not user:
            return f"the context {context} names no user ({where})"
        return f"the user {user} of the context {context} has no credentials ({where})"

    def impersonation(self) -> list[tuple[str, str]]:
        """Return the headers that kubectl sends for a user's as, as-uid, as-groups and as-user-extra."""
        user = self.user
        headers = [
            (f"Impersonate-{name}", str(user[key]))
            for name, key in (("User", "as"), ("Uid", "as-uid"))
            if user.get(key)
        ]
        headers += [("Impersonate-Group", str(group)) for group in user.get("as-groups") or ()]
        return headers + [
            (f"Impersonate-Extra-{key}", str(value))
            for key, values in (user.get("as-user-extra") or {}).items()
            for value in values
        ]

    def _load_from_exec_plugin(self) -> bool | None:
        """Run the plugin. The package waits for ever, and after a failure goes on as nobody."""
        if not self.user.get("exec"):
            return None
        status = run_plugin(
            self.user["exec"], self._get_base_path(self._cluster.path), self._cluster.value, self.seconds
        )
        if status.get("token"):
            self.token = f"Bearer {status['token']}"
        if status.get("clientCertificateData"):
            for name in ("certificate", "key"):
                data = status[f"client{name.title()}Data"].encode()
                self.user[f"client-{name}-data"] = base64.b64encode(data).decode()
        return True

    def _refresh_oidc(self, provider: t.Any) -> None:
        """Renew the token in limited time; a refusal is an error.

        The system's authorities verify an issuer for which none is named; a client without a secret needs
        none.
        """
        config: Fields = provider.value["config"]
        known = {
            "client-secret": "",
            "idp-certificate-authority": ssl.get_default_verify_paths().cafile or _bundled(),
        }
        copy = {"config": {**known, **config}}
        issuer, trial = (
            str(config.get("idp-issuer-url")),
            type(provider)("auth-provider", copy, provider.path),
        )
        refresh: t.Callable[[t.Any], None] = super()._refresh_oidc  # type: ignore[misc]
        try:
            within(min(_ISSUER_SECONDS, self.seconds), f"the issuer {issuer}", lambda: refresh(trial))
        except Exception as exc:
            raise _refused(issuer, f"{type(exc).__name__}: {exc}") from exc
        if copy["config"].get("id-token") == config.get("id-token"):
            raise _refused(issuer, "it gave no new token")
        config.update({name: copy["config"][name] for name in ("id-token", "refresh-token")})
        register(config)


def _bundled() -> str:
    import requests.utils

    return str(requests.utils.DEFAULT_CA_BUNDLE_PATH)


def _refused(issuer: str, why: str) -> CredentialsError:
    return CredentialsError("CRED-OIDC", issuer=issuer, why=why)


def run_plugin(
    plugin: t.Mapping[str, t.Any],
    folder: str,
    cluster: t.Mapping[str, t.Any] | None,
    seconds: float = math.inf,
) -> Fields:
    """Return the status of the ExecCredential that the plugin prints.

    folder: where a relative command starts. cluster: passed on to a plugin that wants it. seconds: how long
    the plugin may take, at most EXEC_SECONDS. Raises CredentialsError.
    """
    command, version = str(plugin.get("command") or ""), str(plugin.get("apiVersion") or "")
    if not command or not version:
        raise _plugin_failure(command, "the kubeconfig names no command or no apiVersion for it")
    spec: Fields = {"interactive": False}
    if cluster is not None and plugin.get("provideClusterInfo"):
        spec["cluster"] = _public(cluster)
    info = json.dumps({"apiVersion": version, "kind": "ExecCredential", "spec": spec})
    own = {str(entry["name"]): str(entry["value"]) for entry in plugin.get("env") or ()}
    arguments = [command, *map(str, plugin.get("args") or ())]
    out, errors = _output(
        arguments,
        folder,
        {**os.environ, **own, "KUBERNETES_EXEC_INFO": info},
        min(EXEC_SECONDS, seconds),
        str(plugin.get("installHint") or ""),
    )
    try:
        answer = json.loads(out)
        status: Fields = answer["status"]
        secrets.register(status.get("token"), status.get("clientKeyData"))
        spoken = str(answer.get("apiVersion"))
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise _plugin_failure(command, "what it prints is no ExecCredential with a status", errors) from exc
    if spoken != version:
        raise _plugin_failure(command, f"it speaks {spoken}, and the kubeconfig wants {version}", errors)
    if not status.get("token") and not (status.get("clientCertificateData") and status.get("clientKeyData")):
        raise _plugin_failure(command, "it gives neither a token nor a certificate with its key", errors)
    return status


def _output(
    arguments: list[str], folder: str, environment: dict[str, str], seconds: float, hint: str
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
        raise _plugin_failure(command, f"it cannot be started: {exc.strerror}", hint) from exc
    try:
        out, errors = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired as exc:
        raise _plugin_failure(
            command, f"it has not ended after {seconds:.0f} s; it may be waiting for a person to log in"
        ) from exc
    finally:
        if process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    if process.returncode != 0:
        raise _plugin_failure(command, f"it ended with status {process.returncode}", errors)
    return out, errors


def _public(cluster: t.Mapping[str, t.Any]) -> Fields:
    """Return what a plugin may know of the cluster, with its own extension as config."""
    extensions = {entry.get("name"): entry.get("extension") for entry in cluster.get("extensions") or ()}
    public = {name: value for name, value in cluster.items() if name != "extensions"}
    config = extensions.get("client.authentication.k8s.io/exec")
    return {**public, "config": config} if config is not None else public


def _plugin_failure(command: str, why: str, words: str = "") -> CredentialsError:
    """Return the error of a plugin. words: its own words, or the kubeconfig's hint how to install it."""
    lines = secrets.censor_likely(words).strip().splitlines()[-_LINES_SHOWN:]
    return CredentialsError(
        "CRED-EXEC",
        plugin=command or "(without a command)",
        why=why,
        also=f" {' '.join(line.strip() for line in lines)}" if lines else "",
        evidence=lines,
    )
