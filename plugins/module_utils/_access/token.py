# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the file with a token of a service account, and judge whether an existing file is still good."""

from __future__ import annotations

import base64
import json
import typing as t

from .._core.objects import KubeObject

Data = dict[str, t.Any]


class Account(t.NamedTuple):
    """The service account that a token is for. uid: "" if it does not exist yet."""

    name: str
    namespace: str
    uid: str

    @property
    def user(self) -> str:
        """Return the name by which the API server knows the account."""
        return f"system:serviceaccount:{self.namespace}:{self.name}"


class Server(t.NamedTuple):
    """The API server. authority: PEM text of the authorities that it is checked with, "" for the system's."""

    host: str
    authority: str


def request(seconds: int) -> KubeObject:
    """Return the TokenRequest. The server binds the token to itself and to the account's uid."""
    spec = {"expirationSeconds": seconds}
    return {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "metadata": {}, "spec": spec}


def content(server: Server, account: Account, token: str, form: str) -> str:
    """Return the text of the file: a kubeconfig, or the inputs of AWX's OpenShift credential."""
    found = _kubeconfig(server, account, token) if form == "kubeconfig" else _awx(server, token)
    return json.dumps(found, indent=2) + "\n"


def _kubeconfig(server: Server, account: Account, token: str) -> Data:
    cluster = {"server": server.host}
    if server.authority:
        cluster["certificate-authority-data"] = base64.b64encode(server.authority.encode()).decode()
    context = {"cluster": "cluster", "user": account.name, "namespace": account.namespace}
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "cluster", "cluster": cluster}],
        "users": [{"name": account.name, "user": {"token": token}}],
        "contexts": [{"name": account.name, "context": context}],
        "current-context": account.name,
    }


def _awx(server: Server, token: str) -> Data:
    found = {"host": server.host, "bearer_token": token, "verify_ssl": True}
    return found | ({"ssl_ca_cert": server.authority} if server.authority else {})


def read(text: str) -> str:
    """Return the token of a file that `content` made, or "" for any other text."""
    try:
        found = json.loads(text)
        if "bearer_token" in found:
            return str(found["bearer_token"])
        return str(found["users"][0]["user"]["token"])
    except (ValueError, KeyError, IndexError, TypeError):
        return ""


def claims(token: str) -> Data:
    """Return the claims of a JWT; empty for any other text."""
    parts = token.split(".")
    try:
        found = json.loads(base64.urlsafe_b64decode(parts[1] + "=" * (-len(parts[1]) % 4)))
    except (ValueError, IndexError):
        return {}
    return found if isinstance(found, dict) else {}


def is_good(text: str, server: Server, account: Account, form: str, until: float) -> bool:
    """Return True if the file is as this task would write it, and its token is valid until that time.

    until: seconds since 1970. A token of an account that was deleted and made again is not valid.
    """
    token = read(text)
    found = claims(token)
    uid = ((found.get("kubernetes.io") or {}).get("serviceaccount") or {}).get("uid")
    end = found.get("exp")
    is_new_enough = isinstance(end, (int, float)) and end >= until
    is_of_account = found.get("sub") == account.user and uid == account.uid
    return is_new_enough and is_of_account and text == content(server, account, token, form)


def is_of(text: str, account: Account) -> bool:
    """Return True if the file holds a token of this account, so that the task may replace it."""
    return claims(read(text)).get("sub") == account.user
