# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""One play against many clusters: data of one host's task never reaches the task of another host.

The order of the hosts and the number of forks do not matter.
"""

from __future__ import annotations

import os
import sys
import typing as t
from pathlib import Path

import ansible_runner
import pytest
import yaml
from faults.served import Exchange, Served

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import Kind

ROOT: t.Final = Path(__file__).resolve().parents[2]
MODULE: t.Final = "accelerators.openshift.manifests"
TASKS: t.Final = 3
# Hosts gamma and delta are two identities on one cluster. Each cluster gives the kind Colour another plural.
CLUSTERS: t.Final = {"alpha": "red", "beta": "green", "gamma": "blue", "delta": "blue"}
MASK: t.Final = "VALUE_SPECIFIED_IN_NO_LOG_PARAMETER"


def token(host: str) -> str:
    return f"token-of-{host}-a1b2c3"


class Run:
    """A playbook run on all hosts.

    results: each host's results in order. servers: the API server of each cluster.
    """

    def __init__(self, folder: Path, strategy: str, forks: int) -> None:
        self.servers = {name: Served(act=warning(name)) for name in sorted(set(CLUSTERS.values()))}
        self.results: dict[str, list[dict[str, t.Any]]] = {host: [] for host in CLUSTERS}
        for name, served in self.servers.items():
            served.state.served[("example.com/v1", f"{name}s")] = Kind("example.com/v1", "Colour", f"{name}s")
        (folder / "project").mkdir()
        (folder / "project" / "play.yml").write_text(yaml.safe_dump([self._play(strategy)]))
        environment = {
            "ANSIBLE_COLLECTIONS_PATH": str(ROOT / ".collections"),
            "ANSIBLE_HOME": str(folder / "home"),
            "KUBECONFIG": str(folder / "absent"),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        }
        try:
            hosts = {host: self._variables(host) for host in CLUSTERS}
            runner = ansible_runner.run(
                private_data_dir=str(folder),
                playbook="play.yml",
                inventory={"all": {"hosts": hosts}},
                envvars=environment,
                cmdline=f"--diff -v --forks {forks}",
                quiet=True,
                timeout=120,
            )
            self.output = runner.stdout.read()
            assert runner.rc == 0, self.output[-4000:]
            for event in runner.events:
                if event["event"] == "runner_on_ok":
                    self.results[event["event_data"]["host"]].append(event["event_data"]["res"])
        finally:
            for served in self.servers.values():
                served.close()

    def _variables(self, host: str) -> dict[str, t.Any]:
        url = self.servers[CLUSTERS[host]].url
        known = {
            "ansible_connection": "local",
            "ansible_python_interpreter": sys.executable,
            "neighbours": [token(one) for one in CLUSTERS if one != host],
        }
        if host != "beta":
            return {**known, "credentials": {"host": url, "api_key": token(host)}}
        return {**known, "credentials": {"kubeconfig": kubeconfig(url, token(host))}}

    def _play(self, strategy: str) -> dict[str, t.Any]:
        def task(number: int) -> dict[str, t.Any]:
            metadata = {"name": f"{{{{ inventory_hostname }}}}-{number}", "namespace": "x"}
            # The token of a neighbour is no secret of this host's task, so the task must not mask it.
            colour = {
                "apiVersion": "example.com/v1",
                "kind": "Colour",
                "metadata": metadata,
                "spec": {"neighbours": "{{ neighbours | join(' ') }}"},
            }
            return {"name": f"task {number}", MODULE: {"objects": [colour]}}

        return {
            "hosts": "all",
            "gather_facts": False,
            "strategy": strategy,
            "module_defaults": {MODULE: "{{ credentials }}"},
            "tasks": [task(number) for number in range(TASKS)],
        }


def warning(name: str) -> t.Callable[[Exchange], None]:
    """Return an action that adds a warning with the cluster's name to the answer of every write."""

    def act(exchange: Exchange) -> None:
        answer = exchange.state()
        headers = [
            *answer.headers.items(),
            *([("Warning", f'299 - "told by {name}"')] if exchange.command != "GET" else []),
        ]
        exchange.reply(answer.status, answer.read(), *headers)

    return act


def kubeconfig(url: str, secret: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": url}}],
        "users": [{"name": "u", "user": {"token": secret}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }


@pytest.fixture(
    scope="module",
    params=[(strategy, forks) for strategy in ("linear", "free") for forks in (1, 4)],
    ids=lambda way: f"{way[0]}-{way[1]}",
)
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return Run(tmp_path_factory.mktemp("clusters"), *request.param)


def names(run: Run, cluster: str, of: t.Callable[[t.Any], str]) -> dict[str, set[str]]:
    """Return the names of the requested objects, grouped by what `of` returns for the request."""
    found: dict[str, set[str]] = {}
    for one in run.servers[cluster].seen:
        name = one.path.partition("?")[0].rpartition("/")[2]
        if name != "v1":
            found.setdefault(of(one), set()).add(name)
    return found


def test_each_host_reaches_its_own_cluster_with_its_own_token(run: Run) -> None:
    for cluster in run.servers:
        wanted = {
            f"Bearer {token(host)}": {f"{host}-{number}" for number in range(TASKS)}
            for host, own in CLUSTERS.items()
            if own == cluster
        }
        assert names(run, cluster, lambda one: one.headers["authorization"]) == wanted


def test_a_task_has_one_connection_which_is_its_own(run: Run) -> None:
    for cluster in run.servers:
        by_connection = names(run, cluster, lambda one: str(one.peer))
        assert len(by_connection) == TASKS * sum(own == cluster for own in CLUSTERS.values())
        assert {len(one) for one in by_connection.values()} == {1}, by_connection


def test_no_token_is_sent_on_the_connection_of_another(run: Run) -> None:
    for served in run.servers.values():
        tokens: dict[int, set[str]] = {}
        for one in served.seen:
            tokens.setdefault(one.peer, set()).add(one.headers["authorization"])
        assert {len(one) for one in tokens.values()} == {1}


def test_what_a_cluster_calls_a_kind_is_no_others_business(run: Run) -> None:
    for cluster, served in run.servers.items():
        assert {plural for _version, plural, _space, _name in served.state.objects} == {f"{cluster}s"}
        asked = sum(one.path == "/apis/example.com/v1" for one in served.seen)
        assert asked == TASKS * sum(own == cluster for own in CLUSTERS.values())


def test_warnings_stay_with_their_task(run: Run) -> None:
    for host, results in run.results.items():
        assert [one["warnings"] for one in results] == [[f"told by {CLUSTERS[host]}"]] * TASKS


def test_the_secret_of_one_is_no_secret_of_another(run: Run) -> None:
    for host, results in run.results.items():
        assert len(results) == TASKS
        for result in results:
            after = result["diff"][0]["after"]
            assert after["spec"]["neighbours"].split() == [token(one) for one in CLUSTERS if one != host]
            assert token(host) not in str(result)
            assert MASK not in str(result["diff"])
