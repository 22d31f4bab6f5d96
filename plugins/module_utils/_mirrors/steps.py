# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Steps of the module image_mirrors: read what says which images are needed, ask for each; write nothing."""

from __future__ import annotations

import typing as t
from dataclasses import dataclass, field

from .._core import references, secrets
from .._core.errors import ForbiddenError, KindNotServedError
from .._core.objects import KubeObject, at
from .._kube.client import Api
from .._kube.kinds import known
from .._monitoring import console
from .._nodes.labels import labels
from .._olm import catalogue, elsewhere, operators as olm_steps, subscription as olm_subscription, support
from .._operators import channels, upgrade_path
from .._operators.order import GPU, NETWORK, Wish
from .._operators.upgrade_path import Stop, Way
from .._pull_secret import docker_config
from .._stack.drivers import image, toolkit
from .._stack.drivers.registry import SETS
from .._stack.drivers.steps import look_up
from .._update.check import OK, UNKNOWN, Check, refusal, table, worst
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
    """The options of image_mirrors. operators: entries of olm_operator. pools, validations: of gpu_plan.

    console_image: None without the console plugin.
    """

    operators: list[dict[str, t.Any]]
    pools: list[dict[str, t.Any]]
    validations: list[dict[str, t.Any]]
    driver: dict[str, t.Any]
    spec: dict[str, t.Any]
    nic_cluster_policy: dict[str, t.Any]
    images: list[str]
    console_image: str | None
    image_set: t.Any
    namespace: str
    upgrades: bool
    mirrored_only: bool
    fail_on: str


@dataclass
class _Reader:
    """Reads what may be forbidden, each once. unread: a check for each kind that was."""

    api: Api
    unread: list[Check] = field(default_factory=list)
    _found: dict[tuple[str, ...], t.Any] = field(default_factory=dict)

    def get(self, kind: str, name: str, namespace: str = "") -> KubeObject | None:
        return self._read(lambda: self.api.get(known(kind), name, namespace or None), kind, namespace, name)

    def list(self, kind: str, namespace: str = "") -> list[KubeObject]:
        return self._read(lambda: self.api.list(known(kind), namespace or None), kind, namespace) or []

    def _read(self, look: t.Callable[[], T], *key: str) -> T | None:
        """Return what was read; None for a kind that is not served, or that the identity may not read."""
        if key not in self._found:
            self._found[key] = None
            try:
                self._found[key] = look()
            except KindNotServedError:
                pass
            except ForbiddenError as exc:
                self.unread.append(Check(key[0], UNKNOWN, exc.message, exc.remedy, exc.code))
        return t.cast("T | None", self._found[key])

    def is_unread(self, kind: str) -> bool:
        """Return whether the identity may not read the kind."""
        return any(one.name == kind for one in self.unread)


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
    for number, text in enumerate(params.images):
        setting = "this image in gpu_mirror_images or gpu_policy_spare_image (module option images)"
        references.check(text, f"images[{number}]", setting)
    setting = "gpu_monitoring_console_image (module option console_image)"
    references.check(params.console_image, "console_image", setting)
    reader = _Reader(api)
    hub = reader.get("OperatorHub", "cluster")
    is_cut_off = any(catalogue.disabled(hub, one) for one in catalogue.DEFAULT_SOURCES)
    is_mirrored = is_cut_off or any(map(reader.list, SETS))
    if params.mirrored_only and not is_mirrored:
        return _facts(is_mirrored, [], [], reader.unread)
    seen = _look(reader, params)
    pools = [images.with_nodes(pool, seen.nodes) for pool in params.pools]
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
        if params.mirrored_only and one.verdict != OK:
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
        "unlisted": [csv for one in operators for csv in one.csvs if not one.images.get(csv)],
        "image_set": image_set.build(operators, [one.wanted for one in asked]),
        "image_tag_mirror_set": tag_set,
        "checks": [one.as_result() for one in checks],
        "verdict": worst(checks),
        "table": table(checks),
    }


def _look(reader: _Reader, params: ImageMirrorsParams) -> _Seen:
    sets = [{**one, "kind": kind} for kind in SETS for one in reader.list(kind)]
    release = support.cluster_release(reader.get("ClusterVersion", "version"))
    nodes = reader.list("Node")
    nodes = [node for node in nodes if _WORKER in labels(node)] or nodes
    live = reader.list("Subscription")
    operators = [
        _operator(reader, entry, live, release, params.upgrades)
        for entry in params.operators
        if not elsewhere.cluster_operator_of(entry["name"])
    ]
    stream = reader.get("ImageStream", toolkit.STREAM, toolkit.NAMESPACE)
    system = images.system_of(nodes, release) if release else images.System((0, 0), ())
    return _Seen(sets, operators, [stream] if stream else [], nodes, system)


def _operator(
    reader: _Reader,
    entry: t.Mapping[str, t.Any],
    subscriptions: list[KubeObject],
    release: support.Release | None,
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
    text = support.write(release) if release else ""
    index = image_set.index_of(catalogue.catalog(offer)[0], reader.list("CatalogSource", where), text)
    return Operator(way, offer, index, known_images)


def _wanted(
    params: ImageMirrorsParams, seen: _Seen, pools: t.Sequence[t.Mapping[str, t.Any]]
) -> list[Wanted]:
    """Return each image that is needed once."""
    archs = sorted({arch for pool in pools for arch in pool["archs"]}) or ["amd64"]
    gpu = next((one.csvs for one in seen.operators if one.way.package == GPU), ())
    found = [one for operator in seen.operators for one in images.of_operator(operator, archs)]
    for pool in pools:
        driver = {**params.driver, **(pool.get("driver") or {})}
        whose = ((pool["name"],), pool["archs"])
        found += images.of_driver(driver, gpu, seen.system, pool["nodes"], whose)
    found += images.of_operands(params.spec, GPU, seen.system, archs, gpu)
    found += images.of_operands(params.nic_cluster_policy, NETWORK, seen.system, archs)
    if _built_here(params, pools):
        found += images.of_toolkit(seen.streams, seen.system, archs)
    found += images.of_validations(params.validations, pools)
    if params.console_image is not None:
        workers = sorted({*archs, *(labels(node).get(images.ARCH, archs[0]) for node in seen.nodes)})
        plugin = params.console_image or console.image(seen.system.release)
        found.append(Wanted(plugin, "plugin of the console", ("gpu_monitoring",), tuple(workers)))
    found += [Wanted(one, "gpu_mirror_images", ("you",), tuple(archs)) for one in params.images if one]
    return images.merged(found)


def _built_here(params: ImageMirrorsParams, pools: t.Collection[t.Mapping[str, t.Any]]) -> bool:
    """Return whether drivers are built on the nodes with the Driver Toolkit."""
    driver = params.driver
    precompiled = driver.get("use_precompiled") or driver.get("usePrecompiled")
    return bool(pools) and driver.get("enabled") is not False and not precompiled


def _untagged(params: ImageMirrorsParams, wanted: t.Iterable[Wanted]) -> list[Check]:
    """Return a check for a driver by tag whose whole tag is not known."""
    version = str(params.driver.get("version") or "")
    is_used = any("version" not in (pool.get("driver") or {}) for pool in params.pools)
    is_on = version and is_used and params.driver.get("enabled") is not False
    if not is_on or any(version in one.image for one in wanted):
        return []
    words = "no node shows which operating system its tag ends with"
    facts = {"image": f"driver:{version}-…", "words": words, "mirror": "REGISTRY"}
    return [Check.of("MIRROR-UNCHECKED", "driver tag", UNKNOWN, **facts)]


def _ask(reader: _Reader, params: ImageMirrorsParams, seen: _Seen, wanted: t.Sequence[Wanted]) -> list[Asked]:
    """Return what the cluster's registries say of each image.

    The API server asks them with the pull secrets of the namespace and of the cluster. Before the first run
    the operator has no namespace. This machine asks for images that the API server cannot look up.
    """
    namespace = params.namespace if reader.get("Namespace", params.namespace) else "default"
    answers: dict[str, image.Answer] = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = [one.image for one in wanted[start : start + _AT_ONCE]]
        answers |= look_up(reader.api, some, namespace)
    asked = [
        Asked(one, rules.route(one.image, seen.sets), answers[one.image], image_set.line(one, seen.operators))
        for one in wanted
    ]
    left = [one for one in asked if one.is_left]
    direct = {one.image: one for one in _asked_from_here(reader, namespace, left)} if left else {}
    return [
        one._replace(answer=direct.get(one.wanted.image, one.answer), is_direct=one in left) for one in asked
    ]


def _asked_from_here(reader: _Reader, namespace: str, asked: t.Sequence[Asked]) -> list[image.Answer]:
    """Return what registries tell this machine, with the logins and the authorities of the cluster."""
    from .registry import Registries  # most clusters look images up themselves

    auths: docker_config.Auths = {}
    for one in [reader.get("Secret", "pull-secret", _CONFIG), *reader.list("Secret", namespace)]:
        if at(one, "type") == docker_config.TYPE:
            auths |= docker_config.read(at(one, "data") or {})
    secrets.register(*docker_config.secret_strings(auths))
    config, proxy = reader.get("Image", "cluster"), reader.get("Proxy", "cluster")
    names = [at(config, "spec.additionalTrustedCA.name"), at(proxy, "spec.trustedCA.name")]
    maps = [reader.get("ConfigMap", name, _CONFIG) for name in names if name]
    authorities = [text for one in maps for text in (at(one, "data") or {}).values()]
    known_auths = None if reader.is_unread("Secret") else auths
    try:
        registries = Registries(reader.api, known_auths, authorities)
    except OSError as exc:
        words = f"the certificate authorities of the cluster cannot be read: {exc}"
        return list(image.not_asked((one.wanted.image for one in asked), words).values())
    return registries.look_up((one.wanted, one.route) for one in asked)


def _of_toolkit(
    reader: _Reader, params: ImageMirrorsParams, seen: _Seen, pools: t.Sequence[t.Mapping[str, t.Any]]
) -> list[Check]:
    """Return the check of the Driver Toolkit: for the nodes of the pools, or else for all workers."""
    if not _built_here(params, pools) or reader.is_unread("ImageStream"):
        return []
    mine = [node for pool in pools for node in pool["nodes"]]
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
        live = reader.get("ConfigMap", authority, _CONFIG) if authority else None
        if authority and not reader.is_unread("ConfigMap"):
            found += verdicts.of_authorities(f"{kind} {path}: {authority}", live, key)
    return found
