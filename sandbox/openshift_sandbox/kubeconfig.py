# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Write kubeconfig files that need no other file: they hold the authority and a certificate or a token."""

from __future__ import annotations

import base64
import typing as t
from pathlib import Path

import yaml


def write(
    path: Path,
    server: str,
    authority: Path,
    user: str,
    *,
    pair: tuple[Path, Path] | None = None,
    token: str | None = None,
) -> Path:
    """Write a kubeconfig for one user; return its path."""
    credentials: dict[str, t.Any] = {"token": token} if token else {}
    if pair:
        credentials = {"client-certificate-data": _encoded(pair[0]), "client-key-data": _encoded(pair[1])}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "sandbox",
                "cluster": {"server": server, "certificate-authority-data": _encoded(authority)},
            }
        ],
        "users": [{"name": user, "user": credentials}],
        "contexts": [{"name": user, "context": {"cluster": "sandbox", "user": user}}],
        "current-context": user,
    }
    path.touch(mode=0o600)
    path.write_text(yaml.safe_dump(config, sort_keys=False))
    return path


def _encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()
