# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The objects of the monitoring."""

from __future__ import annotations

import json

from ansible_collections.accelerators.openshift.plugins.module_utils._monitoring import manifest


def test_the_exporter_finds_its_list() -> None:
    found = manifest.metric_list("gpus", "A, gauge, B.\n")
    assert found["metadata"] == {"name": manifest.NAME, "namespace": "gpus"}
    assert found["data"] == {"dcgm-metrics.csv": "A, gauge, B.\n"}


def test_the_service_monitor_selects_both_exporters_of_the_operator() -> None:
    spec = manifest.service_monitor("gpus")["spec"]
    (expression,) = spec["selector"]["matchExpressions"]
    assert expression["values"] == ["nvidia-dcgm-exporter", "nvidia-dcgm-exporter-dra"]
    assert spec["namespaceSelector"] == {"matchNames": ["gpus"]}


def test_the_console_finds_the_dashboard() -> None:
    found = manifest.console_dashboard()
    assert found["metadata"]["namespace"] == "openshift-config-managed"
    assert found["metadata"]["labels"] == {"console.openshift.io/dashboard": "true"}
    (text,) = found["data"].values()
    assert json.loads(text)["rows"]
    developers = manifest.console_dashboard(for_developers=True)["metadata"]["labels"]
    assert developers["console.openshift.io/odc-dashboard"] == "true"


def test_the_label_of_the_namespace_comes_and_goes_with_our_mark() -> None:
    come, go = (manifest.labelled(one)["metadata"] for one in (True, False))
    assert come["labels"] == {manifest.MONITORED: "true"}
    assert go == {"labels": {manifest.MONITORED: None}, "annotations": {manifest.MARK: None}}
