# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The playbooks on the oldest and the newest ansible-core: from nothing to GPUs and back, and a failure."""

from __future__ import annotations

import os
import re
import subprocess
import typing as t
from pathlib import Path

import pytest
from cluster import ROOT, Cluster, must_get

pytestmark = [
    pytest.mark.story("one cluster's life on each ansible-core, which ends as it began"),
    pytest.mark.long("what differs between releases of ansible-core is in the unit tests, which run on both"),
]
CORES: t.Final = ("oldest", "newest")
POOLS: t.Final = f"@{ROOT / 'examples/demo.yml'}"
COUNTS: t.Final = re.compile(
    r"^localhost +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=(\d+)", re.MULTILINE
)


class Run(t.NamedTuple):
    """A playbook that has ended. changed, failed: the numbers of tasks."""

    rc: int
    output: str
    changed: int
    failed: int


class Core:
    """A runner of the playbooks with another ansible-core. programs: where ansible-playbook is."""

    def __init__(self, programs: Path, home: Path, kubeconfig: Path) -> None:
        self.programs = programs
        self.home = home
        self.kubeconfig = kubeconfig

    def run(self, name: str, *arguments: str) -> Run:
        environment = {
            "ANSIBLE_COLLECTIONS_PATH": f"{ROOT / '.collections'}:{self.programs.parent / 'collections'}",
            "ANSIBLE_CONFIG": str(ROOT / "ansible.cfg"),
            "ANSIBLE_FORCE_COLOR": "0",
            "ANSIBLE_HOME": str(self.home),
            "KUBECONFIG": str(self.kubeconfig),
            "LC_ALL": "C.UTF-8",
            "PATH": os.environ["PATH"],
        }
        done = subprocess.run(
            [self.programs / "ansible-playbook", ROOT / "playbooks" / f"{name}.yml", "-e", POOLS, *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=900,
        )
        counts = COUNTS.search(done.stdout)
        assert counts, done.stdout
        return Run(done.returncode, done.stdout, int(counts[1]), int(counts[2]))


@pytest.fixture(scope="module", params=CORES)
def core(request: pytest.FixtureRequest, cluster: Cluster, tmp_path_factory: pytest.TempPathFactory) -> Core:
    # It makes the environment; pytest's version is all that it then runs.
    command = [str(ROOT / "tests/other_core"), request.param, "--version"]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    programs = ROOT / f".build/{request.param}-core/bin"
    if not programs.exists():
        pytest.skip(made.stdout)
    return Core(programs, tmp_path_factory.mktemp(request.param), cluster.kubeconfig)


def test_it_is_the_release_that_the_requirements_name(core: Core) -> None:
    name = core.programs.parent.name.removesuffix("-core")
    wanted = re.search(
        r"^ansible-core==(\S+)$", (ROOT / f"requirements-{name}.txt").read_text(), re.MULTILINE
    )
    assert wanted
    told = subprocess.run(
        [core.programs / "ansible", "--version"], capture_output=True, text=True, check=True
    )
    assert f"[core {wanted[1]}]" in told.stdout


def test_a_failure_is_repeated_below_the_recap(core: Core) -> None:
    run = core.run("enable_gpus", "-e", '{"gpu_pools": []}')
    assert (run.rc, run.changed, run.failed) == (2, 0, 1)
    below = run.output.partition("PLAY RECAP")[2]
    assert "localhost: POOL-NONE: " in below
    assert "Remedy: " in below


def test_the_plan_writes_nothing(core: Core) -> None:
    run = core.run("plan")
    assert run.rc == 0, run.output
    assert "make    PriorityClass demo-high" in run.output


def test_it_enables_gpus(core: Core, cluster: Cluster) -> None:
    run = core.run("enable_gpus")
    assert run.rc == 0, run.output
    assert run.changed > 0
    assert "[WARNING]: Collection accelerators.openshift does not support Ansible version" not in run.output
    found = must_get(cluster.client, "scheduling.k8s.io/v1", "priorityclasses", "demo-high")
    assert found["value"] == 100000
    assert len(re.findall(r"- demo +ip-\S+ +g4dn.xlarge +1/1/1 ", run.output)) == 2


def test_a_second_run_changes_nothing(core: Core) -> None:
    run = core.run("enable_gpus")
    assert (run.rc, run.changed) == (0, 0), run.output


def test_a_pool_is_resized(core: Core) -> None:
    run = core.run("resize_pool", "-e", "gpu_pool=demo", "-e", "gpu_replicas=3")
    assert (run.rc, run.changed) == (0, 1), run.output
    assert "Pool demo has 3 nodes" in run.output


def test_it_removes_what_it_made(core: Core, cluster: Cluster) -> None:
    run = core.run("remove_gpus")
    assert run.rc == 0, run.output
    assert cluster.client.get("scheduling.k8s.io/v1", "priorityclasses", "demo-high") is None
