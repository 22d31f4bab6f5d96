"""What the API server made of a machine set that was sent."""

from __future__ import annotations

import copy
import typing as t

import pytest
from unit.machines.builders import lived, plan

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import ConflictError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api as KubeApi
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.machine import MachineError
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import writes

Data = dict[str, t.Any]
VALUE: t.Final = ".spec.template.spec.providerSpec.value."


def machine_set(**value: t.Any) -> Data:
    return {
        "metadata": {"name": "demo-gpu-a"},
        "spec": {"template": {"spec": {"providerSpec": {"value": copy.deepcopy(value)}}}},
    }


@pytest.mark.parametrize(
    ("sent", "answer", "lost"),
    [
        ({"a": 1}, {"a": 1, "deviceIndex": 0, "metadata": {}}, []),
        ({"a": 1, "b": {"c": 1}}, {"b": {}}, ["a", "b.c"]),
        ({"gpus": [{"type": "x", "cnt": 2}]}, {"gpus": [{"type": "x", "count": 1}]}, ["gpus[0].cnt"]),
        ({"spotMarketOptions": {}}, {}, ["spotMarketOptions"]),
        ({"tags": {}, "iops": 0, "on": False, "names": [], "text": "", "none": None}, {}, []),
        ({"price": "0.5"}, {"price": "500m"}, []),
    ],
    ids=str,
)
def test_what_was_dropped(sent: Data, answer: Data, lost: list[str]) -> None:
    assert writes.dropped(sent, answer) == lost


@pytest.mark.parametrize(
    ("field", "patch", "remedy"),
    [
        ("provisioningModel", {}, "Remove market: spot without gcp.preemptible: true"),
        ("networkInterfaceType", {}, "Remove aws.efa"),
        ("somethingNew", {"somethingNew": 1}, "Remove provider_spec_patch.somethingNew"),
    ],
)
def test_the_option_behind_it_is_named(field: str, patch: Data, remedy: str) -> None:
    with pytest.raises(MachineError, match=f"does not know {field}. The machine set demo-gpu-a") as caught:
        writes.check_answer(machine_set(a=1), machine_set(a=1, **{field: "x"}), patch)
    assert caught.value.code == "MACH-UNKNOWN-FIELD"
    assert caught.value.remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("refusal", "patch", "options"),
    [
        (
            "providerSpec.blockDevices[0].ebs.throughputMib: Invalid value: 9",
            {"blockDevices": [{"ebs": {"throughputMib": 9, "volumeType": "gp2"}}]},
            ["provider_spec_patch.blockDevices[0].ebs.throughputMib"],
        ),
        (
            "Invalid providerSpec.tenancy, the only allowed options are: default, dedicated, host",
            {"placement": {"tenancy": "Dedicated"}},
            ["provider_spec_patch.placement.tenancy"],
        ),
        (
            "[providerSpec.osDisk.diskSizeGB: Invalid value: 0, providerSpec.vnet: Required value]",
            {"osDisk": {}, "tags": {"a": "b"}},
            ["provider_spec_patch.osDisk"],
        ),
        ("providerSpec.subnet: No subnet has been provided.", {"tags": []}, []),
    ],
)
def test_what_the_webhook_refuses_is_told_as_the_user_wrote_it(
    refusal: str, patch: Data, options: list[str]
) -> None:
    assert writes.patched(f'admission webhook "x" denied the request: {refusal}', patch) == options


def test_nothing_was_dropped() -> None:
    writes.check_answer(machine_set(a=1, b=2), machine_set(a=1), {})


@pytest.mark.parametrize(
    ("conflicts", "is_about_images"),
    [
        ([f'{VALUE}disks: conflict with "machine-config-controller"'], True),
        (
            [f'{VALUE}ami.id: conflict with "machine-config-controller"', f'{VALUE}image: conflict with "x"'],
            True,
        ),
        ([f'{VALUE}disks: conflict with "x"', '.spec.replicas: conflict with "x"'], False),
        ([f'{VALUE}instanceType: conflict with "x"'], False),
        ([], False),
    ],
    ids=str,
)
def test_which_conflicts_are_overcome(conflicts: list[str], is_about_images: bool) -> None:
    assert writes.is_about_images(conflicts) is is_about_images


class Api:
    """An API server that refuses each dry run of an apply with these conflicts."""

    def __init__(self, *conflicts: str) -> None:
        self.conflicts, self.asked = conflicts, 0

    def dry_run_apply(self, manifest: Data, live: Data) -> Data:
        self.asked += 1
        if self.conflicts:
            raise ConflictError("API-CONFLICT", "conflict", evidence=self.conflicts)
        return {**live, **manifest}


@pytest.fixture(autouse=True)
def _dry_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the API server of the test answer dry runs."""
    monkeypatch.setattr(writes, "dry_run_apply", lambda api, *asked: api.dry_run_apply(*asked))


def smaller(api: Api, replicas: int = 1) -> None:
    """Foresee the writes of a pool with one set of two Machines that gets so many replicas."""
    planned = plan(replicas=replicas)
    (live,) = lived(plan(replicas=2))
    writes.foresee(t.cast(KubeApi, api), planned, {live["metadata"]["name"]: live})


@pytest.mark.parametrize(
    "conflict",
    [
        '.spec.replicas: conflict with "kubectl" with subresource "scale" using machine.openshift.io/v1beta1',
        f'{VALUE}ami.id: conflict with "machine-config-controller"',
        '.metadata.annotations: conflict with "before-first-apply" using machine.openshift.io/v1beta1',
    ],
)
def test_a_conflict_that_the_write_overcomes_stops_no_drain(conflict: str) -> None:
    api = Api(conflict)
    smaller(api)
    assert api.asked == 1


def test_a_write_that_would_be_refused_fails_before_a_node_is_drained() -> None:
    with pytest.raises(ConflictError) as caught:
        smaller(Api('.spec.template.spec.taints: conflict with "argocd-controller" using v1'))
    assert "gpu_node_pool_adopt: take" in caught.value.remedy
    assert "force_conflicts" not in caught.value.remedy


def test_a_pool_that_does_not_shrink_needs_no_dry_run() -> None:
    api = Api("anything")
    smaller(api, replicas=3)
    assert api.asked == 0


def test_replicas_that_belong_to_somebody_else_are_not_sent() -> None:
    """An apply with the live number would own it too, and the next run would take it for the pool's own."""
    sent: list[Data] = []

    class Applied(Api):
        def apply(self, manifest: Data, live: Data | None = None) -> Data:
            sent.append(manifest)
            return manifest

    planned = plan(replicas=2)
    (live,) = lived(planned)
    writes.apply(t.cast(KubeApi, Applied()), planned, {live["metadata"]["name"]: live}, [*planned.manifests])
    assert ["replicas" in one["spec"] for one in sent] == [False]
    assert planned.replicas == {live["metadata"]["name"]: 2}


class Argo(Api):
    """An API server that refuses an apply without force: Argo CD set the taints. forced: what it took."""

    def __init__(self) -> None:
        super().__init__('.spec.template.spec.taints: conflict with "argocd-controller" using v1')
        self.forced: list[Data] = []

    def apply(self, manifest: Data, live: Data | None = None, force_conflicts: bool = False) -> Data:
        if not force_conflicts:
            raise ConflictError("API-CONFLICT", "conflict", evidence=self.conflicts)
        self.forced.append(manifest)
        return manifest


def managed_by_argo() -> tuple[Data, Data]:
    """Return manifest and live set of a pool whose taints Argo CD changed."""
    planned = plan(replicas=2)
    (live,) = lived(planned)
    (manifest,) = planned.manifests.values()
    manifest["spec"]["template"]["spec"]["taints"] = [{"key": "ours"}]
    live["spec"]["template"]["spec"]["taints"] = [{"key": "theirs"}]
    taken: Data = {"f:spec": {"f:template": {"f:spec": {"f:taints": {}}}}}
    live["metadata"]["managedFields"] = [
        {"manager": "argocd-controller", "time": "2026-11-22T10:00:00Z", "fieldsV1": taken}
    ]
    return {"plan": planned}, live


@pytest.mark.parametrize("is_less", [False, True], ids=["apply", "foresee"])
def test_a_field_of_another_manager_is_told_with_both_values_unless_it_is_taken(is_less: bool) -> None:
    found, live = managed_by_argo()
    api, existing = Argo(), {live["metadata"]["name"]: live}
    if is_less:
        live["spec"]["replicas"] = 3
    call = writes.foresee if is_less else writes.apply
    with pytest.raises(ConflictError) as caught:
        call(t.cast(KubeApi, api), found["plan"], existing)
    (line,) = caught.value.evidence
    assert line == (
        "spec.template.spec.taints is [{'key': 'theirs'}], set by argocd-controller at 2026-11-22T10:00:00Z; "
        "the task asks for [{'key': 'ours'}]"
    )
    assert caught.value.message.endswith("Nothing was changed.")
    assert api.forced == []
    call(t.cast(KubeApi, api), found["plan"], existing, adopt="take")
    assert len(api.forced) == (0 if is_less else 1)
