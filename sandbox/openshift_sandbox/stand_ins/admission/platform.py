# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the admission webhook knows about the provider specifications of one platform."""

from __future__ import annotations

import abc
import typing as t
from dataclasses import dataclass

from openshift_sandbox.stand_ins.admission.field_errors import required
from openshift_sandbox.stand_ins.admission.go_types import Go

Object = dict[str, t.Any]

USER_DATA: t.Final = "worker-user-data"
NAMESPACE: t.Final = "openshift-machine-api"


@dataclass(frozen=True)
class Context:
    """What the webhook knows of the cluster."""

    cluster_id: str
    region: str = ""


class Platform(abc.ABC):
    """What the webhook does with the provider specifications of one platform."""

    kind: str
    go: Go

    @abc.abstractmethod
    def default(self, value: Object, context: Context) -> None:
        """Fill in what is missing."""

    @abc.abstractmethod
    def validate(self, value: Object, errors: list[str]) -> None:
        """Add what is wrong with a specification."""


def secret_checks(value: Object, errors: list[str]) -> None:
    """Check that both Secrets have names."""
    for field in ("userDataSecret", "credentialsSecret"):
        if value.get(field) is None:
            errors.append(required(f"providerSpec.{field}", f"{field} must be provided"))
        elif not value[field].get("name"):
            errors.append(required(f"providerSpec.{field}.name", "name must be provided"))


def default_secrets(value: Object, credentials: str) -> None:
    """Fill in the names of both Secrets."""
    for field, name in (("userDataSecret", USER_DATA), ("credentialsSecret", credentials)):
        if value.get(field) is None:
            value[field] = {"name": name}
