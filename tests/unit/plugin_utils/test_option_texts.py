# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Each option that stands in a table has a text, and each text belongs to an option."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    options as clusterpolicy_options,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.dra import options as dra_options
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.nvidiadriver import (
    options as nvidiadriver_options,
)
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _option_texts

TABLES: t.Final = [
    (clusterpolicy_options.OPTIONS, _option_texts.CLUSTER_POLICY),
    (nvidiadriver_options.OPTIONS, _option_texts.NVIDIA_DRIVERS),
    (dra_options.OPTIONS, _option_texts.GPU_CLUSTER),
]


def paths(options: t.Mapping[str, t.Any], prefix: str = "") -> t.Iterator[str]:
    for name, one in options.items():
        yield prefix + name
        yield from paths(one.get("options") or {}, f"{prefix}{name}.")


@pytest.mark.parametrize(("options", "texts"), TABLES)
def test_every_text_belongs_to_an_option(options: dict[str, t.Any], texts: dict[str, t.Any]) -> None:
    assert set(texts) - set(paths(options)) == set()


@pytest.mark.parametrize(("options", "texts"), TABLES)
def test_an_option_has_its_own_text_or_one_that_all_images_share(
    options: dict[str, t.Any], texts: dict[str, t.Any]
) -> None:
    without = {path for path in paths(options) if path not in texts}
    assert {path.rpartition(".")[2] for path in without} <= set(_option_texts.COMMON)


def test_documentation_has_type_choices_and_text_but_not_no_log() -> None:
    found = _option_texts.documented(clusterpolicy_options.OPTIONS, _option_texts.CLUSTER_POLICY)
    driver = found["driver"]["suboptions"]
    assert driver["kernel_module_type"] == {
        "type": "str",
        "choices": ["auto", "open", "proprietary"],
        "description": "Flavour of the kernel modules.",
    }
    assert driver["repository"]["description"] == "Registry and path of the image."
    assert driver["secret_env"].keys() == {"type", "description"}


def test_an_option_without_a_text_is_an_error() -> None:
    with pytest.raises(KeyError, match="new_option"):
        _option_texts.documented({"new_option": {"type": "str"}}, {})
