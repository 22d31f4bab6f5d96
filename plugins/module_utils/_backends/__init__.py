# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What special_resource can drive; one file a backend."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import (
    _cluster_policy_options,
    _custom_resource_options,
    _gpu_cluster_options,
    _kmm_options,
    _nic_cluster_policy_options,
    _nvidia_driver_options,
    _sro_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api

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
    "clusterpolicy": frozenset(_cluster_policy_options.OPTIONS),
    "nvidiadriver": frozenset({*_cluster_policy_options.OPTIONS, *_nvidia_driver_options.OPTIONS}),
    "dra": frozenset({"driver", *_gpu_cluster_options.OPTIONS, *_nvidia_driver_options.OPTIONS}),
    "nicclusterpolicy": frozenset(_nic_cluster_policy_options.OPTIONS),
    "custom": frozenset(_custom_resource_options.OPTIONS),
    "kmm": frozenset(_kmm_options.OPTIONS),
    "sro": frozenset({*_sro_options.OPTIONS, *_kmm_options.OPTIONS, *_cluster_policy_options.OPTIONS}),
}


def backend(name: str) -> Backend:
    """One backend's code. A task pays only for the one that it uses: Ansible compiles these files in every run."""
    if name == "clusterpolicy":
        from ansible_collections.accelerators.openshift.plugins.module_utils._backends import _clusterpolicy

        return t.cast(Backend, _clusterpolicy)
    if name == "nvidiadriver":
        from ansible_collections.accelerators.openshift.plugins.module_utils._backends import _nvidiadriver

        return t.cast(Backend, _nvidiadriver)
    if name == "dra":
        from ansible_collections.accelerators.openshift.plugins.module_utils._backends import _dra

        return t.cast(Backend, _dra)
    if name == "nicclusterpolicy":
        from ansible_collections.accelerators.openshift.plugins.module_utils._backends import (
            _nicclusterpolicy,
        )

        return t.cast(Backend, _nicclusterpolicy)
    if name == "custom":
        from ansible_collections.accelerators.openshift.plugins.module_utils._backends import _custom

        return t.cast(Backend, _custom)
    if name == "kmm":
        from ansible_collections.accelerators.openshift.plugins.module_utils._backends import _kmm

        return t.cast(Backend, _kmm)
    if name == "sro":
        from ansible_collections.accelerators.openshift.plugins.module_utils._backends import _sro

        return t.cast(Backend, _sro)
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
