# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the keyring of Kubernetes: it chooses the login for an image from the Secrets of a namespace.

The real one also has the node's own logins, and knows more forms of a registry's name.
"""

from __future__ import annotations

import base64
import json
import typing as t

Object = dict[str, t.Any]
KEY: t.Final = ".dockerconfigjson"


def login(image: str, secrets: t.Iterable[Object]) -> str:
    """Return USER:PASSWORD of the longest key that the image begins with, or "" without one.

    Of Secrets with the same key the first counts, in the order of the list.
    """
    known: dict[str, str] = {}
    for one in secrets:
        content = json.loads(base64.b64decode((one.get("data") or {}).get(KEY, "")) or b"{}")
        for key, entry in (content.get("auths") or {}).items():
            plain = key.removeprefix("https://").rstrip("/")
            known.setdefault(plain, base64.b64decode(entry.get("auth", "")).decode())
    return next((known[key] for key in sorted(known, reverse=True) if image.startswith(key)), "")
