# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The backends of special_resource: their protocol, their options, and the choice of one for a task."""

from __future__ import annotations

import typing as t
from dataclasses import fields

from .._core import adoption
from .._core.errors import InputError
from .._core.objects import at
from .._kube.client import Api
from .clusterpolicy import options as clusterpolicy
from .custom import options as custom
from .dra import options as dra
from .judge import GRACE, SLOW_GRACE
from .kmm import options as kmm
from .nicclusterpolicy import options as nicclusterpolicy
from .nvidiadriver import options as nvidiadriver
from .params import StackParams
from .sro import options as sro

SHARED: t.Final[dict[str, t.Any]] = {
    "backend": {
        "type": "str",
        "choices": ["clusterpolicy", "nvidiadriver", "dra", "nicclusterpolicy", "custom", "kmm", "sro"],
        "default": "clusterpolicy",
    },
    "name": {"type": "str"},
    "namespace": {"type": "str"},
    "tolerations": {"type": "list", "elements": "dict", "default": []},
    "spec": {"type": "dict", "default": {}},
    "pools": {"type": "list", "elements": "dict", "default": []},
    **adoption.OPTION,
    "remove_labels": {"type": "bool", "default": False},
    "only_pools": {"type": "bool", "default": False},
    "settle": {"type": "float", "default": 0},
    "node_timeout": {"type": "int", "default": 600},
    "grace": {"type": "float"},
    "go_on": {"type": "bool", "default": False},
    "given_up": {"type": "list", "elements": "str", "default": []},
}


class Backend(t.Protocol):
    """The functions and names in steps.py of each backend."""

    @property
    def NAME(self) -> str:
        """Return the default name of its object."""

    @property
    def NAMESPACE(self) -> str:
        """Return the default namespace of its object."""

    def check(self, params: StackParams) -> None:
        """Raise InputError for options that cannot work, before the first request."""

    def present(self, api: Api, params: StackParams) -> dict[str, t.Any]:
        """Apply the objects, wait until the stack works, and return the module's result."""

    def absent(self, api: Api, params: StackParams) -> dict[str, t.Any]:
        """Delete the objects of this collection, wait until they are gone, and return the module's result."""


# The options of each backend; every backend also has those of SHARED.
OWN: t.Final[dict[str, frozenset[str]]] = {
    "clusterpolicy": frozenset(clusterpolicy.OPTIONS),
    "nvidiadriver": frozenset({*clusterpolicy.OPTIONS, *nvidiadriver.OPTIONS}),
    "dra": frozenset({"driver", "registry", *clusterpolicy.FILES, *dra.OPTIONS, *nvidiadriver.OPTIONS}),
    "nicclusterpolicy": frozenset(nicclusterpolicy.OPTIONS),
    "custom": frozenset(custom.OPTIONS),
    "kmm": frozenset(kmm.OPTIONS),
    "sro": frozenset({*sro.OPTIONS, *kmm.OPTIONS, *clusterpolicy.OPTIONS}),
}
OPTIONS: t.Final[dict[str, t.Any]] = {
    **SHARED,
    **clusterpolicy.OPTIONS,
    **nvidiadriver.OPTIONS,
    **dra.OPTIONS,
    **nicclusterpolicy.OPTIONS,
    **custom.OPTIONS,
    **kmm.OPTIONS,
    **sro.OPTIONS,
}


def backend(object_name: str) -> Backend:
    """Return the steps of a backend; raise LookupError if there is none.

    A task imports only the backend that it uses: Ansible compiles these files in every run.
    """
    steps: t.Any
    if object_name == "clusterpolicy":
        from .clusterpolicy import steps
    elif object_name == "nvidiadriver":
        from .nvidiadriver import steps
    elif object_name == "dra":
        from .dra import steps
    elif object_name == "nicclusterpolicy":
        from .nicclusterpolicy import steps
    elif object_name == "custom":
        from .custom import steps
    elif object_name == "kmm":
        from .kmm import steps
    elif object_name == "sro":
        from .sro import steps
    else:
        raise LookupError(object_name)
    return t.cast(Backend, steps)


def choose(params: t.Mapping[str, t.Any]) -> tuple[Backend, StackParams]:
    """Return the chosen backend, and the module's options with name, namespace and graces filled in.

    Raise InputError for options of other backends, and for options that the backend refuses.
    """
    object_name = params["backend"]
    for option in sorted(set[str]().union(*OWN.values()) - OWN[object_name]):
        if params.get(option) is not None:
            owners = " or ".join(one for one in OWN if option in OWN[one])
            raise InputError(
                "INPUT-BACKEND", option=option, backends=owners, setting="backend", value=object_name
            )
    found, grace = backend(object_name), params["grace"]
    usual = {"name": found.NAME, "namespace": found.NAMESPACE}
    filled = {
        option: params[option] or at(params, f"custom.definition.metadata.{option}") or default
        for option, default in usual.items()
    }
    filled["grace"], filled["slow_grace"] = (GRACE, SLOW_GRACE) if grace is None else (grace, grace)
    complete = StackParams(**{one.name: params.get(one.name) for one in fields(StackParams)} | filled)
    found.check(complete)
    return found, complete
