# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Stand in for the part of openshift-apiserver that looks images up.

The real one asks registries; here a registry has every image that no trouble removes, and only
`registry_lookups` asks the sandbox's own. The real server answers a look-up without an image stream, and
ignores `dryRun`; here a POST without `dryRun` would be stored, so it is refused.
"""

from __future__ import annotations

import hashlib
import re
import typing as t

from openshift_sandbox.scenario import Scenario
from openshift_sandbox.stand_ins.container_runtime import pulls
from openshift_sandbox.stand_ins.container_runtime.pulls import Mirrors

Object = dict[str, t.Any]
# Returns USER:PASSWORD that the cluster has for an image, or "".
Login = t.Callable[[str], str]
# The tag of a precompiled driver.
_KERNEL: t.Final = re.compile(r"-\d+\.\d+\.\d+-\S+\.(?:x86_64|aarch64)\S*")
_CODES: t.Final = {"NotFound": 404, "Unauthorized": 401, "Forbidden": 403, "InternalError": 500}


def refusal(spec: Object, dry_run: bool) -> str:
    """Return what this stand-in cannot do; an empty text when it can answer."""
    return (
        "" if dry_run and not spec["import"] else "the sandbox looks images up by dry runs, and imports none"
    )


def status(spec: Object, scenario: Scenario, known: Mirrors, login: Login = lambda _image: "") -> Object:
    """Return the status of a look-up: the images that exist, and why others do not.

    `known`: the sources that have a mirror. `login`: what registries that need one are sent.
    """
    images = [one["from"]["name"] for one in spec.get("images") or []]
    return {"images": [_image(name, scenario, known, login) for name in images]}


def _image(name: str, scenario: Scenario, known: Mirrors, login: Login) -> Object:
    tag = "" if "@" in name else name.rpartition(":")[2]
    text = pulls.unreachable(name, scenario, known)
    failure = told(name, "InternalError", text) if text else _failure(name, tag, scenario, login)
    if failure:
        return {"tag": tag, "status": {"metadata": {}, "status": "Failure", **failure}}
    digest = f"sha256:{hashlib.sha256(name.encode()).hexdigest()}"
    repository = name.partition("@")[0].removesuffix(f":{tag}")
    image = {"metadata": {"name": digest}, "dockerImageReference": f"{repository}@{digest}"}
    return {"tag": tag, "status": {"metadata": {}, "status": "Success"}, "image": image}


def _failure(name: str, tag: str, scenario: Scenario, login: Login) -> Object | None:
    host = name.partition("/")[0]
    closed = scenario.trouble("registry_closed", host=host)
    asks = scenario.trouble("registry_needs_login", host=host)
    if asks and not closed and login(name) not in asks["logins"]:
        closed = asks
    if closed:
        return told(
            name,
            str(closed.get("reason", "Unauthorized")),
            str(closed.get("text") or f'you may not have access to the container image "{name}"'),
        )
    unmade = any(
        str(one.get("kernel", "")) in tag for one in scenario.troubles_of("driver_image_missing")
    ) and _KERNEL.search(f"-{tag}")
    gone = [*scenario.troubles_of("registry_image_missing"), *scenario.troubles_of("kmm_image_missing")]
    if unmade or any(one.get("image") == name for one in gone):
        return told(name, "NotFound", f'dockerimage.image.openshift.io "{name}" not found')
    return None


def told(name: str, reason: str, text: str) -> Object:
    """Return what the status of an image says about a failure."""
    details = (
        {"details": {"name": name, "group": "image.openshift.io", "kind": "dockerimage"}}
        if reason == "NotFound"
        else {}
    )
    lead = "Internal error occurred: " if reason == "InternalError" else ""
    return {"reason": reason, "message": f"{lead}{text}", "code": _CODES.get(reason, 500), **details}
