# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Backend kmm: a Module of Kernel Module Management, and its check of a kernel to come."""

from __future__ import annotations

import contextlib
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _kmm as kmm
from ansible_collections.accelerators.openshift.plugins.module_utils import _kmm_kernels as kernels
from ansible_collections.accelerators.openshift.plugins.module_utils import _kmm_parts as parts
from ansible_collections.accelerators.openshift.plugins.module_utils import _kmm_preflight as preflight
from ansible_collections.accelerators.openshift.plugins.module_utils import _kmm_state as state
from ansible_collections.accelerators.openshift.plugins.module_utils._api import Api, Query
from ansible_collections.accelerators.openshift.plugins.module_utils._errors import AcceleratorError, KindNotServedError, NotReadyError, WaitTimeoutError
from ansible_collections.accelerators.openshift.plugins.module_utils._kinds import by_name, known
from ansible_collections.accelerators.openshift.plugins.module_utils._ownership import owned, selector
from ansible_collections.accelerators.openshift.plugins.module_utils._pool_nodes import check_pools, nodes_of
from ansible_collections.accelerators.openshift.plugins.module_utils._procedures._keeping import keep, look, remove, told
from ansible_collections.accelerators.openshift.plugins.module_utils._procedures._kmm_versions import Versions
from ansible_collections.accelerators.openshift.plugins.module_utils._signatures import recognise
from ansible_collections.accelerators.openshift.plugins.module_utils._stack_pods import trouble

Data = dict[str, t.Any]
NAME: t.Final = ""
NAMESPACE: t.Final = "openshift-kmm"
MODULE: t.Final = known("Module")
# A Module has no observedGeneration: numbers and nodes may be those of before for a moment.
_REACTION: t.Final = 2.0
_SECURE_BOOT: t.Final = "Set kmm.sign, with a key whose certificate the nodes' firmware trusts (mokutil --import), or turn Secure Boot off."


def check(params: Data) -> None:
    check_pools(params["pools"])
    kmm.check(params)


def present(api: Api, params: Data) -> Data:
    done: Data = {"name": params["name"], "state": "ready", "reason": "", "nodes": []}
    if not kmm.is_preflight_only(params):
        done = _load(api, params)
    if (params["kmm"] or {}).get("preflight"):
        done["preflight"] = _verify(api, params)
    return done


def _load(api: Api, params: Data) -> Data:
    wanted, options = kmm.build(params), params["kmm"] or {}
    nodes = api.list(known("Node"), labels=selector(wanted["spec"]["selector"]))
    _survey(api, params, wanted, nodes)
    _require(api, params)
    live = look(api, MODULE, wanted)
    ours = live is None or owned(live) or params["adopt"] == "take"
    versions = Versions(api, params, nodes if ours else [])
    versions.begin()
    for one in parts.own(options, params["name"], params["namespace"]) if ours else ():
        api.apply(one, force_conflicts=True)
    stranger = keep(api, MODULE, wanted, params["adopt"], live)
    judge = state.Judge(params, api.clock)
    rolled = versions.roll(lambda name: _wait(api, params, wanted, state.Judge(params, api.clock, name), f"node {name}"))
    settle = max(params["settle"], _REACTION if live is not None and api.changes else 0)
    try:
        snapshot = _wait(api, params, wanted, judge, f"Module {params['name']}", settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        exc.facts["special_resource"] |= told(stranger)
        if stranger:
            stranger.blame(exc, {"GPU-TAINT": ("spec.tolerations",), "GPU-KMM-": ("spec.",), "GPU-ALLOC": ("spec.devicePlugin",)})
        raise
    return {**judge.summarize(snapshot), **told(stranger), "rolled": rolled}


def _survey(api: Api, params: Data, wanted: Data, nodes: list[Data]) -> None:
    """Every kernel that runs now has to have its mapping before anything is written."""
    mappings = ((wanted["spec"].get("moduleLoader") or {}).get("container") or {}).get("kernelMappings") or []
    pooled = [node for pool in params["pools"] for node in nodes_of(nodes, pool)] if params["pools"] else nodes
    ours = {node["metadata"]["name"] for node in pooled}
    fits = kernels.survey(nodes, mappings)
    lacking = [f"{one.node} (kernel {one.kernel})" for one in fits if not one.mappings and one.node in ours]
    if lacking:
        message = f"No kernel mapping fits {len(lacking)} of {len(ours)} nodes: {', '.join(lacking[:5])}."
        raise NotReadyError("GPU-KMM-KERNEL", message, "Add a mapping for that kernel to kmm.kernel_mappings.", evidence=lacking)
    for one in fits:
        if not one.mappings:
            api.warn(f"Node {one.node} is selected, and no kernel mapping fits its kernel {one.kernel}: KMM leaves it out. It is in none of the pools.")
        elif one.mappings[1:]:
            places = ", ".join(f"kmm.kernel_mappings[{at}]" for at in one.mappings)
            api.warn(f"Node {one.node}: {places} fit its kernel {one.kernel}; KMM takes the first.")


def _require(api: Api, params: Data) -> None:
    """Metadata is all that is read of Secrets."""
    for need in parts.needs(params["kmm"] or {}):
        if api.list(known(need.kind), params["namespace"], fields=by_name(need.name), metadata_only=True):
            continue
        message = f"{need.path}: there is no {need.kind} {need.name} in namespace {params['namespace']}."
        remedy = "Create it first." if need.kind != "ServiceAccount" else "Create it first, or set kmm.create_service_accounts."
        if not api.check_mode:
            raise NotReadyError("GPU-KMM-MISSING", message, remedy)
        api.warn(f"{message} {remedy}")


def _wait(api: Api, params: Data, wanted: Data, judge: state.Judge, stage: str, settle: float = 0.0) -> dict[str, list[Data]]:
    queries = {
        "modules": Query(MODULE, params["namespace"], params["name"]),
        "nodes": Query(known("Node"), labels=selector(wanted["spec"]["selector"])),
        "configs": Query(known("NodeModulesConfig")),
        "pods": Query(known("Pod"), params["namespace"], labels=f"{kmm.PREFIX}/module.name={params['name']}"),
    }
    try:
        return api.wait(queries, judge, stage, settle)
    except (NotReadyError, WaitTimeoutError) as exc:
        _explain(api, exc, judge.seen.get("pods", ()))
        exc.facts["special_resource"] = judge.summarize(judge.seen)
        raise


def _explain(api: Api, exc: AcceleratorError, pods: t.Iterable[Data]) -> None:
    """Logs of up to three pods that failed; a known text brings its code and remedy."""
    for pod in [pod for pod in pods if trouble(pod)][:3]:
        with contextlib.suppress(AcceleratorError):
            lines = [line for line in api.log(pod["metadata"]["namespace"], pod["metadata"]["name"], tail_lines=60).splitlines() if line.strip()]
            exc.evidence += [f"{pod['metadata']['name']}: {line}" for line in lines[-10:]]
            found = next(((line, known_text) for line in lines if (known_text := recognise(line))), None)
            if found and exc.code in ("GPU-KMM-LOAD", "GPU-KMM-BUILD", "GPU-KMM-SIGN", "GPU-KMM-PLUGIN"):
                line, text = found
                exc.message += f" Its log says that {text.meaning}: {line.strip()}"
                exc.code, exc.remedy = text.code, _SECURE_BOOT if text.code == "GPU-DRV-SIGN" else text.remedy


def _verify(api: Api, params: Data) -> Data:
    asked = params["kmm"]["preflight"]
    kind = known(preflight.kind_of(asked))
    if not api.served(kind):
        kind = kind._replace(api_version="kmm.sigs.x-k8s.io/v1beta1")
    wanted = preflight.build(asked, kind.api_version)
    live = look(api, kind, wanted)
    # What was verified once is not looked at again, so the new look is a new object.
    is_stale = live is not None and bool(preflight.failures(live))
    if is_stale:
        api.delete(kind, wanted["metadata"]["name"])
    if not (is_stale and api.check_mode):
        api.apply(wanted, force_conflicts=True)
    judge = preflight.Judge(params["name"], params["namespace"])
    queries = {"preflights": Query(kind, None, wanted["metadata"]["name"]), "modules": Query(MODULE)}
    try:
        snapshot = api.wait(queries, judge, f"preflight of kernel {asked['kernel_version']}")
    except (NotReadyError, WaitTimeoutError) as exc:
        exc.facts["special_resource"] = {"preflight": _verdicts(asked, judge.seen)}
        raise
    return _verdicts(asked, snapshot)


def _verdicts(asked: Data, snapshot: t.Mapping[str, t.Sequence[Data]]) -> Data:
    return {"kernel_version": asked["kernel_version"], "modules": [one for live in snapshot.get("preflights", ()) for one in preflight.modules(live)]}


def absent(api: Api, params: Data) -> Data:
    """The kernel module is unloaded everywhere before the Module is gone; what was made for it goes after it."""
    asked = (params["kmm"] or {}).get("preflight")
    gone = {"name": params["name"], "state": "absent", "reason": "", "nodes": []}
    with contextlib.suppress(KindNotServedError):
        if asked:
            api.delete(known(preflight.kind_of(asked)), preflight.name_of(asked))
        stays = params["name"] and not remove(api, MODULE, params["name"], params["namespace"]) and api.get(MODULE, params["name"], params["namespace"])
        if not params["name"] or stays:
            return gone
        Versions(api, params, []).forget()
        for kind in ("ConfigMap", "RoleBinding", "ServiceAccount"):
            for one in api.list(known(kind), params["namespace"], labels=f"{kmm.PART_OF}={params['name']}"):
                api.delete(known(kind), one["metadata"]["name"], params["namespace"])
    return gone
