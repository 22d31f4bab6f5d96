# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""KMM's check of its Modules against a kernel to come, in the version of the API that is served."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    NotReadyError,
    WaitTimeoutError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.adopt_or_apply import look
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    preflight as kmm_preflight,
)

Data = dict[str, t.Any]


def verify(api: Api, params: Data) -> Data:
    asked = params["kmm"]["preflight"]
    kind = known(kmm_preflight.kind_of(asked))
    if not api.served(kind):
        kind = kind._replace(api_version="kmm.sigs.x-k8s.io/v1beta1")
    wanted = kmm_preflight.build(asked, kind.api_version)
    live = look(api, kind, wanted)
    # What was verified once is not looked at again, so the new look is a new object.
    is_stale = live is not None and bool(kmm_preflight.failures(live))
    if is_stale:
        api.delete(kind, wanted["metadata"]["name"])
    if not (is_stale and api.check_mode):
        api.apply(wanted, force_conflicts=True)
    judge = kmm_preflight.Judge(params["name"], params["namespace"])
    queries = {"preflights": Query(kind, None, wanted["metadata"]["name"]), "modules": Query(known("Module"))}
    try:
        snapshot = api.wait(queries, judge, f"preflight of kernel {asked['kernel_version']}")
    except (NotReadyError, WaitTimeoutError) as exc:
        exc.facts["special_resource"] = {"preflight": _verdicts(asked, judge.seen)}
        raise
    return _verdicts(asked, snapshot)


def _verdicts(asked: Data, snapshot: t.Mapping[str, t.Sequence[Data]]) -> Data:
    return {
        "kernel_version": asked["kernel_version"],
        "modules": [one for live in snapshot.get("preflights", ()) for one in kmm_preflight.modules(live)],
    }
