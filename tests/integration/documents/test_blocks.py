# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader copies runs: EXAMPLES of plugins, YAML blocks and commands of pages, without a write.

Most of it runs on a cluster where enable_gpus.yml has made the pools. The tables say what fails there, and
why, and what does not run.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import textwrap
import typing as t
from pathlib import Path

import pages
import pytest
import yaml
from cluster import Cluster, own
from integration.playbook import ROOT, Playbook, Run
from integration.troubles.demo import PATIENT
from integration.wire import Audit
from pages import MODULES, OURS, PLUGINS

Data = dict[str, t.Any]
STARTS_CLUSTERS: t.Final = True
GPU: t.Final = {"nvidia.com/gpu": "1"}
# The first block of README.md, and the pool inference of EXAMPLES.
POOLS: t.Final[list[Data]] = [
    *yaml.safe_load(pages.blocks("yaml")[0][1])["gpu_pools"],
    {
        "name": "inference",
        "candidates": [{"instance_type": "g4dn.xlarge", "zones": ["us-east-2a"]}],
        "replicas": 1,
        "tuning": {"profile": "accelerator"},
    },
]
# Files that EXAMPLES, blocks and commands name.
FILES: t.Final = {
    "objects.yml": "{apiVersion: v1, kind: ConfigMap, metadata: {name: mine}, data: {a: b}}\n",
    "features.txt": "example.com/shell=xdma-4\n",
    "home/gpu/local.repo": "[local]\nname=local\nbaseurl=http://repo.example.com/\n",
    "home/gpu/ca.pem": "-----BEGIN CERTIFICATE-----\n",
    "Dockerfile": "FROM registry.example.com/base\n",
    "new.json": '{"auths": {"nvcr.io": {"auth": "JG9hdXRodG9rZW46bmV3"}}}\n',
    "home/new-login.json": '{"auths": {"nvcr.io": {"auth": "JG9hdXRodG9rZW46bmV3"}}}\n',
    "pools.yml": yaml.safe_dump({"gpu_pools": POOLS}),
}
# Variables of EXAMPLES that come from earlier tasks, or from the reader. Queues limit teams: no quotas.
VARIABLES: t.Final[Data] = {
    "gpu_pools": [{key: value for key, value in pool.items() if key != "quota"} for pool in POOLS],
    "result": "{{ gpu_plan_result }}",
    "vault_ngc_login": FILES["new.json"],
}


class Reader(Playbook):
    """Somebody who copies plays and commands into a folder, and has the files that they name."""

    def __init__(self, directory: Path, cluster: Cluster) -> None:
        super().__init__(directory, cluster.kubeconfig)
        self.folder = directory / "reader"
        for name, text in FILES.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for kubeconfig in ("home/clusters/one/kubeconfig", "home/.kube/gpu-cluster"):
            (self.folder / kubeconfig).parent.mkdir(parents=True)
            shutil.copy(cluster.kubeconfig, self.folder / kubeconfig)
        for name in ("awx", "examples", "playbooks"):
            (self.folder / name).symlink_to(ROOT / name)
        connection = {"ansible_connection": "local", "gpu_pools": POOLS}
        group = {
            "hosts": {"east": connection | {"gpu_cluster_connection": {"kubeconfig": str(self.kubeconfig)}}}
        }
        inventory = {"all": {"children": {"production": group}}}
        (self.folder / "inventory.yml").write_text(yaml.safe_dump(inventory))

    def plays(self, *plays: Data) -> Run:
        """Run these plays in check mode."""
        (self.folder / "play.yml").write_text(yaml.safe_dump(list(plays)))
        return self._run(self.folder / "play.yml", "--check")

    def variables(self, playbook: str, given: Data) -> Run:
        """Run a playbook of the collection in check mode, with the variables in a file."""
        (self.folder / "block.yml").write_text(yaml.safe_dump(given))
        return self.playbook(playbook, "--check", f"-e @{self.folder / 'block.yml'}")

    def command(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run a command in the folder."""
        command = ["bash", "-c", text]
        environment = os.environ | self._environment()
        return subprocess.run(
            command, cwd=self.folder, env=environment, capture_output=True, text=True, timeout=300
        )

    def _environment(self) -> dict[str, str]:
        own = {
            "HOME": str(self.folder / "home"),
            "ANSIBLE_CALLBACKS_ENABLED": "accelerators.openshift.verdict",
        }
        return super()._environment() | own


class Page(t.NamedTuple):
    """A cluster with its reader. names: what stands for the names of machines and nodes on the pages."""

    cluster: Cluster
    reader: Reader
    audit: Audit
    names: dict[str, str]

    def fitted(self, text: str) -> str:
        """Return the text with names of this cluster."""
        return functools.reduce(lambda said, name: said.replace(name, self.names[name]), self.names, text)

    def written(self, since: int) -> list[str]:
        self.audit.flush()
        return self.audit.written(since)


def start(cluster: Cluster, directory: Path) -> Page:
    for name in ("team-a", "team-b", "team-c", "team-d", "vision-train", "vision-test"):
        cluster.client.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    for number, name in enumerate(("gpu-batch", "gpu-training")):
        head = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": name}}
        cluster.client.apply({**head, "value": 1000 + number})
    audit = Audit(cluster.needs_sandbox().audit_log, cluster.client)
    return Page(cluster, Reader(directory, cluster), audit, {})


@pytest.fixture(scope="module")
def new(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> t.Iterator[Page]:
    """Yield a cluster of the kind that a block is for, without GPUs."""
    with own(getattr(request, "param", "aws")) as cluster:
        yield start(cluster, tmp_path_factory.mktemp("reader"))


@pytest.fixture(scope="module")
def page(new: Page) -> Page:
    """Return a cluster with POOLS, a pull secret, a newer GPU operator, and a pod that waits for a GPU."""
    older = {"gpu_operator_csv": "gpu-operator-certified.v26.7.0"}
    run = new.reader.playbook("enable_gpus", gpu_pools=POOLS, **older, **PATIENT)
    assert run.rc == 0, run.output[-4000:]
    more: Data
    for kind, name, more in (
        ("Secret", "ngc", {"stringData": {".dockerconfigjson": FILES["new.json"]}}),
        ("ServiceAccount", "pulls", {"imagePullSecrets": [{"name": "ngc"}]}),
    ):
        metadata = {"name": name, "namespace": "nvidia-gpu-operator"}
        new.cluster.client.apply({"apiVersion": "v1", "kind": kind, "metadata": metadata, **more})
    container = {"name": "main", "image": "example.com/none", "resources": {"limits": GPU}}
    pod = {"containers": [container], "nodeSelector": {"example.com/none": "yes"}}
    metadata = {"name": "train-0", "namespace": "team-a"}
    new.cluster.client.create({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod})
    return new._replace(names=names(new.cluster))


def names(cluster: Cluster) -> dict[str, str]:
    """Return a machine and its node of the pool training for the names on the pages."""
    found = cluster.client.list(
        "machine.openshift.io/v1beta1",
        "machines",
        "openshift-machine-api",
        "accelerators.openshift/pool=training",
    )
    machine, node = found[0]["metadata"]["name"], found[0]["status"]["nodeRef"]["name"]
    return {
        "demo-x7k2p-training-us-east-2a-9vw7p": machine,
        "ip-10-0-12-41.us-east-2.compute.internal": node,
        "gpu-0.example.com": node,
        "gpu_machine_uid=UID": f"gpu_machine_uid={found[0]['metadata']['uid']}",
    }


# EXAMPLES of modules and other plugins.

# What fails on this cluster: plugin and task, the code, and the reason.
FAILS: t.Final[dict[tuple[str, str], tuple[str | bool, str]]] = {
    ("modules.gpu_machineset", "Create a tainted pool of spot instances with a large disk"): (
        "POOL-DRIFT",
        "the pool of this name has machines of another type",
    ),
    ("modules.gpu_hardware_profile", "Offer the pools to users of OpenShift AI"): (
        "POLICY-NO-PROFILES",
        "there is no OpenShift AI: test_hardware_profiles.py",
    ),
    ("modules.gpu_queue", "Share the pool training between two teams that lend each other free GPUs"): (
        "QUEUE-NO-KUEUE",
        "Kueue is not there: test_real_kueue.py",
    ),
    ("modules.gpu_queue", "Let the operator kueue-operator bring Kueue, and make a queue"): (
        "QUEUE-NO-CERT-MANAGER",
        "its operator needs cert-manager: test_kueue_operator.py",
    ),
    ("modules.node_tuning", "Set sysctls on nodes that another tool made"): (
        "TUNE-RIVAL",
        "nodes of the pool inference have this label, and a profile",
    ),
    ("modules.gpu_use", "Report the use of the last week"): (
        "MON-API",
        "there is no Prometheus: tests/integration/monitoring",
    ),
    (
        "modules.gpu_use",
        "Report yesterday, through `oc port-forward -n openshift-monitoring pod/prometheus-k8s-0 9090`",
    ): ("MON-API", "the same"),
    ("modules.special_resource", "Migrate from a SpecialResource to a Module"): (
        "GPU-SRO-NEEDS",
        "there is no KMM: test_twelve_steps_stack.py",
    ),
    ("modules.special_resource", "Let pods claim GPUs as devices"): (
        "GPU-CP-CONFLICT",
        "a cluster has this or the ClusterPolicy: test_backend_dra.py",
    ),
    **{
        ("modules.update_pools", task): (
            "UPDATE-SHARED",
            "CPU nodes share it: test_openshift_update.py",
        )
        for task in ("Hold the GPU nodes back", "Hold them back until all other nodes are updated")
    },
    ("lookup.gpu_versions", "Stop if the driver does not fit Volta GPUs"): (True, "it does not fit"),
}
# What does not run.
UNRUN: t.Final = {
    "filter.conformance": "its variables are those of conformance.yml, which a command of a page runs",
}


def failing(plugin: str, task: Data) -> Data:
    """Return the task, so that the play goes on behind it if it is to fail."""
    return task | {"ignore_errors": True} if (plugin, task["name"]) in FAILS else task


def check(run: Run, plugin: str, tasks: list[Data]) -> None:
    """Fail if a task did not end as it should."""
    ended = {task.name: task.result.get("code", task.failed) for task in run.tasks}
    expected = {task["name"]: FAILS.get((plugin, task["name"]), (False, ""))[0] for task in tasks}
    found = {name: ended.get(name, "not run") for name in expected}
    assert found == expected, run.output[-6000:]


def play(tasks: list[Data]) -> Data:
    return {"hosts": "localhost", "gather_facts": False, "tasks": tasks, "vars": VARIABLES}


# What many EXAMPLES go on from.
PLANNED: t.Final[Data] = {
    "name": "Plan before",
    "accelerators.openshift.gpu_plan": {"pools": POOLS},
    "register": "gpu_plan_result",
}


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_run(page: Page, module: str) -> None:
    plugin = f"modules.{module}"
    tasks = yaml.safe_load(page.fitted(pages.examples(plugin)))
    since = page.audit.position()
    run = page.reader.plays(play([PLANNED, *(failing(plugin, task) for task in tasks)]))
    check(run, plugin, tasks)
    assert page.written(since) == []


@pytest.mark.parametrize("plugin", [name for name in PLUGINS if name.startswith(("lookup.", "filter."))])
def test_the_examples_of_a_lookup_or_filter_run(page: Page, plugin: str) -> None:
    if plugin in UNRUN:
        pytest.skip(UNRUN[plugin])
    tasks = yaml.safe_load(page.fitted(pages.examples(plugin)))
    reports = {"filter.gpu_drift_report", "filter.gpu_plan_report", "filter.gpu_table"}
    before = [{"import_playbook": "accelerators.openshift.enable_gpus", "vars": {"gpu_pools": POOLS}}]
    copied = play([failing(plugin, task) for task in tasks])
    run = page.reader.plays(*(before if plugin in reports else []), copied)
    check(run, plugin, tasks)


def test_the_examples_of_the_inventory_list_the_nodes(page: Page) -> None:
    for number, text in enumerate(pages.examples("inventory.gpu_nodes").split("---\n")):
        (page.reader.folder / f"{number}.gpu_nodes.yml").write_text(text)
        done = page.reader.command(f"ansible-inventory -i {number}.gpu_nodes.yml --list")
        assert done.returncode == 0, done.stderr
        assert "Failed to parse" not in done.stderr
        assert page.names["gpu-0.example.com"] in done.stdout


# YAML blocks of pages.

Told = dict[tuple[str, str], str]
# Which playbook reads variables that do not describe pools, by how their names begin.
READ_BY: t.Final = {"gpu_rbac_": "rbac", "gpu_upgrade_": "upgrade_operators"}
# What does not run, by page and a part of its text.
NO_RUN: t.Final[Told] = {
    ("docs/awx.md", "gpu_run:"): "a result of a run",
    ("docs/day-two.md", "# alerts.yml"): "the rulebook reads it: test_alerts.py",
    ("docs/day-two.md", "# inventory.yml"): "an inventory with [...] for the pools: test_alerts.py has one",
    ("docs/day-two.md", "receivers:"): "Alertmanager reads it",
    (
        "docs/guide.md",
        "gpu_pools: [...]",
    ): "an inventory with [...]: the command below it has one",
    ("docs/guide.md", "module_defaults:"): "a part of a play",
    ("docs/instance-types.md", "- platform: aws"): "a list of the reader's own types: test_instance_types.py",
    ("docs/networks.md", "custom:"): "its definition is left to the reader",
    ("docs/policy.md", "kind: HardwareProfile"): "what a run makes: test_hardware_profiles.py",
    ("docs/queues.md", "metadata:"): "a part of a Job: test_real_kueue.py",
}
# What fails on this cluster, by page and a part of its text: the code.
BLOCK_FAILS: t.Final[Told] = {
    # There is no Kueue, and no cert-manager: test_real_kueue.py, test_kueue_operator.py.
    ("docs/queues.md", "gpu_queues:"): "QUEUE-NO-KUEUE",
    ("docs/queues.md", "gpu_policy_queue_operator: true"): "QUEUE-NO-CERT-MANAGER",
    # There is no OpenShift AI: test_hardware_profiles.py.
    ("docs/policy.md", "gpu_hardware_profiles: true"): "POLICY-NO-PROFILES",
    # The network operator is not there.
    ("docs/operator-upgrades.md", "name: nic"): "OLM-NOT-INSTALLED",
    # The text above says that the network is an entry of gpu_networks.
    ("docs/validation.md", "network: fast"): "POOL-INVALID",
    # A cluster has this or the ClusterPolicy: test_backend_dra.py.
    ("docs/driver-stack.md", "backend: dra"): "GPU-CP-CONFLICT",
}


def told(table: Told, page: str, text: str) -> str:
    """Return what a table says of a block, or ""."""
    return next((said for (where, part), said in table.items() if where == page and part in text), "")


BLOCKS: t.Final = [
    pytest.param(page, textwrap.dedent(text), id=f"{page}-{number}")
    for number, (page, text) in enumerate(pages.blocks("yaml"))
    if not told(NO_RUN, page, text)
]


def variables(text: str) -> Data:
    """Return the variables of a block, {} if it holds none. A part of a pool becomes a whole one."""
    value = next(iter(yaml.safe_load_all(text)))
    if pool := pages.pool_of(value):
        return {"gpu_pools": [pool]}
    ours = isinstance(value, dict) and all(key.startswith("gpu_") for key in value)
    return value if ours else {}


def reader_of(given: Data) -> str:
    """Return the playbook that reads variables."""
    return next(
        (READ_BY[start] for start in READ_BY if any(name.startswith(start) for name in given)), "plan"
    )


def scenario_of(text: str) -> str:
    """Return on which scenario the block has its place: "" for a cluster with POOLS."""
    given = variables(text)
    pools = given.get("gpu_pools", [])
    if not given or reader_of(given) != "plan":
        return ""
    return "virtual-machines" if any("workload" in pool for pool in pools) else pages.cloud_of(pools)


def blocks_of(*scenarios: str) -> list[t.Any]:
    return [
        pytest.param(scenario, *block.values, id=block.id)
        for scenario in scenarios
        for block in BLOCKS
        if scenario_of(str(block.values[1])) == scenario
    ]


def check_block(run: Run, source: str, text: str) -> None:
    found = run.failure.result.get("code", run.failure.result) if run.rc else ""
    found = found or next(iter(re.findall(r"^fatal.*?: ([A-Z]+(?:-[A-Z]+)+): ", run.output)), "")
    assert found == told(BLOCK_FAILS, source, text), run.output[-6000:]


def run_variables(page: Page, source: str, text: str) -> None:
    given = variables(text)
    since = page.audit.position()
    run = page.reader.variables(reader_of(given), {"gpu_pools": POOLS, **given})
    check_block(run, source, text)
    assert page.written(since) == []


@pytest.mark.parametrize(("scenario", "source", "text"), blocks_of(""))
def test_a_block_of_variables_tasks_plays_or_objects_runs(
    page: Page, scenario: str, source: str, text: str
) -> None:
    assert scenario == ""
    if variables(text):
        run_variables(page, source, text)
        return
    found = list(yaml.safe_load_all(page.fitted(text)))
    since = page.audit.position()
    if isinstance(found[0], dict):
        found = [[{"name": "Apply", f"{OURS}manifests": {"objects": found}}]]
    (tasks,) = found
    is_play = "hosts" in tasks[0]
    check_block(page.reader.plays(*(tasks if is_play else [play([PLANNED, *tasks])])), source, text)
    assert page.written(since) == []


def test_each_table_names_what_is_there() -> None:
    texts = pages.blocks("yaml")
    assert [
        key for key in [*NO_RUN, *BLOCK_FAILS] if not any(told({key: "there"}, *block) for block in texts)
    ] == []
    plugins = [f"modules.{module}" for module in MODULES] + PLUGINS
    tasks = {(plugin, task["name"]) for plugin in plugins for task in named_tasks(plugin)}
    assert FAILS.keys() <= tasks
    assert {*UNRUN} <= set(plugins)
    assert {*NO_COMMAND} <= set(COMMANDS)
    assert all(any(part in command for command in COMMANDS) for part in COMMAND_FAILS)


def named_tasks(plugin: str) -> list[Data]:
    found = next(iter(yaml.safe_load_all(pages.examples(plugin))), None)
    return found if isinstance(found, list) else []


# Commands of pages.

# What stands for a word that the reader replaces, and for names of nodes and machines.
WORDS: t.Final = (
    (r"@(?:FILE|POOLS|my-pools\.yml)(?!\w)", "@pools.yml"),
    (r"\{node\}", "NODE"),
    (r"gpu_node=(?:NAME|NODE|a100-0)\b", "gpu_node=gpu-0.example.com"),
    (r"gpu_node=MACHINE\b", "gpu_node=demo-x7k2p-training-us-east-2a-9vw7p"),
    (r"gpu_pull_secret_file=FILE\b", "gpu_pull_secret_file=new.json"),
    (r"gpu_driver_branch=BRANCH\b", "gpu_driver_branch=580"),
    (r"gpu_mirror_file=NEW\b", "gpu_mirror_file=new-image-set.yml"),
    (r"-i INVENTORY\b", "-i inventory.yml"),
    (r"gpu_pool=NAME\b", "gpu_pool=training"),
    # The machine is some minutes old, so the run asks for its uid (NODE-YOUNG).
    (r"\breplace_node(?:\.yml)?\b", r"\g<0> -e gpu_machine_uid=UID"),
)
# What fails on this cluster: a part of the command, and the code.
COMMAND_FAILS: t.Final = {
    # The pod wants a label that no node has.
    "diagnose -e gpu_pod=team-a/train-0": "SCHED-LABELS",
    # CPU nodes share the MachineConfigPool: test_openshift_update.py.
    "gpu_update_pools=last": "UPDATE-SHARED",
    # The pool of this name has machines of another type: test_examples.py runs the file.
    "@examples/validated-training.yml": "POOL-DRIFT",
    # There is no Prometheus: tests/integration/monitoring.
    "report_use": "MON-API",
    # No upgrade is under way: tests/integration/upgrades.
    "gpu_upgrade_action=resume": "UPGRADE-TRIPLE",
}
# What does not run.
NO_COMMAND: t.Final[dict[str, str]] = {
    "KUBECONFIG=$HOME/resize.kubeconfig ansible-playbook accelerators.openshift.resize_pool -e @pools.yml": (
        "its file comes from the command before, and … stands for more"
    ),
    "ansible-playbook -vvv": "a part of a sentence",
    "ansible-doc -t role": "the beginning of a command",
}


def canonical(text: str) -> str:
    """Return the command without comments, --check and where its playbook lies, with WORDS replaced."""
    text = re.sub(r"\s+#.*| --check\b| …$", "", " ".join(text.split()))
    for word, replaced in WORDS:
        text = re.sub(word, replaced, text)
    return re.sub(r"\bplaybooks/(\w+)\.yml", rf"{OURS}\1", text)


def runs(command: str) -> bool:
    """Return whether a test runs the command. unit/rules/test_blocks.py reads the others."""
    is_whole = command.startswith("ansible-doc") and not pages.PLACEHOLDER.search(command)
    return command not in NO_COMMAND and (is_whole or "ansible-playbook" in command)


COMMANDS: t.Final = sorted({canonical(text) for _page, text in pages.commands()})


@pytest.mark.long("each command: unit/rules/test_blocks.py reads them, and other tests run each playbook")
@pytest.mark.parametrize("text", [command for command in COMMANDS if runs(command)])
def test_a_command_runs_in_check_mode(page: Page, text: str) -> None:
    since = page.audit.position()
    done = page.reader.command(page.fitted(text) + (" --check" if "ansible-playbook" in text else ""))
    said = done.stdout + done.stderr
    code = next((code for part, code in COMMAND_FAILS.items() if part in text), "")
    assert (done.returncode != 0) == bool(code), said[-6000:]
    assert code in said
    assert page.written(since) == []


# Last, because its clusters are new ones.
@pytest.mark.long("the first block of README.md is what the fixture makes; test_examples.py runs each cloud")
@pytest.mark.parametrize(
    ("new", "source", "text"),
    blocks_of("aws", "azure", "gcp", "vsphere", "virtual-machines"),
    indirect=["new"],
)
def test_a_block_of_pools_or_their_variables_is_planned(new: Page, source: str, text: str) -> None:
    run_variables(new, source, text)
