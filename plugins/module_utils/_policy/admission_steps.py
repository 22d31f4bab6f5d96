# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the admission policies: write them, merge the pools of other files, and prove that they work."""

from __future__ import annotations

import contextlib
import typing as t

from .._core.errors import AcceleratorError, KindNotServedError
from .._core.objects import KubeObject
from .._core.ownership import MANAGER
from .._frame import new_namespace
from .._kube.client import Api
from .._kube.kinds import known
from . import admission, rules
from .options import NONE, GpuAdmissionParams, Partition

POLICY: t.Final = known("ValidatingAdmissionPolicy")
BINDING: t.Final = known("ValidatingAdmissionPolicyBinding")
ADDING: t.Final = known("MutatingAdmissionPolicy")
ADDING_BINDING: t.Final = known("MutatingAdmissionPolicyBinding")
# Admission reads policies from a cache, and sees a new one late.
PATIENCE: t.Final = 10.0
_DRY_RUN: t.Final = {"dryRun": "All", "fieldManager": MANAGER}
Result = dict[str, t.Any]


class Admission:
    """The admission policies of a cluster, as a task finds them and leaves them."""

    def __init__(self, api: Api, params: GpuAdmissionParams) -> None:
        self._api = api
        self._params = params
        self._is_wanted = params["admission"] != NONE
        self._live = self._read()
        self._pools = admission.entries(self._live)
        self._had = admission.adds(self._live)

    def _read(self) -> KubeObject | None:
        try:
            return self._api.get(POLICY, admission.NAME)
        except KindNotServedError:
            if not self._is_wanted or self._params["state"] == "absent":
                return None
            raise AcceleratorError("POLICY-NOT-SERVED") from None

    def refuse(self, pools: t.Sequence[Partition]) -> None:
        """Raise AcceleratorError if the policy of others is in the way, and this task would write one."""
        if self._is_wanted and pools:
            admission.refuse_foreign(self._live)

    def keep(self, pools: t.Sequence[Partition]) -> Result:
        """Write the policies with the rules of these pools; those of other pools stay. Return what holds."""
        if not self._is_wanted or not pools:
            return self.drop({pool.name for pool in pools})
        before = len(self._api.changes)
        known_pools = {**self._pools, **{pool.name: rules.entry(pool) for pool in pools}}
        is_asked = self._params["add_tolerations"] and bool(rules.patches(known_pools))
        adds = is_asked and self._api.served(ADDING)
        self._warn_of_doubts(known_pools, adds)
        self._write(known_pools, adds)
        is_changed = len(self._api.changes) > before
        found = self._result(known_pools, adds)
        if self._params["prove"] and is_changed and not self._api.check_mode:
            found["proof"] = self._prove(known_pools, adds)
        return found

    def drop(self, names: t.Collection[str]) -> Result:
        """Take the rules of these pools away, and the policies with the last pool. Return what holds."""
        left = {pool: own for pool, own in self._pools.items() if pool not in names}
        if self._live is None or left == self._pools:
            return self._result(self._pools, self._had)
        if left:
            self._write(left, self._had and bool(rules.patches(left)), is_bound=False)
            return self._result(left, self._had)
        self._delete_adding()
        self._api.delete(BINDING, admission.NAME)
        self._api.delete(POLICY, admission.NAME)
        return self._result({}, adds=False)

    def _write(self, pools: rules.Entries, adds: bool, is_bound: bool = True) -> None:
        exempt = list(dict.fromkeys((*admission.OPERATORS, *self._params["exempt_namespaces"])))
        if not adds:
            self._delete_adding()
        self._api.apply(admission.telling(pools, exempt, adds=adds), live=self._live)
        if adds:
            self._api.apply(admission.adding(pools, exempt))
            self._api.apply(admission.adding_binding())
        if is_bound:
            self._api.apply(admission.telling_binding(self._params["admission"]))

    def _delete_adding(self) -> None:
        for kind in (ADDING_BINDING, ADDING) if self._had else ():
            with contextlib.suppress(KindNotServedError):
                self._api.delete(kind, admission.NAME)

    def _warn_of_doubts(self, pools: rules.Entries, adds: bool) -> None:
        if self._params["add_tolerations"] and not adds:
            why = (
                "the taints of the pools differ, or keep more off than pods without devices"
                if not rules.patches(pools)
                else f"the cluster serves no MutatingAdmissionPolicy ({admission.GROUP}/v1)"
            )
            self._api.warn(
                f"No pod gets a toleration by itself: {why}. The policy tells pods what they lack."
            )

    def _result(self, pools: rules.Entries, adds: bool) -> Result:
        return {
            "action": self._params["admission"] if self._is_wanted and pools else NONE,
            "pools": sorted(pools),
            "adds": sorted(rules.added(pools)) if adds else [],
            "proof": None,
        }

    def _prove(self, pools: rules.Entries, adds: bool) -> str | None:
        """Return what the API server says about a pod without the toleration, or what it adds to it.

        Raises AcceleratorError if it lets the pod pass without a word.
        """
        resource = next(iter(rules.guarded(pools)), "")
        if not resource or (self._params["admission"] == "audit" and not adds):
            return None
        namespace = self._params["proof_namespace"]
        path, pod = known("Pod").path(namespace), admission.proof(namespace, resource)
        is_added = adds and resource in rules.added(pools)
        end = self._api.deadline.elapsed() + PATIENCE
        while True:
            answer = self._api.http.request("POST", path, _DRY_RUN, pod)
            text = admission.policy_message(answer.status, answer.body, answer.warnings)
            if is_added and (found := admission.gained(answer.body, rules.added(pools)[resource])):
                return f"the API server added the toleration {found}"
            if text and not is_added and (answer.status >= 400) == (self._params["admission"] == "deny"):
                return text
            refusal = str(answer.body.get("message") or answer.status) if answer.status >= 400 else ""
            is_passing = new_namespace.is_transient(refusal)
            if refusal and not text and not is_passing:
                return self._not_proven(refusal)
            if self._api.deadline.elapsed() >= end or self._api.deadline.passed:
                if refusal:
                    return self._not_proven(refusal)
                raise admission.not_active(namespace)
            self._api.deadline.sleep(0.2)

    def _not_proven(self, why: str) -> str:
        self._api.warn(
            f"The policy {admission.NAME} is written, and not proven: {why.rstrip('.')}. "
            "To ask for no proof, set gpu_policy_prove: false (module option prove)."
        )
        return f"not proven: {why}"
