"""Limits that others set: which differ, and what is said about them."""

from __future__ import annotations

import typing as t

from unit.quota.builders import GPU, quota

from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import MANAGED_BY
from ansible_collections.accelerators.openshift.plugins.module_utils._quota import others, scopes

OURS: t.Final = "accelerators.openshift"


def live(manager: str, value: str = "4", *, is_ours: bool = True, **more: t.Any) -> KubeObject:
    """Return a quota of so many GPUs, with a field manager of that limit."""
    found = quota({GPU: value})
    found["metadata"]["labels"] = MANAGED_BY if is_ours else {}
    fields: KubeObject = {"f:spec": {"f:hard": {f"f:{GPU}": {}}}}
    found["metadata"]["managedFields"] = [{"manager": manager, "fieldsV1": fields, **more}]
    return found


def test_a_limit_that_another_manager_changed_differs() -> None:
    (found,) = others.differing(live("kubectl-edit"), {GPU: "8"})
    assert found == others.Kept(GPU, "8", "4", "kubectl-edit")
    assert found.as_result()["field"] == f"spec.hard.{GPU}"
    text = others.warning(live("kubectl-edit"), [found])
    assert f"Quota a/gpu-quota: {GPU} stays 4 (asked: 8, set by kubectl-edit)" in text
    assert "gpu_policy_adopt: take" in text


def test_a_limit_of_ours_or_of_nobody_does_not_differ() -> None:
    for manager in (OURS, "before-first-apply"):
        assert others.differing(live(manager), {GPU: "8"}) == []
    assert others.differing(live("kubectl-edit"), {GPU: "4"}) == []
    assert others.differing(live("kcm", subresource="status"), {GPU: "8"}) == []
    assert others.differing(None, {GPU: "8"}) == []


def test_a_quota_that_we_did_not_create_keeps_all_its_limits() -> None:
    found = others.differing(live("argocd-controller", is_ours=False), {GPU: "8", "pods": "9"})
    assert [(one.key, one.live, one.manager) for one in found] == [
        (GPU, "4", "argocd-controller"),
        ("pods", None, "Argo CD"),
    ]
    assert "pods stays without a limit (asked: 9" in others.warning(live("x"), found)


def test_scopes_that_another_manager_set_differ() -> None:
    scoped = live("kubectl-edit")
    scoped["spec"]["scopes"] = ["BestEffort"]
    scoped["metadata"]["managedFields"][0]["fieldsV1"] = {"f:spec": {"f:scopes": {}}}
    (found,) = others.differing(scoped, {GPU: "4"})
    assert found == others.Kept("scopes", "none", "BestEffort Exists", "kubectl-edit")
    assert found.as_result()["field"] == "spec.scopeSelector"
    assert others.has_scopes_of_others(scoped, None)
    wanted = scopes.selector(["high"])
    assert others.differing(scoped, {}, wanted)[0].wanted == "PriorityClass In [high]"
    scoped["spec"] = {"scopeSelector": wanted}
    assert not others.has_scopes_of_others(scoped, wanted)
    kept = others.Kept("scopes", "BestEffort Exists", None, "kubectl-edit")
    assert "scopes stays none (asked: BestEffort Exists" in others.warning(scoped, [kept])
    assert not others.has_scopes_of_others(live("kubectl-edit"), None)


def test_nobody_manages_an_object_without_records() -> None:
    assert others.is_nobodys(quota({GPU: "1"}))
    assert others.is_nobodys(live("before-first-apply"))
    assert not others.is_nobodys(live("kubectl-edit"))
