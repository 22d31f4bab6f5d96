# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""The error classes: every failure carries a stable code, a layer, a remedy and evidence."""

from __future__ import annotations

import typing as t

# The layer of a failure follows from its code: from the area that the code begins with, or from `_ELSEWHERE`.
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
    "INTERNAL": "collection",
}
# Codes that a user looks up in another layer than their area's.
_ELSEWHERE: t.Final = {
    # an option of the task is wrong
    **dict.fromkeys(("NFD-COMPARE", "NFD-FEATURE", "NFD-FILE", "NFD-PCI", "NFD-RULE"), "input"),
    **dict.fromkeys(("QUOTA-EMPTY", "QUOTA-KEY", "QUOTA-PROOF", "QUOTA-QUANTITY"), "input"),
    # the pool is valid, but its live Machines contradict it
    **dict.fromkeys(("POOL-AUTOSCALED", "POOL-DRIFT", "POOL-SURGE"), "machine"),
    # the API server does not serve the kind
    "GPU-SRO-NOT-SERVED": "api",
}


def layer_of(code: str) -> str:
    """Return the layer that a code belongs to, "collection" for a code of no known area."""
    return _ELSEWHERE.get(code) or LAYERS.get(code.partition("-")[0], "collection")


class AcceleratorError(Exception):
    """A failure a person can act on.

    code: stable and documented in docs/errors.md, for example C(MACH-CAPACITY).
    message: what, where, since when. remedy: one command or one setting.
    evidence: a short list of facts (lines of text), never a secret.
    facts: what else the task returns with the failure, such as what it has obtained or last seen.
    """

    def __init__(
        self,
        code: str,
        message: str,
        remedy: str = "",
        evidence: t.Iterable[str] = (),
        facts: t.Mapping[str, t.Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.evidence = [str(line) for line in evidence]
        self.facts = dict(facts or {})

    @property
    def layer(self) -> str:
        """The layer that the code belongs to; it follows the code where a log explains the failure better."""
        return layer_of(self.code)

    def to_result(self) -> dict[str, t.Any]:
        """Return the result of a failed task: `msg` for people, the rest for machines."""
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
    """The input is wrong: raised before the first request, with the option's path and what is allowed."""


class CredentialsError(AcceleratorError):
    """No usable credentials, or two sources of them."""


class ApiError(AcceleratorError):
    """The API server's answer is neither a success nor worth another try."""

    def __init__(
        self, code: str, message: str, remedy: str = "", *, status: int = 0, reason: str = "", **more: t.Any
    ) -> None:
        super().__init__(code, message, remedy, **more)
        self.status = status
        self.reason = reason


class ForbiddenError(ApiError):
    """HTTP 403: names the missing verb and resource, or has an admission plugin's own text."""


class ConflictError(ApiError):
    """HTTP 409: for a server-side apply it names the other field manager and the fields."""


class KindNotServedError(ApiError):
    """The cluster does not serve this kind (its CRD is absent); names the operator that provides it."""


class WaitTimeoutError(AcceleratorError):
    """The deadline passed while a verdict was still pending; the message says what was last seen."""


class NotReadyError(AcceleratorError):
    """A judge said C(failed): to wait longer would not help."""
