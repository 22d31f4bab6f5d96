# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each thing that keeps nodes from an image is a check with its code, and what is right is none."""

from __future__ import annotations

import json
import re
import typing as t

import pytest
from unit.mirrors.builders import DIGEST, MIRROR, mirror_set
from unit.mirrors.test_images import node

from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors import rules, verdicts
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.images import Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.verdicts import Asked
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.image import (
    MISSING,
    NOT_ASKED,
    REFUSED,
    THERE,
    UNREACHABLE,
    Answer,
    lookup_answers,
)

Data = dict[str, t.Any]
BY_DIGEST, BY_TAG = f"nvcr.io/nvidia/driver@{DIGEST}", "nvcr.io/nvidia/driver:580-rhel9"
SETS: t.Final = [mirror_set(nvcr_dot_io=f"{MIRROR}/nvcr")]
NODES: t.Final = [node()]


def asked(
    image: str = BY_DIGEST,
    verdict: str = THERE,
    words: str = "",
    archs: tuple[str, ...] = (),
    seldom: bool = False,
) -> Asked:
    wanted = Wanted(image, "driver", ("training",), ("amd64", "arm64"), "", seldom)
    return Asked(
        wanted, rules.route(image, SETS), Answer(image, verdict, words=words, archs=archs), "the line"
    )


@pytest.mark.parametrize(
    ("found", "code", "said"),
    [
        (asked(), "", "there"),
        (asked(archs=("amd64", "arm64", "ppc64le")), "", "there"),
        (asked(archs=("amd64",)), "MIRROR-ARCH", "has no manifest for arm64"),
        (asked(verdict=MISSING), "MIRROR-MISSING", "404, not found"),
        (asked(verdict=MISSING, words="r.io/a:1: blob unknown: b"), "MIRROR-MISSING", "404, no blob"),
        (asked(verdict=REFUSED, words="unauthorized: no"), "MIRROR-DENIED", "401, no login that is good"),
        (asked(verdict=REFUSED, words=": denied: no"), "MIRROR-DENIED", "403, access denied"),
        (asked(verdict=UNREACHABLE, words="toomanyrequests: x"), "MIRROR-AWAY", "429, too many requests"),
        (asked(verdict=UNREACHABLE, words="no such host"), "MIRROR-AWAY", "no answer"),
        (asked(verdict=NOT_ASKED, words="no API"), "MIRROR-UNCHECKED", "unchecked"),
        (asked(BY_TAG, UNREACHABLE, "no such host"), "MIRROR-TAG", "no answer"),
        (asked(BY_TAG, NOT_ASKED), "MIRROR-UNCHECKED", "unchecked"),
        (asked(BY_TAG), "", "there"),
    ],
)
def test_an_answer_has_its_code(found: Asked, code: str, said: str) -> None:
    assert (found.code, found.said) == (code, said)


@pytest.mark.parametrize("verdict", [THERE, NOT_ASKED, MISSING])
def test_a_tag_whose_source_nodes_may_not_ask_needs_a_set_whatever_the_server_finds(verdict: str) -> None:
    route = rules.route(BY_TAG, [mirror_set(never=True, nvcr_dot_io=f"{MIRROR}/nvcr")])
    found = asked(BY_TAG, verdict)._replace(route=route)
    assert (found.code, found.said) == ("MIRROR-TAG", "no mirror")


NO_ROUTE: t.Final = f'{BY_DIGEST}: Get "https://nvcr.io/v2/": dial tcp: lookup nvcr.io: no such host'
AT_MIRROR: t.Final = f"{MIRROR}/nvcr/nvidia/driver@{DIGEST}"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f'dockerimage.image.openshift.io "{AT_MIRROR}" not found', "MIRROR-MISSING"),
        (f"{AT_MIRROR}: manifest unknown: manifest unknown", "MIRROR-MISSING"),
        (f'you may not have access to the container image "{AT_MIRROR}"', "MIRROR-DENIED"),
        (f"{AT_MIRROR}: denied: requested access to the resource is denied", "MIRROR-DENIED"),
        (f"{AT_MIRROR}: toomanyrequests: slow down", "MIRROR-AWAY"),
    ],
)
def test_what_the_mirror_says_counts_beside_a_source_without_a_route(text: str, code: str) -> None:
    answers = lookup_answers([BY_DIGEST], {"status": {"images": [failed(f"[{text}, {NO_ROUTE}]")]}})
    wanted = Wanted(BY_DIGEST, "driver", ("training",), ("amd64",))
    assert Asked(wanted, rules.route(BY_DIGEST, SETS), answers[BY_DIGEST], "").code == code


def failed(text: str) -> Data:
    status = {"status": "Failure", "reason": "InternalError", "message": f"Internal error occurred: {text}"}
    return {"status": status}


def test_a_missing_image_says_who_needs_it_who_was_asked_and_the_line() -> None:
    (check,) = verdicts.of_images([asked(verdict=MISSING), asked("r.io/b:1", MISSING), asked("r.io/c:1")])
    assert (check.code, check.verdict) == ("MIRROR-MISSING", "blocking")
    for part in (BY_DIGEST, "training", f"{MIRROR}/nvcr/nvidia/driver@{DIGEST}", "404", "1 image more"):
        assert part in check.message
    assert "the line" in check.remedy
    assert [line.partition(" ")[0] for line in check.evidence] == [BY_DIGEST, "r.io/b:1"]


SECOND: t.Final = "second.example.com"


@pytest.mark.parametrize(
    ("words", "code", "command"),
    [
        ("{b}: unauthorized: no", "MIRROR-DENIED", "has a good login for second.example.com."),
        ('you may not have access to the container image "{b}"', "MIRROR-DENIED", "for second.example.com."),
        ("{b}: toomanyrequests: slowly", "MIRROR-AWAY", "`podman manifest inspect {b}`"),
        ('{b}: Get "https://{second}/v2/": EOF', "MIRROR-AWAY", "`podman manifest inspect {b}`"),
    ],
)
def test_the_registry_that_decides_is_named(words: str, code: str, command: str) -> None:
    sets = [*SETS, mirror_set(nvcr_dot_io=SECOND)]
    route = rules.route(BY_DIGEST, sets)
    names = {"b": route.asked[1], "second": SECOND}
    text = f"[{route.asked[0]}: manifest unknown: gone, {words.format(**names)}, {NO_ROUTE}]"
    answers = lookup_answers([BY_DIGEST], {"status": {"images": [failed(text)]}})
    found = asked()._replace(route=route, answer=answers[BY_DIGEST])
    (check,) = verdicts.of_images([found])
    assert (check.code, command.format(**names) in check.remedy) == (code, True)
    assert check.message.startswith(f"{route.asked[1]} ")


def test_each_image_that_lacks_an_architecture_has_its_line() -> None:
    (check,) = verdicts.of_images([asked(archs=("amd64",)), asked("r.io/b:1", archs=("arm64",))])
    assert [line.rpartition(": ")[2] for line in check.evidence] == [
        "has no manifest for arm64; add the line",
        "has no manifest for amd64; add the line",
    ]


def test_the_verdict_is_as_severe_as_the_image_is_needed() -> None:
    few = asked("r.io/cc:1", MISSING, seldom=True)
    assert verdicts.of_images([few])[0].verdict == "warning"
    (check,) = verdicts.of_images([few, asked("r.io/z:1", MISSING)])
    assert (check.verdict, "r.io/z:1 is missing" in check.message) == ("blocking", True)
    assert verdicts.of_images([asked(verdict=NOT_ASKED)])[0].verdict == "unknown"
    assert verdicts.of_images([asked(verdict=UNREACHABLE, words="no route")])[0].verdict == "blocking"
    assert verdicts.of_images([asked(verdict=UNREACHABLE, words="429")])[0].verdict == "unknown"


def test_all_images_are_there() -> None:
    (check,) = verdicts.of_images([asked(), asked("r.io/b:1")])
    assert (check.verdict, check.message.startswith("all 2 images resolve")) == ("ok", True)
    assert verdicts.of_images([]) == []


def test_a_tag_without_its_set_says_that_another_set_drains() -> None:
    found = asked(BY_TAG, UNREACHABLE, "no such host")
    tag_set = rules.tag_set([found.route], SETS)
    (check,) = verdicts.of_images([found], tag_set)
    assert (check.code, check.verdict) == ("MIRROR-TAG", "blocking")
    assert "ImageDigestMirrorSet" in check.message
    assert f"`echo '{json.dumps(tag_set)}' | oc apply -f -`" in check.remedy
    assert "drained" in check.remedy


@pytest.mark.parametrize(
    ("image", "mirrors", "destination"),
    [
        ("nvcr.io/nvidia/driver:1", {"nvcr_dot_io": f"{MIRROR}/nvcr"}, f"{MIRROR}/nvcr"),
        ("nvcr.io/nvidia/driver:1", {"nvcr_dot_io": MIRROR}, MIRROR),
        ("nvcr.io/nvidia/driver:1", {"nvcr_dot_io_in_nvidia": f"{MIRROR}/ours"}, MIRROR),
        ("r.io/b:1", {"nvcr_dot_io": f"{MIRROR}/nvcr"}, "REGISTRY"),
    ],
)
def test_the_image_is_mirrored_to_where_nodes_look_for_it(
    image: str, mirrors: Data, destination: str
) -> None:
    sets = [mirror_set("ImageTagMirrorSet", **mirrors)]
    wanted = Wanted(image, "driver", ("training",), ("amd64",))
    gone = Asked(wanted, rules.route(image, sets), Answer(image, MISSING), "the line")
    assert f" docker://{destination}` with this in FILE: the line." in verdicts.of_images([gone])[0].remedy


@pytest.mark.parametrize(
    ("lists", "is_open"),
    [
        ({}, True),
        ({"allowedRegistries": ["nvcr.io"]}, True),
        ({"allowedRegistries": ["*.io"]}, True),
        ({"allowedRegistries": [MIRROR, "quay.io"]}, False),
        ({"blockedRegistries": ["nvcr.io"]}, False),
        ({"blockedRegistries": ["docker.io"]}, True),
    ],
)
def test_the_lists_look_at_the_name_of_the_image(lists: Data, is_open: bool) -> None:
    found = verdicts.of_lists({"spec": {"registrySources": lists}}, [asked().wanted])
    assert [(one.code, one.verdict) for one in found] == ([] if is_open else [("MIRROR-ALLOWED", "blocking")])
    for check in found:
        (patch,) = re.findall(r"-p '(.*)'`", check.remedy)
        assert verdicts.of_lists(json.loads(patch), [asked().wanted]) == []
    assert verdicts.of_lists(None, [asked().wanted]) == []


NETWORK: t.Final = {
    "status": {"clusterNetwork": [{"cidr": "10.128.0.0/14"}], "serviceNetwork": ["172.30.0.0/16"]}
}
NEXT: t.Final = {**node(), "status": {"addresses": [{"type": "InternalIP", "address": "10.0.9.7"}]}}
MACHINE: t.Final = {**node(), "status": {"addresses": [{"type": "InternalIP", "address": "10.0.1.5"}]}}
SPARED: t.Final = ".cluster.local,.svc,10.0.0.0/16,10.128.0.0/14,172.30.0.0/16"


@pytest.mark.parametrize(
    ("spared", "lacking"),
    [
        (SPARED, ""),
        ("*", ""),
        (".svc, .cluster.local, 10.0.0.0/8, 172.16.0.0/12", ""),
        ("svc, *.local, 10.0.0.0/8, 172.16.0.0/12", ""),
        ("", ".svc, .cluster.local, 10.128.0.0/14, 172.30.0.0/16, 10.0.1.0/24 (node "),
        (SPARED.replace(".svc,", ""), ".svc"),
        (SPARED.replace("10.128.0.0/14,", ""), "10.128.0.0/14"),
        (SPARED.replace(",172.30.0.0/16", ""), "172.30.0.0/16"),
        (SPARED.replace("10.0.0.0/16,", ""), "10.0.1.0/24 (node "),
    ],
)
def test_a_proxy_spares_the_networks_of_the_cluster(spared: str, lacking: str) -> None:
    proxy = {"spec": {"noProxy": spared}, "status": {"httpsProxy": "http://proxy:3128", "noProxy": spared}}
    found = verdicts.of_proxy(proxy, NETWORK, [MACHINE, NEXT])
    assert [one.code for one in found] == (["MIRROR-PROXY"] if lacking else [])
    assert all(lacking in one.message for one in found)
    for check in found:
        (patch,) = re.findall(r"-p '(.*)'`", check.remedy)
        after = {"status": proxy["status"] | json.loads(patch)["spec"]}
        assert verdicts.of_proxy(after, NETWORK, [MACHINE, NEXT]) == []


def test_without_a_proxy_nothing_is_spared() -> None:
    assert verdicts.of_proxy({"status": {"noProxy": ""}}, NETWORK, [MACHINE, NEXT]) == []
    assert verdicts.of_proxy(None, None, [MACHINE]) == []


@pytest.mark.parametrize(
    ("config_map", "why", "command"),
    [
        ({"data": {"ca-bundle.crt": "x"}}, "", ""),
        ({"data": {}}, "has no ca-bundle.crt", "oc set data configmap/ours -n openshift-config"),
        (None, "does not exist", "oc create configmap ours -n openshift-config"),
    ],
)
def test_certificates_have_to_be_there(config_map: Data | None, why: str, command: str) -> None:
    found = verdicts.of_authorities("Proxy cluster spec.trustedCA: ours", config_map, "ca-bundle.crt")
    assert [(one.code, why in one.message, command in one.remedy) for one in found] == (
        [("MIRROR-CA", True, True)] if why else []
    )


@pytest.mark.parametrize(("tag", "is_there"), [("9.8.20260801-0", True), ("9.7.1-0", False)])
def test_the_stream_has_a_tag_for_the_nodes(tag: str, is_there: bool) -> None:
    stream = {"metadata": {"name": "driver-toolkit"}, "spec": {"tags": [{"name": tag}]}}
    found = verdicts.of_toolkit(stream, NODES)
    assert [(one.code, one.verdict) for one in found] == (
        [] if is_there else [("GPU-DTK-STREAM", "blocking")]
    )
    assert verdicts.of_toolkit(None, NODES)[0].code == "GPU-DTK-STREAM"
    both = [*NODES, {**node("9.7.1-0"), "metadata": {"name": "other"}}]
    assert [one.verdict for one in verdicts.of_toolkit(stream, both)] == ["warning"]


def test_the_table_cuts_digests() -> None:
    heading, first = verdicts.table([asked()])
    assert heading.split() == ["IMAGE", "ANSWER", "PROOF", "FOR", "WHY"]
    assert first.split() == [
        f"nvcr.io/nvidia/driver@sha256:{'1' * 12}",
        "there",
        "cluster",
        "training",
        "driver",
    ]
