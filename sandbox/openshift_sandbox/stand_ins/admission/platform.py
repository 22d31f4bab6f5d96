# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the admission webhook knows about the provider specifications of one platform."""

from __future__ import annotations

import abc
import typing as t
from collections.abc import Callable
from dataclasses import dataclass

from openshift_sandbox.stand_ins.admission import field_errors as errors
from openshift_sandbox.stand_ins.admission.go_types import Go

Object = dict[str, t.Any]

USER_DATA: t.Final = "worker-user-data"
NAMESPACE: t.Final = "openshift-machine-api"
GROUPS: t.Final = ("machine.openshift.io",)


@dataclass(frozen=True)
class Context:
    """What the webhook reads from the cluster; `has_secret` takes name and namespace."""

    cluster_id: str
    region: str = ""
    has_secret: Callable[[str, str], bool] = lambda _name, _namespace: True


@dataclass
class Verdict:
    """Errors, which refuse an object, and warnings for the client."""

    errors: list[str]
    warnings: list[str]

    @property
    def text(self) -> str:
        """All errors in one text, as the API server returns them."""
        return self.errors[0] if len(self.errors) == 1 else f"[{', '.join(self.errors)}]"


class Platform(abc.ABC):
    """What the webhook does with the provider specifications of one platform."""

    kind: str
    go: Go
    groups: tuple[str, ...] = GROUPS
    checks_kind: bool = True

    @abc.abstractmethod
    def default(self, value: Object, context: Context) -> None:
        """Fill in what is missing."""

    @abc.abstractmethod
    def validate(self, value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
        """Add errors and warnings about a specification to the verdict."""

    def kind_warning(self, value: Object) -> str | None:
        """Return the warning about a wrong group, version or kind, or None."""
        group, _slash, version = (value.get("apiVersion") or "").rpartition("/")
        if not self.checks_kind or (
            value.get("kind") == self.kind and group in self.groups and version in {"v1", "v1beta1"}
        ):
            return None
        return (
            f"incorrect GroupVersionKind for {self.kind} object: {group}/{version}, "
            f"Kind={value.get('kind') or ''}"
        )


def secret_checks(value: Object, machine: Object, context: Context, verdict: Verdict) -> None:
    """Check the two Secrets, as most platforms need them."""
    user_data, credentials = value.get("userDataSecret"), value.get("credentialsSecret")
    if user_data is None:
        verdict.errors.append(
            errors.required("providerSpec.userDataSecret", "userDataSecret must be provided")
        )
    elif not user_data.get("name"):
        verdict.errors.append(errors.required("providerSpec.userDataSecret.name", "name must be provided"))
    if credentials is None:
        verdict.errors.append(
            errors.required("providerSpec.credentialsSecret", "credentialsSecret must be provided")
        )
    elif not credentials.get("name"):
        verdict.errors.append(errors.required("providerSpec.credentialsSecret.name", "name must be provided"))
    else:
        credentials_warning(credentials["name"], machine["metadata"].get("namespace") or "", context, verdict)


def credentials_warning(name: str, namespace: str, context: Context, verdict: Verdict) -> None:
    """Warn when the Secret with the credentials does not exist."""
    if not context.has_secret(name, namespace):
        verdict.warnings.append(
            errors.invalid(
                "providerSpec.credentialsSecret", name, "not found. Expected CredentialsSecret to exist"
            )
        )


def default_secrets(value: Object, credentials: str) -> None:
    """Fill in the names of both Secrets."""
    for field, name in (("userDataSecret", USER_DATA), ("credentialsSecret", credentials)):
        if value.get(field) is None:
            value[field] = {"name": name}
