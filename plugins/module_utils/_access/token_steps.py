# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of access_token: ask for a short token of a playbook's service account, and write it into a file."""

from __future__ import annotations

import contextlib
import os
import secrets as random
import time
import typing as t

from .._core import secrets
from .._core.errors import AcceleratorError, InputError
from .._frame.argspec import WaitParams
from .._kube import reads
from .._kube.client import Api
from .._kube.credentials import _package, _read, _unusable, expiry_of_token
from .._kube.credentials_settings import Params, settings
from .._kube.kinds import known
from .._kube.session import Change
from . import grant_options, review, token
from .token import Account, Server

_ACCOUNT: t.Final = known("ServiceAccount")
# The API server accepts no shorter time, and a day is enough for any job.
SHORTEST: t.Final = 600
LONGEST: t.Final = 86400


class AccessTokenParams(WaitParams):
    """The options of access_token. seconds: how long the token is to be valid."""

    playbook: str
    namespace: str
    path: str
    seconds: int
    format: t.Literal["kubeconfig", "awx"]


def ensure(api: Api, params: AccessTokenParams) -> dict[str, t.Any]:
    """Return path, account and the time until which the token is valid; never the token.

    Raise AcceleratorError before the request for a token.
    """
    account, path = _account(api, params), params["path"]
    before = _text(path, account)
    connection = api.http.connection
    if not connection.verified:
        raise InputError(
            "INPUT-VALUE",
            "validate_certs is off: whoever uses the file would send the token to an unknown server.",
            "Set ca_cert to the file with the cluster's CA, and leave validate_certs out.",
        )
    server = Server(connection.host, authority(params))
    facts = {"path": path, "account": account.user}
    if token.is_good(before, server, account, params["format"], time.time() + params["seconds"] / 2):
        return facts | _until(token.read(before))
    after = {"path": path, "account": account.user}
    if api.check_mode:
        api.changes.append(Change(f"File {path}", after if before else {}, after))
        return facts
    given = _requested(api, account, params["seconds"])
    _write(path, token.content(server, account, given, params["format"]))
    api.changes.append(Change(f"File {path}", after if before else {}, after | _until(given)))
    return facts | _until(given)


def authority(params: Params) -> str:
    """Return as PEM text what the task trusts for its API server, or "" if it trusts what the system does.

    Raises CredentialsError.
    """
    package = _package()
    configuration = _read(package, settings(params, os.environ), 30.0)
    try:
        if not configuration.ssl_ca_cert:
            return ""
        with open(configuration.ssl_ca_cert, encoding="utf-8") as file:
            return file.read()
    except (OSError, ValueError) as exc:
        raise _unusable(exc) from exc
    finally:
        package.forget()


def _account(api: Api, params: AccessTokenParams) -> Account:
    grant_options.playbook(params["playbook"], "gpu_rbac_token_playbook")
    if not SHORTEST <= params["seconds"] <= LONGEST:
        raise InputError(
            "INPUT-VALUE",
            f"gpu_rbac_token_seconds: {params['seconds']} is out of range.",
            f"Set gpu_rbac_token_seconds to a number from {SHORTEST} to {LONGEST}.",
        )
    name, namespace = review.role_name(params["playbook"]), params["namespace"]
    live = api.get(_ACCOUNT, name, namespace)
    if live is None and not api.check_mode:
        raise AcceleratorError(
            "API-NOT-FOUND",
            f"There is no ServiceAccount {name} in the namespace {namespace}.",
            f"Run rbac.yml with gpu_rbac_namespace: {namespace} first.",
        )
    return Account(name, namespace, str(live["metadata"]["uid"]) if live else "")


def _text(path: str, account: Account) -> str:
    """Return what the file has, "" if there is none. Raise InputError for a file with anything else."""
    fault = ""
    folder = os.path.dirname(os.path.abspath(path))
    if not os.path.isdir(folder) or not os.access(folder, os.W_OK):
        fault = "its folder does not exist, or you may not write there"
    elif os.path.islink(path) or (os.path.exists(path) and not os.path.isfile(path)):
        fault = "it is not an ordinary file"
    if not fault and os.path.isfile(path):
        with contextlib.suppress(OSError, UnicodeDecodeError), open(path, encoding="utf-8") as file:
            text = file.read()
            secrets.register(token.read(text))
            if token.is_of(text, account):
                return text
        fault = f"it exists, and holds no token of {account.user}"
    if fault:
        message = f"gpu_rbac_token_file: {path} cannot be written: {fault}."
        raise InputError(
            "INPUT-VALUE", message, "Set gpu_rbac_token_file to a new file in a folder of yours."
        )
    return ""


def _requested(api: Api, account: Account, seconds: int) -> str:
    path = _ACCOUNT.path(account.namespace, account.name, "token")
    api.before_write()
    answer = api.http.request("POST", path, {}, token.request(seconds))
    if answer.status >= 300:
        raise reads.error(answer, "POST", path, _ACCOUNT, account.name, account.namespace)
    given = str(answer.body["status"]["token"])
    secrets.register(given)
    return given


def _write(path: str, text: str) -> None:
    """Replace the file in one step. Only its owner can read it, from its first byte on."""
    part = f"{path}.{random.token_hex(8)}"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(part, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise


def _until(given: str) -> dict[str, t.Any]:
    end = expiry_of_token(given)
    return {"expires": end.isoformat() if end else ""}
