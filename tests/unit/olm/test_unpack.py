"""Trouble that can end by itself: a bundle that OLM cannot unpack."""

from __future__ import annotations

import typing as t

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    NotReadyError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import (
    progress,
    subscription as olm_subscription,
    unpack,
)

Object = dict[str, t.Any]
IMAGE: t.Final = "registry.example.com/nfd-bundle@sha256:0"
ASK: t.Final = olm_subscription.Ask("nfd", path=frozenset({"nfd.v1"}), head="nfd.v1")


def job(name: str = "9c4e", *conditions: Object, extract: str = "extract") -> Object:
    pod = {
        "initContainers": [{"name": "util", "image": "u"}, {"name": "pull", "image": IMAGE}],
        "containers": [{"name": extract, "image": "opm"}],
    }
    return {
        "metadata": {"name": name},
        "spec": {"template": {"spec": pod}},
        "status": {"conditions": list(conditions)},
    }


def pod(owner: str, reason: str, message: str = "") -> Object:
    waiting = {"name": "pull", "state": {"waiting": {"reason": reason, "message": message}}}
    return {
        "metadata": {"name": "p", "ownerReferences": [{"name": owner}]},
        "status": {"initContainerStatuses": [{"name": "util", "state": {}}, waiting]},
    }


LATE: t.Final = {
    "type": "Failed",
    "status": "True",
    "reason": "DeadlineExceeded",
    "message": "Job was active longer than specified deadline",
}
BACK_OFF: t.Final = f'Back-off pulling image "{IMAGE}": ErrImagePull: manifest unknown'


@pytest.mark.parametrize(
    ("jobs", "pods", "said"),
    [
        ([job()], [pod("9c4e", "ImagePullBackOff", BACK_OFF)], [f"ImagePullBackOff: {BACK_OFF}"]),
        ([job("9c4e", LATE)], [], ["DeadlineExceeded: Job was active longer than specified deadline"]),
        ([job()], [pod("9c4e", "PodInitializing"), pod("other", "ImagePullBackOff", "x")], ["has not ended"]),
        ([job("9c4e", {"type": "Complete", "status": "True"})], [], []),
        ([job(extract="backup")], [], []),
    ],
)
def test_what_keeps_a_bundle_from_being_unpacked(
    jobs: list[Object], pods: list[Object], said: list[str]
) -> None:
    assert [stuck.why for stuck in unpack.stuck_jobs(jobs, pods)] == said


class Lists:
    """Stands where the Api stands: it only lists."""

    def __init__(self, **found: list[Object] | AcceleratorError) -> None:
        self._found = found

    def list(self, kind: t.Any, namespace: str) -> list[Object]:
        found = self._found[kind.kind]
        if isinstance(found, AcceleratorError):
            raise found
        return found


@pytest.mark.parametrize(
    ("lists", "message", "remedy"),
    [
        (
            Lists(Job=[job("9c4e", LATE)], Pod=[]),
            f"unpacking failed. Bundle image {IMAGE}: DeadlineExceeded",
            "run `oc delete job 9c4e -n market` and run again.",
        ),
        (Lists(Job=[], Pod=[]), "unpacking failed.", "see"),
        (Lists(Job=AcceleratorError("API-FORBIDDEN", "jobs is forbidden")), "unpacking failed.", "see"),
    ],
    ids=["named", "none left", "forbidden"],
)
def test_the_failure_names_the_image_when_it_can(lists: t.Any, message: str, remedy: str) -> None:
    told = unpack.explained(lists, NotReadyError("OLM-UNPACK", "unpacking failed.", "see"), "market")
    assert (type(told), told.code) == (NotReadyError, "OLM-UNPACK")
    assert told.message.startswith(message)
    assert told.remedy.endswith(remedy)
    assert len(told.evidence) == 1


def subscription(*conditions: tuple[str, str], **status: t.Any) -> Object:
    told = [{"type": kind, "status": "True", "message": message} for kind, message in conditions]
    return {"metadata": {"name": "nfd"}, "spec": {"name": "nfd"}, "status": {"conditions": told, **status}}


FAILED, PULLS, BUSY = (
    ("BundleUnpackFailed", "late"),
    ("BundleUnpacking", "Bundle image pull failed."),
    ("BundleUnpacking", ""),
)


@pytest.mark.parametrize(
    ("conditions", "patience"),
    [([FAILED], 10), ([PULLS], 60), ([FAILED, PULLS], 60), ([FAILED, BUSY], 60)],
)
def test_unpacking_that_fails_is_believed_when_it_lasts(
    conditions: list[tuple[str, str]], patience: float
) -> None:
    now = [0.0]
    judge = progress.Judge(ASK, lambda: now[0])
    for second, verdict in [(0, "pending"), (patience - 1, "pending"), (patience, "failed")]:
        now[0] = second
        judged = judge({"subscription": [subscription(*conditions)], "plans": [], "csvs": []})
        assert (judged.verdict, judged.code) == (verdict, "OLM-UNPACK")


@pytest.mark.parametrize(("phase", "code"), [("Installing", "OLM-PENDING"), ("Complete", "OLM-PENDING")])
def test_conditions_of_unpacking_that_olm_never_takes_back(phase: str, code: str) -> None:
    live = subscription(FAILED, BUSY, currentCSV="nfd.v1", installPlanRef={"name": "p"})
    plan = {
        "metadata": {"name": "p"},
        "spec": {"clusterServiceVersionNames": ["nfd.v1"], "approved": True},
        "status": {"phase": phase},
    }
    judged = progress.judge({"subscription": [live], "plans": [plan], "csvs": []}, ASK)
    assert (judged.verdict, judged.code) == ("pending", code)
