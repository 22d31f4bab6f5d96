# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""A thousand runs in which each request meets a fault with a probability of 1/4.

FAULTS_SEED sets the first seed, FAULTS_RUNS the number of runs.
"""

from __future__ import annotations

import os
import random
import traceback
import typing as t
from concurrent.futures import ThreadPoolExecutor

import pytest
from faults.conftest import NAMESPACE, Bench, manifest
from faults.faults import Dice
from faults.operations import LISTED, OPERATIONS

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.retry import Limits

FIRST: t.Final = int(os.environ.get("FAULTS_SEED", "1"))
RUNS: t.Final = int(os.environ.get("FAULTS_RUNS", "1000"))
WORKERS: t.Final = 24
# Short limits: a stalled answer must not cost a run several seconds.
HASTY: t.Final = Limits(first_read=0.3, read=1.0, silence=0.5)


@pytest.mark.long("a thousand mixtures of the faults that test_matrix.py has one by one")
def test_random_faults_pass(bench: Bench) -> None:
    for name in LISTED:
        bench.client.apply(manifest(name, label="listed"))

    def run(seed: int) -> str:
        operation = random.Random(seed).choice(sorted(OPERATIONS))
        agent = f"random-{seed}"
        try:
            OPERATIONS[operation](bench, bench.api(agent, Dice(seed), limits=HASTY), agent)
        except BaseException:
            done = " ".join(f"{call.verb}:{call.fault or 'passed'}" for call in bench.proxy.calls(agent))
            trace = traceback.format_exc(limit=-3)
            return f"FAULTS_SEED={seed} FAULTS_RUNS=1: {operation} after {done}\n{trace}"
        return ""

    with ThreadPoolExecutor(WORKERS) as workers:
        failures = [failure for failure in workers.map(run, range(FIRST, FIRST + RUNS)) if failure]
    faults = [
        call.fault for seed in range(FIRST, FIRST + RUNS) for call in bench.proxy.calls(f"random-{seed}")
    ]
    bench.client.request("DELETE", f"/api/v1/namespaces/{NAMESPACE}/configmaps")
    assert not failures, "\n".join(failures)
    if RUNS >= 1000:
        assert 0.2 < sum(map(bool, faults)) / len(faults) < 0.3
        assert len(set(faults)) > 25, "some faults never happened"
