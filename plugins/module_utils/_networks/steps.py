# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of gpu_network: check, ask, write the objects of the networks, and wait until every node has them."""

from __future__ import annotations

import contextlib
import typing as t
from dataclasses import dataclass

from .._core import fields
from .._core.errors import AcceleratorError, ApiError, KindNotServedError
from .._core.input import Problems
from .._core.objects import KubeObject, name, named
from .._core.ownership import POOL, owned, selector, validation_namespace
from .._frame.adopt_or_apply import adopt_or_apply, refuse_conflicts
from .._frame.argspec import BusyParams, LockParams, StateParams
from .._frame.dry_run import dry_run_apply
from .._frame.nested import near
from .._frame.patch_as_read import patch_as_read
from .._impact import consent
from .._impact.impact import Question
from .._kube.client import Api, Query
from .._kube.kinds import Kind, known
from .._nodes import drain
from . import judge, objects, rules
from .objects import ADDED, ADDRESSES, CLUSTER_NETWORK, MAKERS, NETWORK, POLICY, SRIOV_NAMESPACE, STATE
from .schema import MACVLAN, Network

Result = dict[str, t.Any]
NODE: t.Final = known("Node")
_DENIED: t.Final = "denied the request"


class GpuNetworkParams(StateParams, BusyParams, LockParams):
    """The options of gpu_network. pools: names, for a removal of the functions of these pools alone.

    validation_namespace: the only namespace that the module makes, for traffic between the nodes of a pool.
    """

    networks: list[dict[str, t.Any]]
    pools: list[str]
    adopt: t.Literal["report", "take"]
    nic_namespace: str
    wait_for_driver: bool
    grace: float
    validation_namespace: str


@dataclass
class _Seen:
    """What is there before the first write. live: kind -> its objects; a kind that is not served has none."""

    live: dict[str, list[KubeObject]]
    served: set[str]
    nodes: dict[str, list[KubeObject]]
    states: list[KubeObject]
    cluster: KubeObject

    def of(self, wanted: KubeObject) -> KubeObject | None:
        """Return the live object of this name, or None."""
        space = wanted["metadata"].get("namespace")
        found = [obj for obj in self.live[wanted["kind"]] if obj["metadata"].get("namespace") == space]
        return named(found, name(wanted)) or None

    def nodes_of(self, network: Network) -> list[KubeObject]:
        """Return the nodes of the network's pools, each once."""
        nodes = [node for pool in network.pools for node in self.nodes[pool.name]]
        return list({name(node): node for node in nodes}.values())


def present(api: Api, params: GpuNetworkParams) -> Result:
    """Bring the networks to the cluster, and wait until every node has them. Return the module's result.

    Raises AcceleratorError before the first write for anything that is in the way.
    """
    networks = rules.read(params["networks"], "gpu_networks")
    if not networks:
        return {"networks": [], "rebooted": [], "ends": []}
    seen = _look(api, params["nic_namespace"], networks)
    wanted = objects.build(networks, params["nic_namespace"], MAKERS[MACVLAN].kind in seen.served)
    problems = Problems()
    has_new_namespace = _check(api, networks, seen, params["validation_namespace"], problems)
    _check_cards(api, networks, wanted, seen, problems)
    for obj in wanted:
        _refuse_foreign(obj, seen)
        refuse_conflicts(seen.of(obj), obj, params["adopt"])
    stale = _stale(networks, wanted, seen)
    questions, nodes = _questions(wanted, stale, seen)
    ends = consent.ask(api, questions, params["on_busy"], "NET-BUSY")
    _merge(api, networks)  # the first write, as it refuses entries of others
    if any(network.is_sriov for network in networks) and _prepare(api, params, networks, seen):
        _check_cards(api, networks, wanted, seen, Problems())
    if has_new_namespace:
        api.apply(validation_namespace(params["validation_namespace"]))
    for obj in stale:
        api.delete(_kind(obj), name(obj), obj["metadata"].get("namespace"))
    for obj in wanted:
        adopt_or_apply(api, _kind(obj), obj, params["adopt"], seen.of(obj))
    snapshot = _wait(api, params, networks, wanted, seen)
    found = [judge.summarize(network, snapshot) for network in networks]
    return {"networks": found, "rebooted": nodes, "ends": ends}


def absent(api: Api, params: GpuNetworkParams) -> Result:
    """Delete what this collection made of the networks, or of some pools. Return the module's result."""
    names, pools = rules.names(params["networks"], "gpu_networks"), params["pools"]
    kinds = objects.KINDS if names else (POLICY, objects.POOL_CONFIG)
    live, served = _list(api, params["nic_namespace"], kinds)
    going = [
        obj
        for kind in objects.KINDS
        for obj in live[kind.kind]
        if owned(obj) and (_label(obj, NETWORK) in names or _label(obj, POOL) in pools)
    ]
    if POLICY.kind in served and names:
        left = [obj for obj in live[POLICY.kind] if obj not in going]
        configs = [obj for obj in live[objects.POOL_CONFIG.kind] if owned(obj) and obj not in going]
        using = {_label(obj, POOL) for obj in left}
        going += [obj for obj in configs if _label(obj, POOL) not in using]
    policies = [obj for obj in going if _ends_work(obj, {})]
    questions = [_question(obj, "goes") for obj in policies]
    nodes = {name(node) for asked in questions for node in api.list(NODE, labels=asked.labels)}
    ends = consent.ask(api, questions, params["on_busy"], "NET-BUSY")
    cards = judge.cards_of({name(obj) for obj in policies}, api.list(STATE, SRIOV_NAMESPACE) if nodes else [])
    for obj in going:
        api.delete(_kind(obj), name(obj), obj["metadata"].get("namespace"))
    if nodes and not api.check_mode:
        query = {"states": Query(STATE, SRIOV_NAMESPACE)}
        judged = judge.gone({name(obj) for obj in policies}, nodes, cards)
        api.wait(query, judged, "networks leave", on_timeout_code="NET-LEFT")
    if names:
        _merge(api, [], names)
    users = _users(live, going) if names and POLICY.kind in served else []
    if names and POLICY.kind in served and not users:
        api.delete(objects.OPERATOR_CONFIG, "default", SRIOV_NAMESPACE)
    gone = [{"name": network, "state": "absent"} for network in names]
    return {"networks": gone, "rebooted": sorted(nodes), "ends": ends, "needed_by": users}


def _look(api: Api, namespace: str, networks: t.Sequence[Network]) -> _Seen:
    live, served = _list(api, namespace)
    pools = {pool.name: pool for network in networks for pool in network.pools}
    cluster = _cluster_network(api)
    return _Seen(
        live,
        served | ({CLUSTER_NETWORK.kind} if "spec" in cluster else set()),
        {pool.name: api.list(NODE, labels=selector(pool.node_selector)) for pool in pools.values()},
        api.list_if_served(STATE, SRIOV_NAMESPACE),
        cluster,
    )


def _list(
    api: Api, namespace: str, kinds: t.Sequence[Kind] = objects.KINDS
) -> tuple[dict[str, list[KubeObject]], set[str]]:
    """Return the objects of all kinds of networks, and the kinds that the cluster serves."""
    live: dict[str, list[KubeObject]] = {kind.kind: [] for kind in objects.KINDS}
    served = set()
    # Each operator looks at nothing outside its own namespace.
    places = {POLICY.group: SRIOV_NAMESPACE, ADDRESSES[0].group: namespace}
    for kind in kinds:
        with contextlib.suppress(KindNotServedError):
            live[kind.kind] = api.list(kind, places.get(kind.group))
            served.add(kind.kind)
    return live, served


def _check(api: Api, networks: t.Sequence[Network], seen: _Seen, made: str, problems: Problems) -> bool:
    """Add a problem for an operator or a namespace that is missing, and for addresses in use.

    Return whether the namespace `made` is missing, which this module may make.
    """
    spaces = {name(space): space["metadata"] for space in api.list(known("Namespace"), metadata_only=True)}
    for network in networks:
        for index, space in enumerate(network.namespaces):
            if why := _space_fault(space, {made: {}, **spaces}):
                problems.add("NET-NAMESPACE", f"{network.path}.namespaces[{index}]", why=why)
        rules.check_cluster(network, seen.cluster, problems)
        rules.check_size(network, len(seen.nodes_of(network)), problems)
        pool, kind = network.ipam.get("pool"), ADDRESSES[0]
        if pool and kind.kind in seen.served and not named(seen.live[kind.kind], pool):
            problems.add("NET-VALUE", f"{network.path}.ipam.pool", why=f"{kind.kind} {pool} does not exist")
        missing = _missing(network, seen.served)
        if missing and (missing == CLUSTER_NETWORK or not api.check_mode):
            problems.add(
                "NET-NO-OPERATOR", f"{network.path}.kind", kind=missing.resource, by=missing.provider
            )
    return made not in spaces and any(made in network.namespaces for network in networks)


def _space_fault(space: str, spaces: t.Mapping[str, KubeObject]) -> str:
    """Return why no pod can start in the namespace, or "". spaces: those that exist, with their metadata."""
    if space in spaces:
        since = spaces[space].get("deletionTimestamp")
        return f"namespace {space} is being deleted since {since}" if since else ""
    return f"namespace {near(space, spaces)} does not exist"


def _missing(network: Network, served: t.Collection[str]) -> Kind | None:
    """Return a kind that the network needs and the cluster does not serve."""
    needs = [MAKERS[network.kind]] if network.kind in MAKERS and network.kind != MACVLAN else []
    needs += [ADDRESSES["prefix" in network.ipam]] if network.ipam.get("type") == "nv-ipam" else []
    needs += [CLUSTER_NETWORK] if objects.in_cluster_network(network) else []
    return next((kind for kind in needs if kind.kind not in served), None)


def _refuse_foreign(obj: KubeObject, seen: _Seen) -> None:
    """Raise AcceleratorError for an object of others that has the name of one of ours."""
    live = seen.of(obj)
    if live is None and (space := (obj.get("spec") or {}).get("networkNamespace")):
        # The operator would write over an attachment of others.
        metadata = {"name": name(obj), "namespace": space}
        obj = {"kind": objects.ATTACHMENT.kind, "metadata": metadata}
        live = seen.of(obj)
    if live is not None and not owned(live):
        space = obj["metadata"].get("namespace")
        raise AcceleratorError(
            "NET-FOREIGN",
            object=objects.object_name(obj),
            kind=_kind(obj).resource,
            name=name(obj),
            also=f" -n {space}" if space else "",
        )


def _stale(networks: t.Sequence[Network], wanted: t.Sequence[KubeObject], seen: _Seen) -> list[KubeObject]:
    """Return our objects of these networks that they do not have any more."""
    names, keys = {network.name for network in networks}, {_key(obj) for obj in wanted}
    configs = seen.live[objects.POOL_CONFIG.kind]
    pools = {pool.name for network in networks if network.is_sriov for pool in network.pools}
    found = [obj for kind in objects.KINDS for obj in seen.live[kind.kind] if _label(obj, NETWORK) in names]
    found += [obj for obj in configs if _label(obj, POOL) in pools]
    return [obj for obj in found if owned(obj) and _key(obj) not in keys]


def _key(obj: KubeObject) -> tuple[str, str, str]:
    return obj["kind"], str(obj["metadata"].get("namespace") or ""), name(obj)


def _label(obj: KubeObject, key: str) -> str:
    return str((obj["metadata"].get("labels") or {}).get(key) or "")


def _kind(obj: KubeObject) -> Kind:
    return known(obj["kind"])


def _questions(
    wanted: t.Sequence[KubeObject], stale: t.Sequence[KubeObject], seen: _Seen
) -> tuple[list[Question], list[str]]:
    """Return what to ask before the write, and the nodes that the SR-IOV operator empties or reboots."""
    found = [(obj, "goes") for obj in stale if _ends_work(obj, {})]
    for obj in wanted:
        live = seen.of(obj)
        if live is None or fields.applied(live, obj).get("spec") != live.get("spec"):
            found += [(obj, "changes" if live else "is new")] if _ends_work(obj, live or {}) else []
    nodes = {name(node) for obj, _how in found for node in seen.nodes.get(_label(obj, POOL), ())}
    return [_question(obj, how) for obj, how in found], sorted(nodes)


def _ends_work(obj: KubeObject, other: KubeObject) -> bool:
    """Return True if the SR-IOV operator empties nodes for the change from one of these to the other."""
    modes = [(one.get("spec") or {}).get("rdmaMode") for one in (obj, other)]
    return obj["kind"] == POLICY.kind or (obj["kind"] == objects.POOL_CONFIG.kind and modes[0] != modes[1])


def _question(obj: KubeObject, how: str) -> Question:
    """Return the question about the pods that a write of this object ends."""
    spec = obj.get("spec") or {}
    chosen = spec.get("nodeSelector") or {}
    labels = chosen.get("matchLabels", {}) if obj["kind"] == objects.POOL_CONFIG.kind else chosen
    return Question(
        f"{objects.object_name(obj)} {how}: its nodes are drained, and rebooted if their cards need it",
        "the SR-IOV operator",
        selector(labels),
        is_certain=False,
        counts=drain.uses_devices,
    )


def _prepare(api: Api, params: GpuNetworkParams, networks: t.Sequence[Network], seen: _Seen) -> bool:
    """Start the SR-IOV operator's daemons where nobody has, and wait until they have read the cards.

    Return True if the task did not know all of these cards before.
    """
    wanted = objects.operator_config(params["wait_for_driver"])
    if not api.served(objects.OPERATOR_CONFIG):
        if api.check_mode:
            api.apply(wanted)
        return False
    live = api.get(objects.OPERATOR_CONFIG, name(wanted), SRIOV_NAMESPACE)
    adopt_or_apply(api, objects.OPERATOR_CONFIG, wanted, params["adopt"], live)
    nodes = [node for network in networks if network.is_sriov for node in seen.nodes_of(network)]
    judged, before = judge.known_to(nodes), seen.states
    query = {"states": Query(STATE, SRIOV_NAMESPACE)}
    seen.states = api.wait(query, judged, "cards of the nodes", on_timeout_code="NET-NO-STATE")["states"]
    return not judged({"states": before}).is_ready


def _check_cards(
    api: Api, networks: t.Sequence[Network], wanted: t.Sequence[KubeObject], seen: _Seen, problems: Problems
) -> None:
    """Raise InputError for the problems, those of the cards, and each policy that the webhook denies."""
    nodes = [(network, {*map(name, seen.nodes_of(network))}) for network in networks]
    rules.check_cards(nodes, seen.states, problems)
    paths = {network.name: f"{network.path}.{network.kind}" for network in networks}
    for obj in wanted if POLICY.kind in seen.served else ():
        if obj["kind"] == POLICY.kind and (answer := _denial(api, obj, seen.of(obj))):
            problems.add("NET-REFUSED", paths[_label(obj, NETWORK)], name=name(obj), answer=answer)
    problems.raise_if_any()


def _denial(api: Api, policy: KubeObject, live: KubeObject | None) -> str:
    """Return why the webhook of the SR-IOV operator denies the policy, or ""."""
    try:
        dry_run_apply(api, policy, live, force=True)
    except ApiError as exc:
        if _DENIED in exc.message:
            return exc.message[exc.message.index(_DENIED) + len(_DENIED) :].lstrip(": ")
        # The kind outlives the operator, whose namespace is not there then.
        if not api.check_mode or exc.status != 404:
            raise
    return ""


def _merge(api: Api, networks: t.Sequence[Network], gone: t.Collection[str] = ()) -> None:
    """Bring our entries of additionalNetworks to the cluster's Network; those of others stay.

    The list has no merge key, so it is written as a whole, with the version that was read.
    """
    asked = [
        objects.additional_network(network, space)
        for network in networks
        if objects.in_cluster_network(network)
        for space in network.namespaces
    ]
    names = {*gone, *(network.name for network in networks)}

    def patch() -> KubeObject:
        live = _cluster_network(api)
        ours = objects.added(live)
        if not ours and not asked:
            return {}
        entries = (live.get("spec") or {}).get("additionalNetworks") or []
        _refuse_entries(asked, entries, ours)
        keys = {_entry(entry) for entry in asked}
        going = {key for key in ours if key.partition("/")[2] in names} - keys
        after = [*(entry for entry in entries if _entry(entry) not in keys | going), *asked]
        if sorted(after, key=_entry) == sorted(entries, key=_entry):
            return {}
        metadata = {
            "resourceVersion": live["metadata"]["resourceVersion"],
            "annotations": {ADDED: ",".join(sorted(ours - going | keys)) or None},
        }
        return {"metadata": metadata, "spec": {"additionalNetworks": after}}

    patch_as_read(api, CLUSTER_NETWORK, "cluster", patch)


def _cluster_network(api: Api) -> KubeObject:
    """Return the cluster's Network; without one, an object that has nothing."""
    return api.get_if_served(CLUSTER_NETWORK, "cluster") or {"metadata": {}}


def _entry(entry: t.Mapping[str, t.Any]) -> str:
    return f"{entry.get('namespace') or 'default'}/{entry.get('name')}"


def _refuse_entries(
    asked: t.Iterable[KubeObject], entries: t.Iterable[KubeObject], ours: t.Collection[str]
) -> None:
    there = {_entry(entry): entry for entry in entries}
    for entry in asked:
        key = _entry(entry)
        if key in there and key not in ours and there[key] != entry:
            where = f"additionalNetworks entry {key} of Network cluster"
            kind = CLUSTER_NETWORK.resource
            raise AcceleratorError("NET-FOREIGN", object=where, kind=kind, name="cluster")


def _wait(
    api: Api,
    params: GpuNetworkParams,
    networks: t.Sequence[Network],
    wanted: t.Sequence[KubeObject],
    seen: _Seen,
) -> dict[str, list[KubeObject]]:
    """Wait until the networks are ready, and return what was seen then."""
    if api.check_mode:
        nodes = {judge.nodes_of(pool): found for pool, found in seen.nodes.items()}
        attachments = seen.live[objects.ATTACHMENT.kind]
        return {**seen.live, **nodes, "attachments": attachments, "states": seen.states}
    made = {obj["kind"] for obj in wanted}
    return api.wait(
        judge.queries(networks, params["nic_namespace"], made),
        judge.Judge(networks, params["grace"], api.clock),
        "networks",
        on_timeout_code="NET-PENDING",
    )


def _users(live: t.Mapping[str, t.Sequence[KubeObject]], going: t.Sequence[KubeObject]) -> list[str]:
    """Return what still needs the SR-IOV operator, each as a phrase."""
    kinds = [kind.kind for kind in objects.KINDS if kind.group == POLICY.group]
    left = [obj for kind in kinds for obj in live[kind] if obj not in going]
    return [objects.object_name(obj) for obj in left]
