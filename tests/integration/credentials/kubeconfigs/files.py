# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Kubeconfigs as files and dictionaries, and what a connection made from them sends to which server."""

from __future__ import annotations

import base64
import datetime
import typing as t
from pathlib import Path

import pytest
import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import CredentialsError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials

Fields = dict[str, t.Any]
NOW: t.Final = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
V1: t.Final = "client.authentication.k8s.io/v1"


def config(name: str, user: Fields | None = None, cluster: Fields | None = None, **more: t.Any) -> Fields:
    """Return a kubeconfig with one cluster, one user and one context, all called `name`."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": f"https://{name}:6443", **(cluster or {})}}],
        "users": [{"name": name, "user": {"token": f"token-of-{name}"} if user is None else user}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
        **more,
    }


def write(path: Path, fields: Fields) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(fields))
    return str(path)


def reached(**params: t.Any) -> tuple[str, list[tuple[str, str]]]:
    """Return the server and the headers of a connection with these options."""
    connection = credentials.connect(params, {})
    return connection.host, connection.headers()


def bearer(token: str) -> list[tuple[str, str]]:
    return [("authorization", f"Bearer {token}")]


def refused(**params: t.Any) -> CredentialsError:
    """Return the CredentialsError that these options cause."""
    with pytest.raises(CredentialsError) as caught:
        credentials.connect(params, {})
    return caught.value


class Pair(t.NamedTuple):
    certificate: str
    key: str


def data(path: str) -> str:
    return base64.b64encode(Path(path).read_bytes()).decode()
