# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The error classes: every failure has a stable code, a layer, a remedy and evidence."""

from __future__ import annotations

import typing as t

from . import redact

if t.TYPE_CHECKING:
    from .codes.code import Code

# Area (the part of a code before its first dash) -> layer. `_ELSEWHERE` lists the codes with another layer.
LAYERS: t.Final = {
    "INPUT": "input",
    "POOL": "input",
    "CRED": "credentials",
    "API": "api",
    "MACH": "machine",
    "NODE": "node",
    "TUNE": "tuning",
    "NFD": "nfd",
    "OLM": "olm",
    "GPU": "gpu",
    "NIC": "gpu",
    "NET": "network",
    "REBOOT": "tuning",
    "PULL": "registry",
    "MIRROR": "registry",
    "REPAIR": "node",
    "QUOTA": "quota",
    "POLICY": "policy",
    "QUEUE": "queue",
    "DRIFT": "drift",
    "UPDATE": "update",
    "UPGRADE": "upgrade",
    "WORK": "workload",
    "SCHED": "scheduling",
    "MON": "monitoring",
    "MANIFEST": "manifest",
    "WAIT": "wait",
    "RUN": "run",
    "INTERNAL": "collection",
}
# A user looks for these codes in another layer than the one of their area.
_OPTIONS: t.Final = (
    *("NFD-COMPARE", "NFD-FEATURE", "NFD-FILE", "NFD-PCI", "NFD-RULE"),
    *("QUOTA-EMPTY", "QUOTA-KEY", "QUOTA-NAMESPACE", "QUOTA-PROOF", "QUOTA-QUANTITY"),
    *("UPGRADE-BRANCH", "UPGRADE-CANARY", "UPGRADE-JOB", "UPGRADE-OLD-GPU", "UPGRADE-QUEUE-DRAIN"),
    *("UPGRADE-TRIPLE", "UPGRADE-WAVE", "UPGRADE-WINDOW"),
    *("QUEUE-CLAIMS", "QUEUE-COHORT", "QUEUE-FLAVOR", "QUEUE-NAME", "QUEUE-NAMESPACE", "QUEUE-QUOTA"),
    *("QUEUE-NO-COHORT", "QUEUE-NO-LENDER", "QUEUE-RECLAIM"),
    *("QUEUE-TWO-FLAVORS", "QUEUE-TWO-QUOTAS", "MON-ALERT", "MON-LIMIT", "MON-METRIC"),
    *("PULL-CONFIG", "MIRROR-FILE", "REBOOT-ABSENT", "REBOOT-ALL-CPUS", "REBOOT-CPUS"),
    *("REBOOT-CPU-LISTS", "REBOOT-HUGE-PAGES", "REBOOT-NUMA", "REBOOT-TWO-POOLS"),
)
_ELSEWHERE: t.Final = {
    # an option of the task is wrong
    **dict.fromkeys(_OPTIONS, "input"),
    # the pool is valid, but its live Machines contradict it
    **dict.fromkeys(("POOL-AUTOSCALED", "POOL-DRIFT", "POOL-SURGE"), "machine"),
    # the API server does not serve the kind
    "GPU-SRO-NOT-SERVED": "api",
}


def layer_of(code: str) -> str:
    """Return the layer of a code, or "collection" if its area is unknown."""
    return _ELSEWHERE.get(code) or LAYERS.get(code.partition("-")[0], "collection")


def template_of(code: str) -> Code:
    from .codes.registry import CODES

    return CODES[code]


def text_of(code: str, /, **named: object) -> Code:
    """Return message and remedy of a code, with the facts that its text in _core/codes names."""
    return template_of(code).filled({"also": "", **named})


class AcceleratorError(Exception):
    """A failure that a person can act on.

    code: stable and documented in docs/errors.md, for example C(MACH-CAPACITY).
    message: what, where, since when. remedy: one command or one setting. Without a message, both are the
    code's text in _core/codes, and C(named) has the facts that it names; a remedy that is given counts.
    evidence: a short list of facts (lines of text), never a secret.
    facts: further keys of the task's result, such as the objects that the task has or last saw.
    """

    def __init__(
        self,
        code: str,
        message: str | None = None,
        remedy: str = "",
        evidence: t.Iterable[str] = (),
        facts: t.Mapping[str, t.Any] | None = None,
        **named: object,
    ) -> None:
        if message is None:
            text = text_of(code, **named)
            message, remedy = text.message, remedy or text.remedy
        super().__init__(message)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.evidence = [str(line) for line in evidence]
        self.facts = dict(facts or {})

    @property
    def layer(self) -> str:
        """Return the layer of the current code; a judge of logs can replace the code."""
        return layer_of(self.code)

    def to_result(self) -> dict[str, t.Any]:
        """Return the result of the failed task: `msg` is for people, the other keys are for programs.

        Secrets are masked, and long texts are cut.
        """
        message, remedy = redact.message(self.message), redact.line(self.remedy)
        text = f"{self.code}: {message}"
        if remedy:
            text += f"{'' if text.endswith(('.', '!', '?')) else '.'} Remedy: {remedy}"
        return {
            **self.facts,
            "msg": text,
            "code": self.code,
            "layer": self.layer,
            "message": message,
            "remedy": remedy,
            "evidence": [redact.line(line) for line in self.evidence],
        }


class InputError(AcceleratorError):
    """The input is wrong. The message has the option's path; the remedy says which values are allowed."""


class CredentialsError(AcceleratorError):
    """There are no usable credentials, or there are two sources of credentials."""


class ApiError(AcceleratorError):
    """The API server refused a request, and another try would not help. status: the HTTP status."""

    def __init__(
        self,
        code: str,
        message: str | None = None,
        remedy: str = "",
        *,
        status: int = 0,
        reason: str = "",
        **more: t.Any,
    ) -> None:
        super().__init__(code, message, remedy, **more)
        self.status = status
        self.reason = reason


class ForbiddenError(ApiError):
    """HTTP 403. The message names the missing verb and resource, or is the text of the admission plugin."""


class ConflictError(ApiError):
    """HTTP 409. After a server-side apply, the message names the other field manager and the fields."""


class KindNotServedError(ApiError):
    """The cluster does not serve this kind: its CRD is absent. The error names the operator to install."""


class WaitTimeoutError(AcceleratorError):
    """The deadline passed while the verdict was pending. The message says what the wait last saw."""


class NotReadyError(AcceleratorError):
    """A judge returned C(failed): a longer wait would not help."""
