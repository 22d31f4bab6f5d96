# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of nodes: cut out of a list's text, and nothing else with them."""

from __future__ import annotations

import json

import pytest
from unit.engine import FakeClock, api_on
from unit.fake_server import FakeServer

from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds, node_images

IMAGES = [
    {"names": ["registry.example.com/a@sha256:00", "registry.example.com/a:1"], "sizeBytes": 5},
    {"names": ["b:2"], "sizeBytes": 6},
]
# What a text that looks like images is inside of a text, escaped as it has to be.
LOOKALIKE = '"images":[{"names":["x"],"sizeBytes":1}]'


def node(name: str, images: object) -> dict[str, object]:
    return {
        "metadata": {"name": name, "annotations": {"note": LOOKALIKE}},
        "status": {"capacity": {"cpu": "4"}, "images": images, "phase": "Running"},
    }


def text(*nodes: object) -> bytes:
    return json.dumps({"items": nodes}, separators=(",", ":")).encode()


def test_images_go_and_the_rest_stays() -> None:
    cut = node_images.cut(text(node("a", IMAGES), node("b", IMAGES)))
    assert json.loads(cut) == {"items": [node("a", []), node("b", [])]}


@pytest.mark.parametrize(
    "images",
    [
        None,
        [],
        [{"names": None, "sizeBytes": 5}],
        [{"names": ['quoted"name'], "sizeBytes": 5}],
        [{"names": ["a"], "sizeBytes": 5, "layers": [{"digest": "x"}]}],
        [{"names": ["brackets}]"], "sizeBytes": 5}],
    ],
    ids=["null", "none", "no names", "escaped", "with lists of their own", "a name like an end"],
)
def test_what_is_not_plain_names_and_sizes_is_left(images: object) -> None:
    whole = text(node("a", images))
    assert node_images.cut(whole) == whole


@pytest.mark.parametrize("at", [0.3, 0.6, 0.9])
def test_a_text_that_was_cut_off_is_still_no_json(at: float) -> None:
    whole = text(node("a", IMAGES))
    with pytest.raises(ValueError, match=r"Expecting|Unterminated"):
        json.loads(node_images.cut(whole[: int(len(whole) * at)]))


def test_a_long_list_that_is_sifted_never_has_them() -> None:
    server = FakeServer()
    for number in range(100):
        server.put({"apiVersion": "v1", "kind": "Node", **node(f"n{number:02}", IMAGES * 60)})
    api = api_on(server, FakeClock())
    sifted = api.list(kinds.known("Node"), keep=lambda one: one)
    assert [(one["metadata"]["name"], one["status"]["images"]) for one in sifted] == [
        (f"n{number:02}", []) for number in range(100)
    ]
    assert all(one["status"]["images"] == IMAGES * 60 for one in api.list(kinds.known("Node")))
