# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Operations that the tests run through the proxy while faults happen.

Each operation checks its result against the real server.
"""

from __future__ import annotations

import threading
import typing as t

from faults.conftest import CONFIG_MAP, NAMESPACE, Bench, manifest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query

Operation = t.Callable[[Bench, Api, str], None]

LISTED: t.Final = [f"listed-{number}" for number in range(7)]


def agent(api: Api) -> str:
    """Return the User-Agent of an Api, which selects its script in the proxy."""
    return api.http._headers["User-Agent"]


def before(bench: Bench, name: str, **data: str) -> dict[str, t.Any]:
    """Create the collection's object without any fault; return it."""
    return bench.api(f"{name}/before").apply(manifest(name, **data))


def changes(api: Api) -> list[tuple[dict[str, str], dict[str, str]]]:
    """Return the data before and after each change that the Api has recorded."""
    return [(one.before.get("data", {}), one.after.get("data", {})) for one in api.changes]


def get(bench: Bench, api: Api, name: str) -> None:
    before(bench, name, x="1")
    found = api.get(CONFIG_MAP, name, NAMESPACE)
    assert found is not None
    assert found["data"] == {"x": "1"}
    assert api.get(CONFIG_MAP, f"{name}-absent", NAMESPACE) is None
    assert api.changes == []


def list_pages(_bench: Bench, api: Api, _name: str) -> None:
    found = api.list(CONFIG_MAP, NAMESPACE, labels="of=listed")
    assert [item["metadata"]["name"] for item in found] == LISTED
    assert api.changes == []


def create(bench: Bench, api: Api, name: str) -> None:
    made = api.create(manifest(name, x="1"))
    live = bench.read(name)
    assert live is not None
    assert (made["metadata"]["uid"], made["metadata"]["resourceVersion"]) == (
        live["metadata"]["uid"],
        live["metadata"]["resourceVersion"],
    )
    assert live["data"] == {"x": "1"}
    assert changes(api) == [({}, {"x": "1"})]


def apply_new(bench: Bench, api: Api, name: str) -> None:
    made = api.apply(manifest(name, x="1"))
    live = bench.read(name)
    assert live is not None
    assert (made["metadata"]["uid"], made["metadata"]["resourceVersion"]) == (
        live["metadata"]["uid"],
        live["metadata"]["resourceVersion"],
    )
    assert changes(api) == [({}, {"x": "1"})]


def apply_change(bench: Bench, api: Api, name: str) -> None:
    old = before(bench, name, x="1", dropped="1")
    after = api.apply(manifest(name, x="2"))
    live = bench.read(name)
    assert live is not None
    assert after["data"] == live["data"] == {"x": "2"}
    assert live["metadata"]["uid"] == old["metadata"]["uid"]
    assert changes(api) == [({"x": "1", "dropped": "1"}, {"x": "2"})]


def apply_same(bench: Bench, api: Api, name: str) -> None:
    old = before(bench, name, x="1")
    api.apply(manifest(name, x="1"))
    live = bench.read(name)
    assert live is not None
    assert live["metadata"]["resourceVersion"] == old["metadata"]["resourceVersion"]
    assert api.changes == []


def merge_patch(bench: Bench, api: Api, name: str) -> None:
    old = before(bench, name, x="1", kept="1")
    after = api.merge_patch(CONFIG_MAP, name, NAMESPACE, {"data": {"x": "2"}})
    live = bench.read(name)
    assert live is not None
    assert after["data"] == live["data"] == {"x": "2", "kept": "1"}
    assert live["metadata"]["uid"] == old["metadata"]["uid"]
    assert changes(api) == [({"x": "1"}, {"x": "2"})]


def delete(bench: Bench, api: Api, name: str) -> None:
    before(bench, name, x="1")
    assert api.delete(CONFIG_MAP, name, NAMESPACE) is True
    assert bench.read(name) is None
    assert changes(api) == [({}, {})]
    assert api.delete(CONFIG_MAP, name, NAMESPACE) is False
    assert len(api.changes) == 1


def waited(
    bench: Bench, api: Api, name: str, change: t.Callable[[], t.Any], data: list[dict[str, str]]
) -> None:
    """Make the awaited change after the last watch that breaks, since no later watch repeats a lost event."""
    before(bench, name, x="1")

    def judge(snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
        seen = [one["data"] for one in snapshot["one"]]
        assert seen in ([{"x": "1"}], data)
        return ready() if seen == data else pending("Old", "still 1")

    def act() -> None:
        assert bench.proxy.wait_for(agent(api), "watch", bench.proxy.scripts[agent(api)].watches)
        change()

    writer = threading.Thread(target=act)
    writer.start()
    snapshot = api.wait({"one": Query(CONFIG_MAP, NAMESPACE, name=name)}, judge, "one")
    writer.join()
    assert [one["data"] for one in snapshot["one"]] == data
    assert api.changes == []


def wait(bench: Bench, api: Api, name: str) -> None:
    waited(bench, api, name, lambda: bench.write(name, x="2"), [{"x": "2"}])


def wait_deleted(bench: Bench, api: Api, name: str) -> None:
    """Wait while another client deletes the object: the judge must see that it is gone."""
    waited(bench, api, name, lambda: bench.client.delete("v1", "configmaps", name, NAMESPACE), [])


OPERATIONS: t.Final[dict[str, Operation]] = {
    "get": get,
    "list": list_pages,
    "create": create,
    "apply-new": apply_new,
    "apply-change": apply_change,
    "apply-same": apply_same,
    "merge-patch": merge_patch,
    "delete": delete,
    "wait": wait,
    "wait-deleted": wait_deleted,
}
