"""The contract of Api: what it guarantees on every server."""

from __future__ import annotations

import typing as t

import pytest
from cluster import Cluster
from contract.objects import CONFIG_MAP, MakeApi, manifest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ConflictError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import connect
from ansible_collections.accelerators.openshift.plugins.module_utils._kube import kinds
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api, Query


def test_twelve_steps(make_api: MakeApi) -> None:
    def changed(check_mode: bool, step: t.Callable[[Api], t.Any]) -> bool:
        api = make_api(check_mode=check_mode)
        step(api)
        return bool(api.changes)

    steps: list[t.Callable[[Api], t.Any]] = [
        lambda api: api.apply(manifest(x="1")),
        lambda api: api.apply(manifest(x="1")),
        lambda api: api.apply(manifest(x="2")),
        lambda api: api.apply(manifest(x="2")),
        lambda api: api.delete(CONFIG_MAP, "a", "contract"),
        lambda api: api.delete(CONFIG_MAP, "a", "contract"),
    ]
    assert [(changed(True, step), changed(False, step)) for step in steps] == [
        (True, True),
        (False, False),
    ] * 3


def test_what_we_create_is_ours_and_what_we_drop_is_taken_away(make_api: MakeApi) -> None:
    make_api().apply(manifest(x="1", y="2"))
    after = make_api().apply(manifest(x="1"))
    assert after["metadata"]["labels"] == MANAGED_BY
    assert after["data"] == {"x": "1"}


def test_an_object_of_another_writer_keeps_its_fields_and_gets_no_label(make_api: MakeApi) -> None:
    make_api().create({**manifest(theirs="1")})
    after = make_api().apply(manifest(ours="2"))
    assert after["data"] == {"theirs": "1", "ours": "2"}
    assert "labels" not in after["metadata"]
    api = make_api()
    assert api.delete(CONFIG_MAP, "a", "contract") is False
    assert api.get(CONFIG_MAP, "a", "contract") is not None


def test_an_absent_object_is_none_and_an_absent_kind_is_an_error(make_api: MakeApi) -> None:
    # No operator of the sandbox's catalogues brings this kind, whatever tests ran here before.
    absent = kinds.known("SpecialResource")
    assert make_api().get(CONFIG_MAP, "nobody", "contract") is None
    with pytest.raises(KindNotServedError, match=r"sro\.openshift\.io"):
        make_api().get(absent, "any")
    with pytest.raises(KindNotServedError):
        make_api().list(absent)


def test_lists_select_and_carry_their_kind(make_api: MakeApi) -> None:
    for name, team in (("a", "ml"), ("b", "ml"), ("c", "web")):
        wanted = manifest(name)
        wanted["metadata"]["labels"] = {"team": team}
        make_api().apply(wanted)
    found = make_api().list(CONFIG_MAP, "contract", labels="team=ml")
    assert [(item["metadata"]["name"], item["kind"], item["apiVersion"]) for item in found] == [
        ("a", "ConfigMap", "v1"),
        ("b", "ConfigMap", "v1"),
    ]
    assert [
        item["metadata"]["name"] for item in make_api().list(CONFIG_MAP, "contract", fields="metadata.name=c")
    ] == ["c"]


def test_a_second_create_is_a_conflict(make_api: MakeApi) -> None:
    make_api().create(manifest(x="1"))
    with pytest.raises(ConflictError) as caught:
        make_api().create(manifest(x="2"))
    assert caught.value.code == "API-CONFLICT"


def test_a_dry_run_stores_nothing(make_api: MakeApi) -> None:
    assert make_api().dry_run_create(manifest(x="1"))["data"] == {"x": "1"}
    assert make_api().get(CONFIG_MAP, "a", "contract") is None


def test_a_merge_patch_is_a_change_only_when_something_differs(make_api: MakeApi) -> None:
    make_api().apply(manifest(x="1"))
    api = make_api()
    api.merge_patch(CONFIG_MAP, "a", "contract", {"data": {"x": "1"}})
    assert api.changes == []
    api.merge_patch(CONFIG_MAP, "a", "contract", {"data": {"y": "2"}})
    assert [(change.before.get("data"), change.after.get("data")) for change in api.changes] == [
        ({}, {"y": "2"})
    ]


def test_a_wait_sees_what_is_already_there(make_api: MakeApi) -> None:
    make_api().apply(manifest(x="1"))

    def judge(snapshot: dict[str, list[dict[str, t.Any]]]) -> Readiness:
        return ready() if snapshot["one"] and not snapshot["other"] else pending("Pending", "not yet")

    queries = {
        "one": Query(CONFIG_MAP, "contract", name="a"),
        "other": Query(CONFIG_MAP, "contract", labels="team=nobody"),
    }
    snapshot = make_api().wait(queries, judge, "config map")
    assert [item["metadata"]["name"] for item in snapshot["one"]] == ["a"]


def test_names_and_labels_as_long_as_they_may_be(make_api: MakeApi) -> None:
    name, space = ".".join(["a" * 62] * 4 + ["b"]), "n" * 63
    assert len(name) == 253
    wanted = {
        **manifest(name, x="1"),
        "metadata": {
            "name": name,
            "namespace": space,
            "labels": {f"{'p' * 61}.{'q' * 63}.example.com/{'l' * 63}": "v" * 63},
        },
    }
    make_api().apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": space}})
    make_api().apply(wanted)
    again = make_api()
    again.apply(wanted)
    assert again.changes == []
    (label,) = wanted["metadata"]["labels"].items()
    assert [
        item["metadata"]["name"] for item in make_api().list(CONFIG_MAP, space, labels="=".join(label))
    ] == [name]
    assert [
        item["metadata"]["name"]
        for item in make_api().list(CONFIG_MAP, space, fields=f"metadata.name={name}")
    ] == [name]
    assert make_api().delete(CONFIG_MAP, name, space)


def test_annotations_in_any_script(make_api: MakeApi) -> None:
    texts = {
        "example.com/de": "Größe & Maß: 100 %",
        "example.com/ja": "日本語",
        "example.com/mood": "🚀",
        "example.com/odd": '\x7f\x85\ufeff"\\\n\t\u2028</script>',
        "example.com/none": "",
    }
    wanted = manifest(x="ключ")
    wanted["metadata"]["annotations"] = texts
    made = make_api().apply(wanted)
    assert made["metadata"]["annotations"] == texts
    again = make_api()
    assert again.apply(wanted)["data"] == {"x": "ключ"}
    assert again.changes == []


def test_a_name_leads_nowhere_else(make_api: MakeApi) -> None:
    make_api().apply(manifest("b", x="1"))
    for name in (".", "..", "b?x=1", "b#", "b/status", "../configmaps/b", "b%2f", "ü", "a b"):
        try:
            assert make_api().get(CONFIG_MAP, name, "contract") is None, name
        except ApiError as exc:
            # The real server may answer 400 instead, since no object can have such a name.
            assert exc.status in (400, 404), name  # noqa: PT017


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ("env in (prod, test),tier!=front", ["a", "b"]),
        ("env notin (prod),tier", ["c"]),
        ("!tier,env", ["b"]),
        ("example.com/team=ml-ops_1.x", ["a"]),
        ("env==prod,tier in (back)", ["a"]),
    ],
)
def test_selectors_that_need_quoting(cluster: Cluster, labels: str, names: list[str]) -> None:
    """Run on the real server only: the in-memory server supports only equality in selectors."""
    api = connect({"kubeconfig": str(cluster.kubeconfig)}, "contract")
    api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "contract-labels"}})
    marks = {
        "a": {"env": "prod", "tier": "back", "example.com/team": "ml-ops_1.x"},
        "b": {"env": "test"},
        "c": {"env": "test", "tier": "front"},
    }
    for name, own in marks.items():
        api.apply(
            {
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": name, "namespace": "contract-labels", "labels": own},
            }
        )
    assert [
        item["metadata"]["name"] for item in api.list(CONFIG_MAP, "contract-labels", labels=labels)
    ] == names
    seen = api.wait(
        {"all": Query(CONFIG_MAP, "contract-labels", labels=labels)}, lambda _seen: ready(), "labels"
    )
    assert [item["metadata"]["name"] for item in seen["all"]] == names


def test_a_role_may_have_any_name(cluster: Cluster) -> None:
    """Run on the real server only: only RBAC objects may have such names."""
    api = connect({"kubeconfig": str(cluster.kubeconfig)}, "contract")
    role: dict[str, t.Any] = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "metadata": {"name": "contract: a?b#c ü&d=e,f\\g"},
        "rules": [],
    }
    api.apply(role)
    assert api.get(kinds.known("ClusterRole"), role["metadata"]["name"]) is not None
    assert api.delete(kinds.known("ClusterRole"), role["metadata"]["name"])
    assert len(api.changes) == 2
    # delete() has watched a field selector of the role's name until the role was gone.
    assert api.get(kinds.known("ClusterRole"), role["metadata"]["name"]) is None
