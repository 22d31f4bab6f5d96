# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Argument specifications of modules: options, their constraints, and the types of shared parameters."""

from __future__ import annotations

import dataclasses
import typing as t

from ansible_collections.kubernetes.core.plugins.module_utils.args_common import AUTH_ARG_SPEC

if t.TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = t.Mapping[str, t.Any]
Read = t.TypeVar("Read", bound="DataclassInstance")


class ArgumentSpec(t.NamedTuple):
    """The options of a module, and AnsibleModule's constraints between them.

    options: name to definition, in the format of AnsibleModule's argument_spec.
    """

    options: Options
    mutually_exclusive: t.Sequence[t.Sequence[str]] = ()
    required_together: t.Sequence[t.Sequence[str]] = ()
    required_one_of: t.Sequence[t.Sequence[str]] = ()
    required_if: t.Sequence[t.Sequence[t.Any]] = ()
    required_by: t.Mapping[str, t.Sequence[str]] = {}

    def merge(self, *others: ArgumentSpec) -> ArgumentSpec:
        """Return the options and constraints of all; a later option replaces one with the same name."""
        merged = self
        for other in others:
            pairs: t.Iterator[tuple[t.Any, t.Any]] = zip(merged, other, strict=True)
            both: list[t.Any] = [
                {**one, **two} if isinstance(one, t.Mapping) else [*one, *two] for one, two in pairs
            ]
            merged = ArgumentSpec(*both)
        return merged

    def constraints(self) -> dict[str, t.Any]:
        """Return the keyword arguments for AnsibleModule and ArgumentSpecValidator besides the options."""
        return {
            key: dict(value) if isinstance(value, t.Mapping) else list(value)
            for key, value in self._asdict().items()
            if key != "options"
        }


def read(typed: type[Read], params: t.Mapping[str, t.Any]) -> Read:
    """Return a module's parameters as a dataclass, which has no field for those of the connection."""
    return typed(**{field.name: params[field.name] for field in dataclasses.fields(typed)})


AUTH: t.Final = ArgumentSpec(options=AUTH_ARG_SPEC)
WAIT: t.Final = ArgumentSpec(
    options={"wait": {"type": "bool", "default": True}, "wait_timeout": {"type": "int", "default": 1800}}
)
STATE: t.Final = ArgumentSpec(
    options={"state": {"type": "str", "choices": ["present", "absent"], "default": "present"}}
)
# A module with this option holds the cluster's lease while it writes.
LOCK: t.Final = ArgumentSpec(options={"lock_timeout": {"type": "int", "default": 0}})
# What a module does with pods that use devices and would end by its writes.
ON_BUSY: t.Final = ArgumentSpec(
    options={"on_busy": {"type": "str", "choices": ["fail", "drain", "wait"], "default": "fail"}}
)


class WaitParams(t.TypedDict):
    """The options of `WAIT`. wait_timeout: seconds for the whole task."""

    wait: bool
    wait_timeout: int


class StateParams(WaitParams):
    """The options of `STATE` and `WAIT`."""

    state: t.Literal["present", "absent"]


class BusyParams(t.TypedDict):
    """The option of `ON_BUSY`."""

    on_busy: t.Literal["fail", "drain", "wait"]


class LockParams(t.TypedDict):
    """The option of `LOCK`. lock_timeout: seconds to wait for another run."""

    lock_timeout: int
