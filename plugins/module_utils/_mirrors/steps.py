# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the module image_mirrors: read what says which images are needed, ask for each; write nothing."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core.errors import ForbiddenError, KindNotServedError
from .._core.objects import KubeObject, at
from .._kube.client import Api
from .._kube.kinds import known
from .._nodes.labels import labels
from .._nodes.taints import matches
from .._olm import catalogue, elsewhere, operators as olm_steps, subscription as olm_subscription, support
from .._operators import channels, upgrade_path
from .._operators.order import GPU, NETWORK, Wish
from .._operators.upgrade_path import Stop, Way
from .._stack.drivers import image, toolkit
from .._stack.drivers.registry import SETS
from .._stack.drivers.steps import look_up
from .._update.check import UNKNOWN, WARNING, Check, refusal, table, worst
from . import image_set, images, rules, verdicts
from .images import Operator, Wanted
from .verdicts import Asked

_WORKER: t.Final = "node-role.kubernetes.io/worker"
_MARKETPLACE: t.Final = "openshift-marketplace"
_CONFIG: t.Final = "openshift-config"
# The server asks the registries for one image after the other.
_AT_ONCE: t.Final = 20
T = t.TypeVar("T")


@dataclass(frozen=True)
class ImageMirrorsParams:
    """The options of image_mirrors. operators: entries of olm_operator. pools, validations: of gpu_plan."""

    operators: list[dict[str, t.Any]]
    pools: list[dict[str, t.Any]]
    validations: list[dict[str, t.Any]]
    driver: dict[str, t.Any]
    spec: dict[str, t.Any]
    nic_cluster_policy: dict[str, t.Any]
    images: list[str]
    image_set: t.Any
    namespace: str
    upgrades: bool
    mirrored_only: bool
    fail_on: str


@dataclass
class _Reader:
    """Reads what may be forbidden. unread: a check for each kind that was."""

    api: Api
    unread: list[Check] = field(default_factory=list)

    def get(self, kind: str, name: str, namespace: str | None = None) -> KubeObject | None:
        return self._read(kind, lambda: self.api.get(known(kind), name, namespace))

    def list(self, kind: str, namespace: str | None = None) -> list[KubeObject]:
        return self._read(kind, lambda: self.api.list(known(kind), namespace)) or []

    def _read(self, kind: str, look: t.Callable[[], T]) -> T | None:
        """Return what was read; None for a kind that is not served, or that the identity may not read."""
        try:
            return look()
        except KindNotServedError:
            return None
        except ForbiddenError as exc:
            self.unread.append(Check(kind, UNKNOWN, exc.message, exc.remedy, exc.code))
            return None


@dataclass(frozen=True)
class _Seen:
    """What the cluster says. sets: its mirror sets. nodes: those that may get GPUs."""

    sets: list[KubeObject]
    operators: list[Operator]
    streams: list[KubeObject]
    nodes: list[KubeObject]
    system: images.System


def check(api: Api, params: ImageMirrorsParams) -> dict[str, t.Any]:
    """Return the images with their answers, the file for oc-mirror, and the checks.

    Raises InputError for a file of the user's that does not bring them, and AcceleratorError, with the same
    facts, if a check is as severe as fail_on.
    """
    reader = _Reader(api)
    hub, digests = reader.get("OperatorHub", "cluster"), reader.list("ImageDigestMirrorSet")
    is_mirrored = bool(digests) or any(catalogue.disabled(hub, one) for one in catalogue.DEFAULT_SOURCES)
    if params.mirrored_only and not is_mirrored:
        return _facts(is_mirrored, [], [], reader.unread)
    seen = _look(reader, params, digests)
    pools = [{**pool, "archs": images.archs_of(pool, seen.nodes)} for pool in params.pools]
    wanted = _wanted(params, seen, pools)
    if params.image_set is not None:
        image_set.check(
            params.image_set, seen.operators, wanted, "gpu_mirror_config (module option image_set)"
        )
    asked = _ask(reader, params, seen, wanted)
    tag_set = rules.tag_set([one.route for one in asked], seen.sets)
    checks = [
        *verdicts.of_images(asked, tag_set),
        *_of_cluster(reader, seen, wanted),
        *_of_toolkit(reader, params, seen, pools),
        *_untagged(params, wanted),
    ]
    facts = _facts(is_mirrored, asked, seen.operators, [*checks, *reader.unread], tag_set)
    if error := refusal(checks, params.fail_on):
        error.facts.update(facts)
        raise error
    for one in checks:
        if params.mirrored_only and one.verdict in (UNKNOWN, WARNING):
            api.warn(f"{one.code}: {one.message}. {one.remedy}")
    return facts


def _facts(
    is_mirrored: bool,
    asked: t.Sequence[Asked],
    operators: t.Sequence[Operator],
    checks: t.Sequence[Check],
    tag_set: KubeObject | None = None,
) -> dict[str, t.Any]:
    return {
        "mirrored": is_mirrored,
        "images": [one.as_result() for one in asked],
        "image_table": verdicts.table(asked),
        "unlisted": [csv for one in operators for csv in images.unlisted(one)],
        "image_set": image_set.build(operators, [one.wanted for one in asked]),
        "image_tag_mirror_set": tag_set,
        "checks": [one.as_result() for one in checks],
        "verdict": worst(checks),
        "table": table(checks),
    }


def _look(reader: _Reader, params: ImageMirrorsParams, digests: list[KubeObject]) -> _Seen:
    more = [one for kind in SETS if kind != "ImageDigestMirrorSet" for one in _sets(reader.list(kind), kind)]
    release = support.cluster_release(reader.get("ClusterVersion", "version"))
    nodes = reader.list("Node")
    nodes = [node for node in nodes if _WORKER in labels(node)] or nodes
    catalogs, live = reader.list("CatalogSource", _MARKETPLACE), reader.list("Subscription")
    index = (catalogs, support.write(release) if release else "")
    operators = [
        _operator(reader, entry, live, index, params.upgrades)
        for entry in params.operators
        if not elsewhere.cluster_operator_of(entry["name"])
    ]
    stream = reader.get("ImageStream", toolkit.STREAM, toolkit.NAMESPACE)
    system = images.system_of(nodes, release) if release else images.System((0, 0), ())
    sets = [*_sets(digests, "ImageDigestMirrorSet"), *more]
    return _Seen(sets, operators, [stream] if stream else [], nodes, system)


def _sets(found: t.Iterable[KubeObject], kind: str) -> list[KubeObject]:
    return [{**one, "kind": kind} for one in found]


def _operator(
    reader: _Reader,
    entry: t.Mapping[str, t.Any],
    subscriptions: list[KubeObject],
    index: tuple[list[KubeObject], str],
    upgrades: bool,
) -> Operator:
    """Return an operator with its way: to the head of its channel, or to the CSV that its entry names."""
    package, namespace = entry["name"], entry["namespace"]
    live = olm_subscription.subscribed(subscriptions, package, namespace)
    installed = str(at(live, "status.installedCSV") or "")
    source = entry.get("source") or olm_subscription.source(live)
    where = entry.get("source_namespace") or _MARKETPLACE
    offer = olm_steps.find_offer(reader.api, package, source, where, live is None, 0.0)
    channel, csv = entry.get("channel") or "", entry.get("csv") or ""
    if live is None or not installed:
        offered = catalogue.channel(offer, channel)
        target = csv or str(offered.get("currentCSV") or "")
        catalogue.path_to(offered, target, package)
        way = Way(package, "", offered["name"], (Stop(offered["name"], target, (target,)),))
    elif upgrades:
        way = upgrade_path.find(
            offer, installed, channels.held(live), Wish(package, channel, csv, "operators")
        )
    else:
        way = Way(package, installed, channels.held(live))
    known_images = {
        str(one.get("currentCSV")): at(one, "currentCSVDesc.relatedImages") or []
        for one in at(offer, "status.channels") or []
    }
    if installed:
        running = reader.get("ClusterServiceVersion", installed, namespace)
        related = at(running, "spec.relatedImages") or []
        known_images[installed] = [one["image"] for one in related] or known_images.get(installed) or []
    return Operator(way, offer, image_set.index_of(catalogue.catalog(offer)[0], *index), known_images)


def _wanted(
    params: ImageMirrorsParams, seen: _Seen, pools: t.Sequence[t.Mapping[str, t.Any]]
) -> list[Wanted]:
    """Return each image that is needed once."""
    archs = sorted({arch for pool in pools for arch in pool["archs"]}) or ["amd64"]
    gpu = next((one.csvs for one in seen.operators if one.way.package == GPU), ())
    found = [one for operator in seen.operators for one in images.of_operator(operator, archs)]
    for driver, mine in _drivers(params, pools):
        names = tuple(pool["name"] for pool in mine)
        nodes = [node for pool in mine for node in _nodes_of(pool, seen.nodes)]
        whose = (names, tuple(sorted({arch for pool in mine for arch in pool["archs"]})))
        found += images.of_driver(driver, gpu, seen.system, nodes, whose)
    found += images.of_operands(params.spec, GPU, seen.system, archs, gpu)
    found += images.of_operands(params.nic_cluster_policy, NETWORK, seen.system, archs)
    if _built_here(params, pools):
        found += images.of_toolkit(seen.streams, seen.system, archs)
    found += images.of_validations(params.validations, pools)
    found += [Wanted(one, "gpu_mirror_images", ("you",), tuple(archs)) for one in params.images]
    return images.merged(found)


def _drivers(
    params: ImageMirrorsParams, pools: t.Sequence[t.Mapping[str, t.Any]]
) -> t.Iterator[tuple[t.Mapping[str, t.Any], list[t.Mapping[str, t.Any]]]]:
    """Yield each driver with its pools: that of all, and those of pools with their own."""
    if not pools:
        return
    yield params.driver, [pool for pool in pools if not pool.get("driver")] or list(pools)
    for pool in pools:
        if pool.get("driver"):
            yield {**params.driver, **pool["driver"]}, [pool]


def _nodes_of(pool: t.Mapping[str, t.Any], nodes: t.Iterable[KubeObject]) -> list[KubeObject]:
    wanted = pool.get("node_selector") or {}
    return [node for node in nodes if wanted and matches(wanted, labels(node))]


def _built_here(params: ImageMirrorsParams, pools: t.Collection[t.Mapping[str, t.Any]]) -> bool:
    """Return whether drivers are built on the nodes with the Driver Toolkit."""
    driver = params.driver
    precompiled = driver.get("use_precompiled") or driver.get("usePrecompiled")
    return bool(pools) and driver.get("enabled") is not False and not precompiled


def _untagged(params: ImageMirrorsParams, wanted: t.Iterable[Wanted]) -> list[Check]:
    """Return a check for a driver by tag whose whole tag is not known."""
    version = str(params.driver.get("version") or "")
    if not version or params.driver.get("enabled") is False or any(version in one.image for one in wanted):
        return []
    words = "no node shows which operating system its tag ends with"
    facts = {"image": f"driver:{version}-…", "words": words}
    return [Check.of("MIRROR-UNCHECKED", "driver tag", UNKNOWN, **facts)]


def _ask(reader: _Reader, params: ImageMirrorsParams, seen: _Seen, wanted: t.Sequence[Wanted]) -> list[Asked]:
    """Return what the cluster's registries say of each image.

    The API server asks them with the pull secrets of the namespace and of the cluster. Before the first run
    the operator has no namespace.
    """
    namespace = params.namespace if reader.get("Namespace", params.namespace) else "default"
    answers: dict[str, image.Answer] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = [one.image for one in wanted[start : start + _AT_ONCE]]
        answers |= look_up(reader.api, some, namespace)
    return [
        Asked(one, rules.route(one.image, seen.sets), answers[one.image], image_set.line(one, seen.operators))
        for one in wanted
    ]


def _of_toolkit(
    reader: _Reader, params: ImageMirrorsParams, seen: _Seen, pools: t.Sequence[t.Mapping[str, t.Any]]
) -> list[Check]:
    """Return the check of the Driver Toolkit: for the nodes of the pools, or else for all workers."""
    if not _built_here(params, pools) or any(one.name == "ImageStream" for one in reader.unread):
        return []
    mine = [node for pool in pools for node in _nodes_of(pool, seen.nodes)]
    return verdicts.of_toolkit(seen.streams[0] if seen.streams else None, mine or seen.nodes)


def _of_cluster(reader: _Reader, seen: _Seen, wanted: t.Sequence[Wanted]) -> list[Check]:
    """Return the checks of what is beside the images: lists of registries, proxy, certificates."""
    config = reader.get("Image", "cluster")
    proxy = reader.get("Proxy", "cluster")
    status = at(proxy, "status") or {}
    has_proxy = status.get("httpProxy") or status.get("httpsProxy")
    network = reader.get("Network", "cluster") if has_proxy else None
    found = [*verdicts.of_lists(config, wanted), *verdicts.of_proxy(proxy, network, seen.nodes)]
    for kind, path, authority, key in (
        ("Proxy cluster", "spec.trustedCA", at(proxy, "spec.trustedCA.name"), "ca-bundle.crt"),
        ("Image cluster", "spec.additionalTrustedCA", at(config, "spec.additionalTrustedCA.name"), ""),
    ):
        before = len(reader.unread)
        live = reader.get("ConfigMap", authority, _CONFIG) if authority else None
        if authority and len(reader.unread) == before:
            found += verdicts.of_authorities(f"{kind} {path}: {authority}", live, key)
    return found
