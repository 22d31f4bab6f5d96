# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What special_resource can drive; one file a backend."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    options as clusterpolicy_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
    options as custom_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import options as dra_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import options as kmm_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
    options as nic_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    options as nvidiadriver_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import options as sro_options

Data = dict[str, t.Any]


class Backend(t.Protocol):
    """What a backend's file offers."""

    # Where its object is called and lives when the user does not say.
    NAME: str
    NAMESPACE: str

    def check(self, params: Data) -> None:
        """Raises before the first request for what cannot work."""

    def present(self, api: Api, params: Data) -> Data:
        """Brings it about, waits for the truth, and returns what was seen."""

    def absent(self, api: Api, params: Data) -> Data:
        """Takes away what is ours and waits until nothing of it is left."""


# Options that not every backend has; whoever has them reads them.
OWN: t.Final[dict[str, frozenset[str]]] = {
    "clusterpolicy": frozenset(clusterpolicy_options.OPTIONS),
    "nvidiadriver": frozenset({*clusterpolicy_options.OPTIONS, *nvidiadriver_options.OPTIONS}),
    "dra": frozenset({"driver", *dra_options.OPTIONS, *nvidiadriver_options.OPTIONS}),
    "nicclusterpolicy": frozenset(nic_options.OPTIONS),
    "custom": frozenset(custom_options.OPTIONS),
    "kmm": frozenset(kmm_options.OPTIONS),
    "sro": frozenset({*sro_options.OPTIONS, *kmm_options.OPTIONS, *clusterpolicy_options.OPTIONS}),
}


def backend(name: str) -> Backend:
    """One backend's code. A task pays only for the one that it uses: Ansible compiles these files in every run."""
    if name == "clusterpolicy":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
            steps as clusterpolicy_steps,
        )

        return t.cast(Backend, clusterpolicy_steps)
    if name == "nvidiadriver":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
            steps as nvidiadriver_steps,
        )

        return t.cast(Backend, nvidiadriver_steps)
    if name == "dra":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import (
            steps as dra_steps,
        )

        return t.cast(Backend, dra_steps)
    if name == "nicclusterpolicy":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nicclusterpolicy import (
            steps as nic_steps,
        )

        return t.cast(Backend, nic_steps)
    if name == "custom":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.custom import (
            steps as custom_steps,
        )

        return t.cast(Backend, custom_steps)
    if name == "kmm":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
            steps as kmm_steps,
        )

        return t.cast(Backend, kmm_steps)
    if name == "sro":
        from ansible_collections.accelerators.openshift.plugins.module_utils._stack.sro import (
            steps as sro_steps,
        )

        return t.cast(Backend, sro_steps)
    raise LookupError(name)


def chosen(params: Data) -> Backend:
    """The backend that the options name; they are completed in place. Options of other backends are refused."""
    name = params["backend"]
    for option in sorted(set[str]().union(*OWN.values()) - OWN[name]):
        if params.get(option) is not None:
            owners = " or ".join(one for one in OWN if option in OWN[one])
            raise InputError(
                "INPUT-OPTION",
                f"{option} belongs to backend {owners}, and backend is {name}.",
                f"Remove {option}, or set backend to {owners}.",
            )
    found = backend(name)
    params["name"] = params["name"] or found.NAME
    params["namespace"] = params["namespace"] or found.NAMESPACE
    found.check(params)
    return found
