# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What leaves a bundle, and what has to stay in it. test_steps.py looks for secrets in whole bundles."""

from __future__ import annotations

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.secrets import MASK
from ansible_collections.accelerators.openshift.plugins.module_utils._gather.redaction import Redactor

DEVICE = "GPU-01234567-89ab-cdef-0123-456789abcdef"


@pytest.mark.parametrize(
    "text",
    [
        "pulled nvcr.io/driver@sha256:e243d778bd83de47668e7629d78f673317a130fedc99941be12aad7fc6bdfa85",
        "/var/lib/containers/storage/overlay/l/ABCDEFGHIJKLMNOPQRSTUVWXYZ012345/diff",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        "modprobe: ERROR: could not insert 'nvidia': Key was rejected by service",
        "Node 10.0.0.5 joined; https://api.east.example.com:6443/healthz answers",
        "1fc7c1d8a50a7f6a30610401261d2824e448917c of nvidia-driver-daemonset-9.8.20260801-0-fxd67",
        "RmInitAdapter failed! (0x62:0x65:1860)",
    ],
)
def test_what_explains_a_fault_stays(text: str) -> None:
    assert Redactor(False).text(text) == text


def test_names_of_secrets_and_ordinary_fields_stay() -> None:
    live = {
        "apiVersion": "v1",
        "kind": "Pod",
        "spec": {
            "imagePullSecrets": [{"name": "ngc-pull"}],
            "containers": [{"name": "c", "env": [{"name": "KERNEL_MODULE_TYPE", "value": "auto"}]}],
            "volumes": [{"secret": {"secretName": "licence"}}, {"path": "token", "expirationSeconds": 3607}],
        },
    }
    assert Redactor(False)(live) == live


def test_a_device_has_one_alias_and_two_devices_have_two() -> None:
    redact = Redactor(False)
    other = DEVICE.replace("GPU-0", "MIG-1")
    assert redact.text(f"{DEVICE} {other} {DEVICE}") == "GPU-(masked 1) MIG-(masked 2) GPU-(masked 1)"
    assert Redactor(True).text(DEVICE) == DEVICE


def test_our_own_sentences_keep_words_that_follow_a_name_of_secrets() -> None:
    said = (
        "Secrets were not read. The token of the run is not valid; password hunter22 and token=abc are seen."
    )
    masked = said.replace("hunter22", MASK).replace("abc", MASK)
    assert Redactor(False).text(said, is_ours=True) == masked
    assert "hunter" not in Redactor(False).text("--password hunter")


def test_a_key_that_a_log_shows_in_part_is_masked() -> None:
    body = "\n".join(["Ab1/" * 16, "shortEnd="])
    log = f"start\n{body}\n-----END PRIVATE KEY-----\nend\n-----BEGIN CERTIFICATE-----\n{body}"
    found = Redactor(False).text(log)
    assert (found.startswith("start\n"), "\nend\n" in found) == (True, True)
    assert "shortEnd" not in found
    assert "Ab1/" not in found


def test_what_an_object_need_not_have_is_left_out() -> None:
    plan = {
        "kind": "InstallPlan",
        "metadata": {"managedFields": [1], "name": "p"},
        "status": {"manifest": "x"},
    }
    assert Redactor(False)(plan) == {
        "kind": "InstallPlan",
        "metadata": {"name": "p"},
        "status": {},
    }
