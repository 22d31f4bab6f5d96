# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The error tree: every failure carries a stable code, a layer, a remedy and evidence."""

from __future__ import annotations

import typing as t

# The layer that failed follows from the area that a code begins with, unless the class says it.
LAYERS: t.Final = {
    "INPUT": "input",
    "POOL": "input",
    "CRED": "credentials",
    "API": "api",
    "MACH": "machine",
    "NODE": "node",
    "NFD": "nfd",
    "OLM": "olm",
    "GPU": "gpu",
    "NIC": "gpu",
    "QUOTA": "quota",
    "UPDATE": "update",
    "WORK": "workload",
    "MANIFEST": "manifest",
    "WAIT": "wait",
}


class AcceleratorError(Exception):
    """A failure a person can act on.

    code: stable and documented in docs/errors.md, for example C(MACH-CAPACITY).
    message: what, where, since when. remedy: one command or one setting.
    evidence: a short list of facts (lines of text), never a secret.
    facts: what else the task returns beside the failure (already obtained results, what was last seen).
    """

    layer = ""

    def __init__(
        self,
        code: str,
        message: str,
        remedy: str = "",
        evidence: t.Iterable[str] = (),
        layer: str | None = None,
        facts: t.Mapping[str, t.Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.evidence = [str(line) for line in evidence]
        self.facts = dict(facts or {})
        self.layer = layer or self.layer or LAYERS.get(code.partition("-")[0], "collection")

    def to_result(self) -> dict[str, t.Any]:
        """What `fail_json` gets: `msg` for people, the rest for machines."""
        text = f"{self.code}: {self.message}"
        if self.remedy:
            text += f"{'' if text.endswith(('.', '!', '?')) else '.'} Remedy: {self.remedy}"
        return {
            **self.facts,
            "msg": text,
            "code": self.code,
            "layer": self.layer,
            "message": self.message,
            "remedy": self.remedy,
            "evidence": self.evidence,
        }


class InputError(AcceleratorError):
    """The user's input is wrong; raised before the first request, names the option's path and what is allowed."""

    layer = "input"


class CredentialsError(AcceleratorError):
    """No usable credentials, or two sources of them."""

    layer = "credentials"


class ApiError(AcceleratorError):
    """The API server answered something that is neither success nor worth another try."""

    layer = "api"

    def __init__(
        self, code: str, message: str, remedy: str = "", *, status: int = 0, reason: str = "", **more: t.Any
    ) -> None:
        super().__init__(code, message, remedy, **more)
        self.status = status
        self.reason = reason


class ForbiddenError(ApiError):
    """HTTP 403: names the verb and the resource that are missing, or holds an admission plugin's own text."""


class ConflictError(ApiError):
    """HTTP 409 on server-side apply: names the other field manager and the fields."""


class KindNotServedError(ApiError):
    """The cluster does not serve this kind (its CRD is absent); names the operator that provides it."""


class WaitTimeoutError(AcceleratorError):
    """The deadline passed while something was still pending; the message says what was last seen."""


class NotReadyError(AcceleratorError):
    """A judge said C(failed): waiting longer would not help."""
