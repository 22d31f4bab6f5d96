# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The metrics that exist, and the exporter's list."""

from __future__ import annotations

import re

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import metrics


def test_every_line_of_the_list_has_three_columns() -> None:
    """The exporter reads CSV without quotes: a comma in the text would be a fourth column."""
    first, *lines = metrics.as_csv(["DCGM_FI_PROF_SM_ACTIVE"]).splitlines()
    assert first.startswith("#")
    assert len(lines) == len(metrics.COLLECTED) + 1
    for line in lines:
        name, kind, text = line.split(", ")
        assert re.fullmatch(r"DCGM_(FI|EXP)_[A-Z0-9_]+", name)
        assert kind in ("gauge", "counter", "label")
        assert text.endswith(".")


def test_no_metric_is_in_both_tables() -> None:
    assert not metrics.COLLECTED.keys() & metrics.OPTIONAL.keys()


def test_the_size_of_the_memory_is_not_collected() -> None:
    """With it, accelerator_memory_total_bytes of the GPU operator would have MiB for bytes."""
    assert "DCGM_FI_DEV_FB_TOTAL" not in metrics.COLLECTED | metrics.OPTIONAL


def test_a_metric_that_is_collected_anyway_is_no_second_line() -> None:
    assert metrics.as_csv(["DCGM_FI_DEV_GPU_UTIL"]) == metrics.as_csv([])


def test_an_unknown_metric_is_refused_by_its_path() -> None:
    metrics.check(["DCGM_FI_PROF_SM_ACTIVE"])
    with pytest.raises(InputError) as raised:
        metrics.check(["DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_PROF_SM_ACTIV"])
    assert raised.value.code == "MON-METRIC"
    assert "metrics[1]" in raised.value.message
    assert "DCGM_FI_PROF_SM_ACTIVE" in raised.value.remedy


def test_an_expression_names_its_metrics() -> None:
    text = 'max by (node) (kube_node_labels{label_x="kube_y"}) > on (node) DCGM_FI_DEV_GPU_TEMP'
    assert metrics.used(text) == {"kube_node_labels", "DCGM_FI_DEV_GPU_TEMP", "kube_y"}


@pytest.mark.parametrize(
    ("key", "label"),
    [
        ("accelerators.openshift/pool", "label_accelerators_openshift_pool"),
        ("node.kubernetes.io/instance-type", "label_node_kubernetes_io_instance_type"),
        ("example.com/gpuType", "label_example_com_gpu_type"),
    ],
)
def test_labels_have_the_names_of_kube_state_metrics(key: str, label: str) -> None:
    assert metrics.node_label(key) == label


def test_resources_have_the_names_of_kube_state_metrics() -> None:
    assert metrics.resource_label("nvidia.com/mig-1g.5gb") == "nvidia_com_mig_1g_5gb"
