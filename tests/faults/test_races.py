# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Races: another client writes in between, a token file changes, a slow server runs past the deadline."""

from __future__ import annotations

import time
import typing as t
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from faults import faults
from faults.conftest import CONFIG_MAP, NAMESPACE, Bench, manifest
from faults.operations import before, changes
from faults.proxy import Call, Exchange, Fault
from integration.patience import at_best

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ApiError,
    ConflictError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import pending
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import credentials
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Query

PASSED: t.Final = faults.named("passed", Exchange.passed)


class Between:
    """A script that runs `act` before the first request of a verb meets the fault `then`."""

    watches = 1

    def __init__(self, verb: str, act: t.Callable[[], t.Any], then: Fault = PASSED) -> None:
        self._verb, self._act, self._then, self._done = verb, act, then, False

    def __call__(self, call: Call) -> Fault | None:
        if self._done or call.verb != self._verb:
            return None
        self._done = True

        def happen(exchange: Exchange) -> None:
            self._act()
            self._then(exchange)

        return faults.named(f"between-{self._then.__name__}", happen)


class Always:
    watches = 1

    def __init__(self, fault: Fault) -> None:
        self._fault = fault

    def __call__(self, _call: Call) -> Fault | None:
        return self._fault


def somebody_elses(name: str) -> dict[str, t.Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "data": {"x": "1"},
    }


@pytest.mark.parametrize(
    "then", [Exchange.passed, faults.reset_before, faults.silent_before], ids=lambda then: then.__name__
)
def test_a_create_that_somebody_else_won_is_a_conflict_and_no_change(bench: Bench, then: Fault) -> None:
    name = f"won-{then.__name__.replace('_', '-')}"
    api = bench.api(name, Between("create", lambda: bench.client.create(somebody_elses(name)), then))
    with pytest.raises(ConflictError) as caught:
        api.create(somebody_elses(name))
    assert caught.value.code == "API-CONFLICT"
    assert api.changes == []


@pytest.mark.parametrize("verb", ["dry-run", "apply"])
@pytest.mark.parametrize(
    "then",
    [Exchange.passed, faults.reset_before, faults.reset_after, faults.conflict],
    ids=lambda then: then.__name__,
)
def test_an_apply_keeps_what_somebody_else_wrote_meanwhile(bench: Bench, verb: str, then: Fault) -> None:
    name = f"kept-{verb}-{then.__name__.replace('_', '-')}"
    before(bench, name, x="1")
    api = bench.api(name, Between(verb, lambda: bench.write(name, theirs="1"), then))
    api.apply(manifest(name, x="2"))
    live = bench.read(name)
    assert live is not None
    assert live["data"] == {"x": "2", "theirs": "1"}
    assert changes(api) == [({"x": "1"}, {"x": "2"})]


@pytest.mark.parametrize(
    "then", [Exchange.passed, faults.reset_before, faults.reset_after], ids=lambda then: then.__name__
)
def test_an_object_that_is_deleted_under_an_apply_is_made_again(bench: Bench, then: Fault) -> None:
    name = f"again-{then.__name__.replace('_', '-')}"
    before(bench, name, x="1")
    api = bench.api(
        name, Between("apply", lambda: bench.client.delete("v1", "configmaps", name, NAMESPACE), then)
    )
    api.apply(manifest(name, x="2"))
    live = bench.read(name)
    assert live is not None
    assert live["data"] == {"x": "2"}
    assert len(api.changes) == 1


@pytest.mark.parametrize("ours", [True, False], ids=["ours", "theirs"])
def test_a_delete_does_not_hit_what_somebody_else_put_there_meanwhile(bench: Bench, ours: bool) -> None:
    name = f"replaced-{'ours' if ours else 'theirs'}"
    before(bench, name, x="1")

    def replace() -> None:
        bench.client.delete("v1", "configmaps", name, NAMESPACE)
        if ours:
            before(bench, name, x="2")
        else:
            bench.client.create(somebody_elses(name))

    api = bench.api(name, Between("delete", replace))
    assert api.delete(CONFIG_MAP, name, NAMESPACE) is ours
    assert (bench.read(name) is None) is ours
    assert bool(api.changes) is ours
    assert bool(api.warnings) is not ours


def test_a_token_file_is_read_again_after_a_401(bench: Bench, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("expired")
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "c",
                "cluster": {"server": bench.proxy.url, "certificate-authority": bench.params["ca_cert"]},
            }
        ],
        "users": [{"name": "u", "user": {"tokenFile": str(file)}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(config))
    connection = credentials.connect({"kubeconfig": str(kubeconfig)}, {})
    api = bench.api("token-file", connection=connection)

    def asked() -> int:
        """Count the requests without /readyz, which the client reads before it believes the first 401."""
        return sum(call.path != "/readyz" for call in bench.proxy.calls("token-file"))

    with pytest.raises(ApiError) as caught:
        api.get(CONFIG_MAP, "any", NAMESPACE)
    assert caught.value.code == "CRED-UNAUTHORIZED"
    assert asked() == 2
    file.write_text(bench.params["api_key"])
    assert api.get(CONFIG_MAP, "any", NAMESPACE) is None
    assert asked() == 4
    assert api.get(CONFIG_MAP, "any", NAMESPACE) is None
    assert asked() == 5


LATEST: t.Final = 2.1
PATIENT: t.Final[dict[str, Fault]] = {
    fault.__name__: fault
    for fault in (
        *(
            faults.silent_before,
            faults.stalled,
            faults.dripping_for_ever,
            faults.reset_before,
            faults.cut_off_headers,
        ),
        *(faults.answered(503, "3600"), faults.answered(429, "1"), faults.answered(500)),
    )
}


@pytest.mark.parametrize("fault", PATIENT)
def test_the_deadline_is_kept_within_a_second(bench: Bench, fault: str) -> None:
    def once(verb: str) -> float:
        name = f"late-{fault.replace('_', '-')}-{verb}"
        api = bench.api(name, Always(PATIENT[fault]), seconds=1.0)
        acts: dict[str, t.Callable[[], t.Any]] = {
            "get": lambda: api.get(CONFIG_MAP, name, NAMESPACE),
            "list": lambda: api.list(CONFIG_MAP, NAMESPACE),
            "apply": lambda: api.apply(manifest(name, x="1")),
            "delete": lambda: api.delete(CONFIG_MAP, name, NAMESPACE),
            "wait": lambda: api.wait(
                {"one": Query(CONFIG_MAP, NAMESPACE)}, lambda _seen: pending("Never", "never"), "one"
            ),
        }
        started = time.monotonic()
        with pytest.raises(AcceleratorError):
            acts[verb]()
        taken = time.monotonic() - started
        assert api.changes == []
        assert bench.read(name) is None
        return taken

    def act(verb: str) -> float:
        return at_best(lambda: once(verb), LATEST)

    verbs = ("get", "list", "apply", "delete", "wait")
    with ThreadPoolExecutor(len(verbs)) as workers:
        seconds = dict(zip(verbs, workers.map(act, verbs), strict=True))
    assert all(0.9 <= taken <= LATEST for taken in seconds.values()), seconds
