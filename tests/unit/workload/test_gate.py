"""The gate for new nodes: its script, and the pods that it makes."""

from __future__ import annotations

import json
import subprocess

from unit.workload.builders import params

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.taints import (
    STARTUP,
    STARTUP_TOLERATION,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import gate


def test_the_script_is_bash_and_has_no_word_left_to_fill_in() -> None:
    text = gate.script("gpu-validation")
    subprocess.run(["bash", "-n"], input=text, text=True, check=True)
    assert f"taint={STARTUP} " in text
    assert "place=gpu-validation " in text
    for word in ("@TAINT@", "@CONDITION@", "@PATIENCE@", "@PLACE@", "@MANAGER@", "@LABEL@"):
        assert word not in text


def test_the_pod_asks_for_all_devices_of_the_node_and_fits_a_restricted_namespace() -> None:
    own = params(node_selector={"pool": "a"}, tolerations=[STARTUP_TOLERATION])
    data = gate.entry("a.0", own, {"nvidia.com/gpu": 8})
    pod = json.loads(data["a.0.pod"])
    (container,) = pod["spec"]["containers"]
    assert str(container["resources"]["limits"]["nvidia.com/gpu"]) == "8"
    assert pod["spec"]["nodeSelector"] == {"pool": "a", "kubernetes.io/hostname": "@HOST@"}
    assert STARTUP_TOLERATION in pod["spec"]["tolerations"]
    assert container["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert pod["spec"]["activeDeadlineSeconds"] > 0


def test_the_pools_of_a_run_replace_their_own_entries_alone() -> None:
    data = {"gate.sh": "x", "a.0.pod": "{}", "a-b.0.pod": "{}", "b.1.pod": "{}"}
    assert gate.of_others(data, {"a"}) == {"a-b.0.pod": "{}", "b.1.pod": "{}"}
    assert gate.of_others(data, ()) == {"a.0.pod": "{}", "a-b.0.pod": "{}", "b.1.pod": "{}"}
