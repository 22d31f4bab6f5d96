# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""What the lookups and the inventory share: a connection, unknown options, a file with facts of the user."""

from __future__ import annotations

import contextlib
import difflib
import typing as t

from ansible.errors import AnsibleError
from ansible.plugins.lookup import LookupBase
from ansible.utils.display import Display

from ansible_collections.accelerators.openshift.plugins.module_utils._core import secrets
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    InputError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import (
    pool_label,
    selector,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import AUTH
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import (
    connect,
    disconnect,
    for_job,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._nodes import devices

_display = Display()


@contextlib.contextmanager
def connected(options: t.Mapping[str, t.Any], agent: str) -> t.Iterator[Api]:
    """Yield an Api that connects with its first request. Afterwards display the connection's warnings.

    agent: the plugin's name, which the server's audit log shows.
    """
    api = connect(options, agent)
    try:
        yield api
    finally:
        disconnect(api, agent)
        for warning in api.warnings:
            _display.warning(secrets.censor_text(warning))


def selectors(pool: str | None, label_selector: str | None) -> str | None:
    """Return one label selector for both options, or None."""
    parts = (label_selector, selector(pool_label(pool)) if pool else "")
    return ",".join(part for part in parts if part) or None


def gpu_nodes(api: Api, pool: str | None, label_selector: str | None) -> list[KubeObject]:
    """Return the GPU nodes that match, without what makes them large: images, and who manages each field."""
    return api.list(known("Node"), labels=selectors(pool, label_selector), keep=_small)


def _small(node: KubeObject) -> KubeObject | None:
    if not devices.is_gpu_node(node):
        return None
    metadata = {key: value for key, value in node["metadata"].items() if key != "managedFields"}
    status = {key: value for key, value in (node.get("status") or {}).items() if key != "images"}
    return {**node, "metadata": metadata, "status": status}


def message(exc: AcceleratorError, variables: t.Mapping[str, t.Any] | None) -> str:
    """Return the error for people, with the remedy for AWX in a job, and without secrets."""
    return secrets.censor_text(for_job(exc, (variables or {}).get("awx_job_id")).to_result()["msg"])


def known_only(lookup: str, given: t.Iterable[str], options: t.Iterable[str]) -> None:
    """Raise InputError for an unknown option: Ansible itself ignores it."""
    aliases = {alias for name in options for alias in AUTH.options.get(name, {}).get("aliases") or ()}
    for name in sorted(set(given) - set(options) - aliases):
        near = difflib.get_close_matches(name, options, n=1, cutoff=0.5)
        allowed = ", ".join(sorted(option for option in options if not option.startswith("_")))
        raise InputError(
            "INPUT-OPTION",
            f"{name} is not an option of {lookup}.",
            f"{f'Did you mean {near[0]}? ' if near else ''}Allowed: {allowed}.",
        )


def content(plugin: LookupBase, given: t.Any, variables: dict[str, t.Any] | None, code: str) -> t.Any:
    """Return what the user gave, or what the file holds whose path the user gave.

    code: of the InputError that is raised if the file does not exist or cannot be read.
    """
    if not isinstance(given, str):
        return given
    path = plugin.find_file_in_search_path(variables or {}, "files", given, ignore_missing=True)
    if path is None:
        raise InputError(code, file=given, problem="does not exist")
    try:
        return plugin._loader.load_from_file(path)
    except AnsibleError as exc:
        problem = f"cannot be read: {str(exc).removesuffix('.')}"
        raise InputError(code, file=given, problem=problem) from exc
