# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""What keeps nodes from pulling an image, as checks with a verdict: mirrors, registries, proxy, toolkit."""

from __future__ import annotations

import ipaddress
import json
import re
import typing as t

from .._core.objects import KubeObject, at, name, number_of
from .._nodes.system import system
from .._stack.drivers import image, toolkit
from .._stack.drivers.image import MISSING, NOT_ASKED, REFUSED, THERE, Answer
from .._stack.drivers.registry import lies_in
from .._update.check import BLOCKING, OK, UNKNOWN, WARNING, Check
from .images import Wanted
from .rules import Route, split

_BUSY: t.Final = re.compile(r"\b429\b|toomanyrequests|too many requests", re.IGNORECASE)
_LIMITED: t.Final = "429, too many requests"
_FORBIDDEN: t.Final = re.compile(r"\b403\b|denied|forbidden", re.IGNORECASE)
_CODES: t.Final = {NOT_ASKED: "MIRROR-UNCHECKED", MISSING: "MIRROR-MISSING", REFUSED: "MIRROR-DENIED"}
_DIGEST: t.Final = re.compile(r"(@sha256:[0-9a-f]{12})[0-9a-f]+")
# Names that each cluster reaches without a proxy.
_INSIDE: t.Final = (".svc", ".cluster.local")


class Asked(t.NamedTuple):
    """An image, where nodes look for it, and what the registries said.

    line: brings it into the mirror. is_direct: this machine asked, and not the API server.
    """

    wanted: Wanted
    route: Route
    answer: Answer
    line: str
    is_direct: bool = False

    @property
    def is_left(self) -> bool:
        """Return whether the API server has no API for images, or is older and asked no mirror."""
        words, mirrors = self.answer.words, [one for one in self.route.asked if one != self.wanted.image]
        is_asked = any(one.partition("/")[0] in words for one in mirrors)
        is_blind = self.answer.verdict == image.UNREACHABLE and self.route.sets and not is_asked
        return words == image.NO_API or bool(is_blind)

    @property
    def proof(self) -> str:
        """Return who asked: the API server of the cluster, this machine, or nobody."""
        return "none" if self.answer.verdict == NOT_ASKED else "controller" if self.is_direct else "cluster"

    @property
    def said(self) -> str:
        """Return the answer in the words of the registry API."""
        words = self.answer.words
        if not self.route.asked:
            return "no mirror"
        if self.answer.verdict == THERE:
            lacking = self.lacking
            return f"has no manifest for {' and '.join(lacking)}" if lacking else "there"
        if self.answer.verdict == MISSING:
            return "404, no blob" if "blob unknown" in self.answer.words else "404, not found"
        if self.answer.verdict == NOT_ASKED:
            return "unchecked"
        if self.answer.verdict == REFUSED:
            return "403, access denied" if _FORBIDDEN.search(words) else "401, no login that is good"
        return _LIMITED if _BUSY.search(words) else "no answer"

    @property
    def lacking(self) -> list[str]:
        """Return the architectures that the image lacks; none if the server did not say which it has."""
        return sorted({*self.wanted.archs} - {*self.answer.archs}) if self.answer.archs else []

    @property
    def code(self) -> str:
        """Return the code of what is wrong with the image, or "".

        The API server also asks a source that a set forbids to nodes.
        """
        is_open = bool(self.route.asked) and self.answer.verdict in (THERE, NOT_ASKED)
        if self.route.lacks_tags and not is_open:
            return "MIRROR-TAG"
        if self.answer.verdict == THERE:
            return "MIRROR-ARCH" if self.lacking else ""
        return _CODES.get(self.answer.verdict, "MIRROR-AWAY")

    @property
    def decider(self) -> str:
        """Return the reference whose answer decides: other registries may just lack the image."""
        parts = self.answer.words.split(", ")
        found = [
            one
            for part in parts
            for one in self.route.asked
            if one in part and image.by_words(self.wanted.image, part) == self.answer.verdict
        ]
        return (*found, *self.route.asked, self.wanted.image)[0]

    def mildness(self) -> tuple[bool, bool]:
        """Return the sort key by which the image that decides about a check is the first."""
        return self.said == _LIMITED, self.wanted.seldom

    def as_result(self) -> dict[str, t.Any]:
        """Return the image as the module returns it."""
        one = self.wanted
        return {
            "image": one.image,
            "why": one.why,
            "needed_by": list(one.needed_by),
            "architectures": list(one.archs),
            "package": one.package,
            "asked": list(self.route.asked),
            "answer": self.said,
            "proof": self.proof,
            "digest": self.answer.digest,
            "code": self.code,
        }


def of_images(asked: t.Sequence[Asked], tag_set: KubeObject | None = None) -> list[Check]:
    """Return a check for each thing that is wrong with images, and one if all are there. tag_set: to make."""
    found = []
    for code in dict.fromkeys(one.code for one in asked if one.code):
        those = sorted((one for one in asked if one.code == code), key=Asked.mildness)
        found.append(_check(code, those, json.dumps(tag_set)))
    if not found and asked:
        message = f"all {number_of(len(asked), 'image')} resolve with the mirrors and logins of the cluster"
        if direct := sum(one.is_direct for one in asked):
            message += f"; this machine asked for {direct} of them, and nodes may have another way"
        found.append(Check("images", OK, message))
    return found


def _check(code: str, asked: t.Sequence[Asked], tag_set: str) -> Check:
    first, one = asked[0], asked[0].wanted
    is_unknown = code == "MIRROR-UNCHECKED" or first.said == _LIMITED
    verdict = UNKNOWN if is_unknown else WARNING if one.seldom else BLOCKING
    evidence = [
        f"{it.wanted.image} ({it.wanted.why}, for {', '.join(it.wanted.needed_by)}): "
        f"{', '.join(it.route.asked) or 'no registry'}: {it.said}"
        f"{f': {it.answer.words}' if it.answer.words else ''}"
        f"{f'; add {it.line}' if code in ('MIRROR-ARCH', 'MIRROR-MISSING') else ''}"
        for it in asked
    ]
    return Check.of(
        code,
        code.removeprefix("MIRROR-").lower(),
        verdict,
        evidence,
        image=one.image,
        why=one.why,
        needed_by=", ".join(one.needed_by),
        asked=" and ".join(first.route.asked) or "no registry",
        said=first.said,
        words=first.answer.words or first.said,
        line=first.line,
        others=", ".join(first.route.others),
        host=first.decider.partition("/")[0],
        mirror=_destination(first),
        tag_set=tag_set,
        reference=first.decider,
        archs=" and ".join(first.lacking),
        also=f" ({number_of(len(asked) - 1, 'image')} more)" if asked[1:] else "",
    )


def _destination(asked: Asked) -> str:
    """Return where oc-mirror has to put the image: it appends the path that the image has at its source."""
    path = split(asked.wanted.image)[0].partition("/")[2]
    return image.destination(split(asked.route.asked[0])[0], path) if asked.route.sets else "REGISTRY"


def of_lists(config: KubeObject | None, wanted: t.Iterable[Wanted]) -> list[Check]:
    """Return a check for images whose registry the cluster's own lists do not allow.

    config: Image cluster. A node looks at the image's own name, whatever mirror it takes the image from.
    """
    lists = at(config, "spec.registrySources") or {}
    allowed, blocked = lists.get("allowedRegistries") or [], lists.get("blockedRegistries") or []
    key = "allowedRegistries" if allowed else "blockedRegistries"
    kept = [
        one for one in wanted if (allowed and not _listed(one.image, allowed)) or _listed(one.image, blocked)
    ]
    if not kept:
        return []
    hosts = sorted({split(one.image)[0].partition("/")[0] for one in kept})
    evidence = [f"{one.image} ({one.why})" for one in kept]
    left = [one for one in blocked if not any(_listed(it.image, [one]) for it in kept)]
    new = [*allowed, *hosts] if allowed else left
    patch = json.dumps({"spec": {"registrySources": {key: new}}})
    facts = {"key": key, "hosts": ", ".join(hosts), "image": kept[0].image, "patch": patch}
    return [Check.of("MIRROR-ALLOWED", "registry lists", BLOCKING, evidence, **facts)]


def _listed(image: str, entries: t.Iterable[str]) -> bool:
    return any(lies_in(split(image)[0], str(entry)) for entry in entries)


def of_proxy(
    proxy: KubeObject | None, network: KubeObject | None, nodes: t.Iterable[KubeObject]
) -> list[Check]:
    """Return a check for a proxy that gets requests which have to stay inside the cluster."""
    status = (proxy or {}).get("status") or {}
    if not status.get("httpProxy") and not status.get("httpsProxy"):
        return []
    spared = [part.strip() for part in str(status.get("noProxy") or "").split(",") if part.strip()]
    if "*" in spared:
        return []
    ranges = [
        *(str(one.get("cidr")) for one in at(network, "status.clusterNetwork") or []),
        *(str(one) for one in at(network, "status.serviceNetwork") or []),
    ]
    addresses = {
        str(one["address"]): name(node)
        for node in nodes
        for one in at(node, "status.addresses") or []
        if one.get("type") == "InternalIP"
    }
    # A domain stands for those below it, with a dot before it and without one.
    above = tuple(f".{one.lstrip('*.')}" for one in spared)
    lacking = [one for one in _INSIDE if not one.endswith(above)]
    lacking += [one for one in ranges if not _covers(spared, one)]
    outside = {
        str(ipaddress.ip_network(f"{one}/{64 if ':' in one else 24}", strict=False)): addresses[one]
        for one in addresses
        if not _covers(spared, one)
    }
    lacking += [f"{one} (node {outside[one]})" for one in sorted(outside)]
    if not lacking:
        return []
    now = [part for part in str(at(proxy, "spec.noProxy") or "").split(",") if part]
    patch = {"spec": {"noProxy": ",".join([*now, *(one.partition(" ")[0] for one in lacking)])}}
    facts = {"lacking": ", ".join(lacking), "patch": json.dumps(patch)}
    return [Check.of("MIRROR-PROXY", "proxy", WARNING, [f"noProxy: {','.join(spared)}"], **facts)]


def _covers(spared: t.Iterable[str], wanted: str) -> bool:
    """Return whether one of the ranges contains the range or the address."""
    network = ipaddress.ip_network(wanted, strict=False)
    for text in spared:
        try:
            found = ipaddress.ip_network(text, strict=False)
        except ValueError:
            continue
        if found.version == network.version and network.subnet_of(t.cast("t.Any", found)):
            return True
    return False


def of_authorities(place: str, config_map: KubeObject | None, key: str = "") -> list[Check]:
    """Return a check for certificate authorities that are not there.

    place: the field that names the ConfigMap, and its name. key: what it has to have.
    """
    if config_map is not None and (not key or (config_map.get("data") or {}).get(key)):
        return []
    field, _colon, wanted = place.partition(": ")
    why = f"has no {key}" if config_map is not None else "does not exist"
    command = "create configmap " if config_map is None else "set data configmap/"
    facts = {"field": field, "config_map": wanted, "why": why, "command": f"{command}{wanted}"}
    return [Check.of("MIRROR-CA", "trusted CA", BLOCKING, key=key or "HOST..PORT", **facts)]


def of_toolkit(stream: KubeObject | None, nodes: t.Iterable[KubeObject]) -> list[Check]:
    """Return a check for nodes whose RHCOS has no Driver Toolkit. It only warns while others have one."""
    tags = toolkit.images([stream]) if stream else {}
    seen = {name(node): system(node) for node in nodes}
    late = {key: one.image for key, one in seen.items() if one.coreos and one.image and one.image not in tags}
    if not late:
        return []
    node = min(late)
    has = f"it has {', '.join(sorted(tags))}" if tags else "it has none"
    evidence = [f"{key}: RHCOS {late[key]}" for key in sorted(late)]
    facts = {"node": node, "tag": late[node], "tags": has}
    verdict = BLOCKING if len(late) == len(seen) else WARNING
    return [Check.of("GPU-DTK-STREAM", "driver toolkit", verdict, evidence, **facts)]


def table(asked: t.Iterable[Asked]) -> list[str]:
    """Return the images as text, one line for each; digests are cut."""
    rows = [("IMAGE", "ANSWER", "PROOF", "FOR", "WHY")]
    rows += [
        (_DIGEST.sub(r"\1", it.image), one.said, one.proof, ", ".join(it.needed_by), it.why)
        for one in asked
        for it in [one.wanted]
    ]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    return ["  ".join([*map(str.ljust, row, widths), row[4]]) for row in rows]
