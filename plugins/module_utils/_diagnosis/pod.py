# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Why the pod of the option does not run, by what pod_steps.py has read of it."""

from __future__ import annotations

import difflib
import json
import re
import typing as t
from dataclasses import replace

from .._catalogue.kueue import GROUP
from .._core import conditions, quantity
from .._core.objects import KubeObject, at, event_time, name, named
from .._nodes.formatting import why_not_ready
from .._nodes.node import is_ready
from .._queue import judge as queues
from .._stack import pods
from .._stack.known_texts import EVENT, WEBHOOK, WORKLOAD
from .._stack.signatures import recognise, spoken, telling
from . import model, placement
from .model import Seen, Trouble, trouble

_QUOTA: t.Final = re.compile(r"exceeded quota: ([^,\s]+), requested: (.*?), used: (.*?), limited: ([^\n\"]*)")
# What the scheduler says where nodes are the reason; other answers are quoted.
_OF_NODES: t.Final = re.compile(r"Insufficient |untolerated taint|node affinity/selector|were unschedulable")

# The scheduler may take so many seconds for a new pod, and a kubelet for one that goes.
GRACE: t.Final = 60.0
_NUMA: t.Final = (
    "Ask for no more cpus and devices than a NUMA node has, or set tuning.topology: best-effort for the "
    "pool in gpu_pools; its nodes then reboot one by one, which ends their pods."
)


def judge(seen: Seen) -> Trouble | None:
    """Return why the pod of the option does not run; None if it does, or if none was asked for."""
    if not seen.pod or "pod" in seen.unread:
        return None
    pod = next(iter(seen.of("pod")), None)
    if pod is None:
        return _absent(seen)
    is_placed, phase = bool(pod["spec"].get("nodeName")), at(pod, "status.phase")
    gates = ", ".join(str(one["name"]) for one in pod["spec"].get("schedulingGates") or [])
    if gates.startswith(GROUP):
        return _queued(pod, seen)
    if gates:
        facts = {"gate": f"the scheduling gate {gates}", "why": "who set it takes it away"}
        return _say("SCHED-GATE", seen, facts=facts)
    if phase == "Pending" and not is_placed and not pod["metadata"].get("deletionTimestamp"):
        quota = next((one for event in seen.of("events") if (one := exceeded(seen, event))), None)
        return quota or unplaced(pod, seen)
    return _broken(pod, seen) if phase != "Succeeded" else None


def notes(seen: Seen) -> t.Iterator[str]:
    for pod in seen.of("pod"):
        claims = "claims" if pod["spec"].get("resourceClaims") else "no device: no container limits one"
        where = f" on node {pod['spec'].get('nodeName')}" if pod["spec"].get("nodeName") else ""
        wanted = placement.listed(placement.asked(pod)) or claims
        yield f"Pod {seen.pod} is {at(pod, 'status.phase')}{where}; it asks for {wanted}."
    if (found := judge(seen)) and found.is_busy:
        yield " ".join([found.message, *(f"It goes on: {one}" for one in found.evidence[-1:])])


def _say(
    code: str, seen: Seen, remedy: str = "", facts: t.Mapping[str, object] | None = None, **more: t.Any
) -> Trouble:
    """Return the trouble of the pod. more: fields of Trouble."""
    space, _slash, title = seen.pod.partition("/")
    made = next((str(at(pod, "metadata.creationTimestamp") or "") for pod in seen.of("pod")), "")
    layer = model.SCHEDULING if code.startswith("SCHED-") else model.QUOTA
    known = {"pod": seen.pod, "name": title, "namespace": space, **(facts or {})}
    found = trouble(layer, code, f"Pod {seen.pod}", known, is_alone=True, **{"since": made, **more})
    return replace(found, remedy=remedy) if remedy else found


def _told(event: KubeObject) -> str:
    about, words = event.get("involvedObject") or {}, f"{event.get('reason')}: {event.get('message')}"
    return f"{event_time(event)} {about.get('kind')} {about.get('name')}: {words}"


def _broken(pod: KubeObject, seen: Seen) -> Trouble | None:
    """Return what a pod that has a node says: its node, its containers, its events, its log."""
    found, where = pods.trouble(pod) or pods.refused(pod), str(pod["spec"].get("nodeName") or "")
    is_late, node = at(pod, "status.phase") == "Pending", named((one.node for one in seen.places), where)
    warnings = [one for one in seen.of("events") if one.get("type") == "Warning" and (is_late or found)][-3:]
    said = [(str(one.get("message")), EVENT) for one in warnings]
    said = [*([(found.message, "")] if found else []), *said, (seen.log, WORKLOAD)]
    known = next(((one, text) for text, place in said if (one := recognise(text, place=place))), None)
    code, is_busy = "SCHED-CONTAINER", seen.is_recent(pod["metadata"].get("deletionTimestamp"), GRACE)
    answer = str(warnings[-1].get("message")) if warnings else _leaving(pod)
    remedy = pods.how_to_cure(pod, found) if found else ""
    if node and not is_ready(node):
        answer, remedy = f"the node is {why_not_ready(node)}", f"Run `oc describe node {where}`."
    elif found and (found.reason in pods.IMAGE_REASONS or not known):
        pull = pods.known_of(found)
        what = pods.as_words(found, name(pod)) if found.container else found.reason
        answer = f"{what}: {found.message}{f' ({pull.meaning})' if pull else ''}"
        remedy = _NUMA if found.reason == "TopologyAffinityError" else remedy
        remedy = _other_image(pod, found.container) if found.reason in pods.IMAGE_REASONS else remedy
    elif known:
        answer, code = f"{known[0].meaning}: {spoken(*known)}", known[0].code
        remedy = known[0].advice(remedy, **pods.names_of(pod))
    is_plain = code == "GPU-VAL-BUSY" or remedy.startswith("Run `oc describe pod")
    remedy = _again(pod) if found and not found.container and is_plain else remedy
    if where and not node and not answer and "nodes with their pods" not in seen.unread:
        answer, remedy = f"there is no node {where}", _again(pod)
    line = [f"log: {telling(seen.log)[0]}"] if found and seen.log else []
    facts, evidence = {"node": where or "none", "answer": answer}, (*map(_told, warnings), *line)
    made = _say("SCHED-CONTAINER", seen, remedy, facts, evidence=evidence, is_busy=is_busy)
    # What the container says of itself has no cause on the node.
    is_of_node = code != "SCHED-CONTAINER" or bool(node and not is_ready(node))
    return replace(made, code=code, node=where if is_of_node else "") if answer else None


def _leaving(pod: KubeObject) -> str:
    """Return since when the pod is being deleted, and what keeps it; empty if nobody deletes it."""
    gone, kept = pod["metadata"].get("deletionTimestamp"), ", ".join(pod["metadata"].get("finalizers") or [])
    why = f", and kept by its finalizers {kept}" if kept else ""
    return f"it is being deleted since {gone}{why}" if gone else ""


def _other_image(pod: KubeObject, container: str) -> str:
    every = [*(pod["spec"].get("initContainers") or []), *pod["spec"]["containers"]]
    image = next((str(one.get("image") or "") for one in every if one["name"] == container), "")
    what = f"Correct {image or 'the image'} of container {container}, or the pull secrets of the pod"
    return (
        f"{what}; `oc describe pod {name(pod)} -n {pod['metadata']['namespace']}` has the registry's answer."
    )


def _again(pod: KubeObject) -> str:
    """Return the remedy for a pod that never starts again."""
    command = f"oc delete pod {name(pod)} -n {pod['metadata']['namespace']}"
    owners = pod["metadata"].get("ownerReferences") or []
    makers = [f"{one['kind']} {one['name']} makes another one" for one in owners]
    return f"Run `{command}`, which ends no program; {[*makers, 'make it anew, it never starts again'][0]}."


def unplaced(pod: KubeObject, seen: Seen) -> Trouble:
    """Return why the scheduler has no node for the pod."""
    told = conditions.find(pod, "PodScheduled")
    scaling = [one for one in seen.of("events") if re.search("ScaleUp|Claim", str(one.get("reason")))][-1:]
    is_busy = (
        any(one["reason"] == "TriggeredScaleUp" for one in scaling) or "nominatedNodeName" in pod["status"]
    )
    made, remedy = at(pod, "metadata.creationTimestamp"), _of_answer(pod, told)
    is_busy = is_busy or (not told and seen.is_recent(made, GRACE))
    answer = str(told.get("message") or f"scheduler {pod['spec'].get('schedulerName')} has not looked at it.")
    refused = [one for one in scaling if "FailedResourceClaim" in str(one.get("reason"))]
    if refused:
        answer = str(refused[0].get("message"))
    elif pod["spec"].get("resourceClaims") and not seen.of("slices"):
        answer += " No ResourceSlice offers devices: no DRA driver runs."
    is_quoted = not placement.asked(pod) or not _OF_NODES.search(answer)
    found = None if is_quoted else placement.why(pod, seen.places, bool(seen.of("clusters")))
    said = tuple(map(_told, scaling))
    if found is None:
        return _say("SCHED-UNPLACED", seen, remedy, {"answer": answer}, evidence=said, is_busy=is_busy)
    code, facts, table = found
    said = (*table, f"{told.get('lastTransitionTime', '')} scheduler: {answer}", *said)
    remedy = str(facts["fix"]) if code == placement.CLOSED else ""
    node = str(facts["node"]) if code in (placement.OFFER, placement.CLOSED) else ""
    return _say(code, seen, remedy, facts, evidence=said, is_busy=is_busy, node=node)


def _of_answer(pod: KubeObject, told: KubeObject) -> str:
    """Return the remedy for an answer of the scheduler that the pod's own names make clear; else empty."""
    spec, space = pod["spec"], pod["metadata"]["namespace"]
    claims = [at(one, "persistentVolumeClaim.claimName") for one in spec.get("volumes") or []]
    if any(claims) and re.search("olume", str(told.get("message"))):
        which = " ".join(filter(None, claims))
        return f"Run `oc describe pvc {which} -n {space}`: its events say what it waits for."
    if told or spec.get("schedulerName") in (None, "default-scheduler"):
        return ""
    return f"Start scheduler {spec['schedulerName']}, or correct spec.schedulerName of the pod's template."


def _uids(one: KubeObject) -> set[str]:
    return {
        str(each.get("uid")) for each in [one["metadata"], *(one["metadata"].get("ownerReferences") or [])]
    }


def _queued(made: KubeObject, seen: Seen) -> Trouble:
    """Return why Kueue does not admit the pod, or the Job that would make it."""
    marks, space = made["metadata"].get("labels") or {}, seen.pod.partition("/")[0]
    queue, group = str(marks.get(f"{GROUP}/queue-name") or "none"), marks.get(f"{GROUP}/pod-group-name")
    own = next((one for one in seen.of("workloads") if name(one) == group or _uids(made) & _uids(one)), None)
    local = named(seen.of("local_queues"), queue)
    live = named(seen.of("cluster_queues"), str(at(local, "spec.clusterQueue")))
    why = str(conditions.find(own, "QuotaReserved").get("message") or "Kueue has not looked at it yet")
    remedy = f"Run `oc describe workloads.{GROUP} {name(own)} -n {space}`: it waits for quota." if own else ""
    if not local:
        there = ", ".join(map(name, seen.of("local_queues"))) or "none"
        what = "no label names one" if queue == "none" else f"there is no such LocalQueue in {space}"
        why, label = f"{what}; there are: {there}", f"{GROUP}/queue-name"
        remedy = f"Set the label {label} to a LocalQueue that `oc get localqueues.{GROUP} -n {space}` lists."
    elif live and queues.is_stopped(live):
        why, remedy = queues.stopped(live).split(". ", 1)
    elif (active := conditions.find(live, "Active")).get("status") == "False":
        facts = {"queue": name(live), "condition": active.get("reason"), "answer": active.get("message")}
        return _say("QUEUE-NOT-ACTIVE", seen, facts=facts, since=conditions.since(live, "Active"))
    usage = [one for flavor in at(live, "status.flavorsUsage") or [] for one in flavor.get("resources") or []]
    used = ", ".join(f"{one.get('total')} {one['name']} used" for one in usage if "/" in one["name"])
    evidence = (
        (f"ClusterQueue {name(live)}: {at(live, 'status.pendingWorkloads')} wait; {used}",) if live else ()
    )
    facts = {"gate": f"Kueue's queue {queue}", "why": why.rstrip(".")}
    return _say("SCHED-GATE", seen, remedy, facts, evidence=evidence)


def exceeded(seen: Seen, event: KubeObject) -> Trouble | None:
    """Return the trouble if the event says that a quota refused the pod or its claim."""
    found, space = _QUOTA.search(str(event.get("message"))), seen.pod.partition("/")[0]
    if not found:
        return None
    title, *texts = found.groups()
    asked, used = (dict(re.findall(r"([^\s,=]+)=([^\s,]+)", text)) for text in texts[:2])
    every = [key for key in asked if key in used]  # the server cuts long messages
    more = {key: quantity.canonical(quantity.parse(used[key]) + quantity.parse(asked[key])) for key in every}
    is_own = any(
        one["metadata"].get("namespace") == space and name(one) == title for one in seen.of("quotas")
    )
    facts = {
        "quota": title,
        **dict(zip(("asked", "used", "hard"), texts, strict=True)),
        "object": f"resourcequota {title} -n {space}" if is_own else f"clusterresourcequota {title}",
        "patch": json.dumps({"spec": {"hard": more} if is_own else {"quota": {"hard": more}}}),
        "also": placement.holders(seen.places, {key.removeprefix("requests.") for key in asked}, space),
    }
    return _say("QUOTA-EXCEEDED", seen, facts=facts, evidence=(_told(event),), since=event_time(event))


def of_maker(seen: Seen) -> KubeObject | None:
    """Return a pod of the Job, Deployment or StatefulSet of that name, one in trouble first; None if none."""
    title = seen.pod.partition("/")[2]
    made = [
        one
        for one in seen.of("neighbours")
        for owner in one["metadata"].get("ownerReferences") or []
        if str(owner["name"]) == title
        or re.fullmatch(rf"{re.escape(title)}-[a-z0-9]{{5,10}}", str(owner["name"]))
    ]
    if not made or _absent(seen).code != "SCHED-ABSENT":
        return None
    is_fine = {name(one): at(one, "status.phase") in ("Running", "Succeeded") for one in made}
    return min(made, key=lambda one: (is_fine[name(one)] and not pods.trouble(one), name(one)))


def _absent(seen: Seen) -> Trouble:
    """Return why there is no such pod: whoever makes it cannot, waits, or the name is another one."""
    space, _slash, title = seen.pod.partition("/")

    def makes(one: str) -> bool:
        return f"{title}-".startswith(f"{one}-") or one.startswith(f"{title}-")

    for job in (one for one in seen.of("jobs") if makes(name(one)) and at(one, "spec.suspend")):
        if f"{GROUP}/queue-name" in (job["metadata"].get("labels") or {}):
            return _queued(job, seen)
        resume = f'oc patch job {name(job)} -n {space} --type merge -p \'{{"spec":{{"suspend":false}}}}\''
        again = f"Run `{resume}`; it ends no pod."
        return _say("SCHED-GATE", seen, again, {"gate": f"Job {name(job)}", "why": "it is suspended"})
    own = [one for one in seen.of("neighbours") if makes(name(one))]
    newest = max((str(one["metadata"].get("creationTimestamp")) for one in own), default="")
    events = [one for one in seen.of("events") if makes(str(at(one, "involvedObject.name")))]
    for event in (one for one in reversed(events) if event_time(one) > newest):
        maker = f"{event['involvedObject']['kind'].lower()} {event['involvedObject']['name']}"
        facts = {"maker": maker, "answer": event.get("message")}
        hook = recognise(str(event.get("message")), place=WEBHOOK)
        remedy = hook.advice("", pod=title, namespace=space, node="") if hook else ""
        more = {"evidence": (_told(event),), "since": event_time(event)}
        refused = _say("SCHED-REFUSED", seen, remedy, facts, **more)
        return exceeded(seen, event) or refused
    there = sorted(map(name, own or seen.of("neighbours")))
    near = difflib.get_close_matches(title, there, 3, 0.5) or there[:3]
    also = f" There are {', '.join(near)}." if near else f" Namespace {space} has no pod, or does not exist."
    return _say("SCHED-ABSENT", seen, facts={"also": also})
