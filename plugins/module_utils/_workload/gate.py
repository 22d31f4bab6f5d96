# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The gate for new nodes: what runs in the cluster and opens a node whose GPUs have passed.

Machines of a gated pool come with a startup taint. A CronJob looks each minute at the nodes that have it,
runs a small CUDA program on all GPUs of such a node, and takes the taint away, or says on the node why not.
No playbook has to run for that.
"""

from __future__ import annotations

import json
import typing as t

from .._core.objects import KubeObject
from .._core.ownership import MANAGED_BY, MANAGER
from .._nodes.startup import CONDITION
from .._nodes.taints import STARTUP
from . import pods as workload_pods
from .options import GpuWorkloadParams
from .programs import devices

NAME: t.Final = "gpu-gate"
# Seconds after which a node without devices, and a pod that does not end, count as failed.
PATIENCE: t.Final = 1800
_POD_SECONDS: t.Final = 600
_FILE: t.Final = "gate.sh"
_VALIDATE: t.Final = (
    f"{devices.LIST}\n"
    f"uuids=$({devices.LIST} | sed -n 's/.*UUID: \\([^)]*\\)).*/\\1/p')\n"
    '[ -n "$uuids" ] || exit 1\n'
    'mig=$(printf "%s\\n" "$uuids" | grep ^MIG-)\n'
    "for uuid in ${mig:-$uuids}; do\n"
    "  CUDA_VISIBLE_DEVICES=$uuid /cuda-samples/vectorAdd || exit 1\n"
    "done"
)
# The label of the gate's pods, as of a run with this mark.
MARK: t.Final = workload_pods.Mark("gate", "", _POD_SECONDS)
# Runs in the image of `oc`; each object is written only if it has to change. The script ends with an error
# if it could not do its work, so that the CronJob's last success tells whether the gate works.
SCRIPT: t.Final = r"""set -u
oc=$(command -v oc || command -v kubectl)
taint=@TAINT@ type=@CONDITION@ patience=@PATIENCE@ place=@PLACE@ wanted= failed=0
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
age() { echo $(($(date -u +%s) - $(date -u -d "$1" +%s))); }
say() { # node, status, reason, message
  before=$($oc get node "$1" \
    -o "jsonpath={range .status.conditions[?(@.type==\"$type\")]}{.status} {.reason} {.message}{end}")
  echo "$1: $3: $4"
  [ "$before" = "$2 $3 $4" ] && return
  since=",\"lastTransitionTime\":\"$(now)\""
  case "$before" in "$2 "*) since= ;; esac
  $oc patch node "$1" --subresource=status --type=strategic -p "{\"status\":{\"conditions\":[{
    \"type\":\"$type\",\"status\":\"$2\",\"reason\":\"$3\",\"message\":\"$4\",
    \"lastHeartbeatTime\":\"$(now)\"$since}]}}" > /dev/null || failed=1
}
untaint() { # kind, name, further arguments
  index=0
  for key in $($oc get "$@" -o 'jsonpath={.spec.taints[*].key}'); do
    if [ "$key" = "$taint" ]; then
      $oc patch "$@" --type=json -p "[
        {\"op\":\"test\",\"path\":\"/spec/taints/$index/key\",\"value\":\"$taint\"},
        {\"op\":\"remove\",\"path\":\"/spec/taints/$index\"}]" > /dev/null
      return
    fi
    index=$((index + 1))
  done
}
open_node() { # the Machine first: the Machine API gives its taints to the node again and again
  machine=$($oc get node "$1" -o 'jsonpath={.metadata.annotations.machine\.openshift\.io/machine}')
  if [ -n "$machine" ]; then
    untaint machines.machine.openshift.io "${machine#*/}" -n "${machine%%/*}" || { failed=1; return; }
  fi
  untaint node "$1" || failed=1
}
lacks() { # node, file with `resource number`
  ready=$($oc get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')
  [ "$ready" = True ] || { echo "it is not Ready"; return; }
  while read -r resource number; do
    offers=$($oc get node "$1" -o "jsonpath={.status.allocatable.$(echo "$resource" | sed 's/\./\\./g')}")
    [ "${offers:-0}" -ge "$number" ] || { echo "it offers ${offers:-0} of $number $resource"; return; }
  done < "$2"
}
start() { # entry, node, pod
  host=$($oc get node "$2" -o 'jsonpath={.metadata.labels.kubernetes\.io/hostname}')
  sharing=$($oc get node "$2" -o 'jsonpath={.metadata.labels.nvidia\.com/gpu\.sharing-strategy}')
  case "$sharing" in ""|none) file=/gate/$1.pod ;; *) file=/gate/$1.share ;; esac
  sed -e "s|@NAME@|$3|" -e "s|@HOST@|$host|" "$file" |
    $oc create -n "$place" --field-manager=@MANAGER@ -f - > /dev/null || failed=1
}
look() { # entry, node
  pod=gate-$(printf %s "$2" | sha256sum | cut -c 1-12)
  found=$($oc get pod "$pod" -n "$place" --ignore-not-found \
    -o 'jsonpath={.status.phase} {.metadata.creationTimestamp}')
  read -r phase created <<< "$found"
  if [ "$phase" = Succeeded ] && $oc logs "$pod" -n "$place" | grep -q '^Test PASSED'; then
    say "$2" True Passed "the CUDA program ran on its GPUs"
    open_node "$2"
  elif [ "$phase" = Succeeded ] || [ "$phase" = Failed ]; then
    last=$($oc logs "$pod" -n "$place" 2> /dev/null | tail -n 1 | tr -cd '[:print:]' | tr -d '"\\')
    last=${last:0:200}
    say "$2" False Failed "the CUDA program failed: ${last:-no log}"
  elif [ -n "$phase" ]; then
    wanted="$wanted $pod"
    [ "$(age "$created")" -gt "$patience" ] || return
    wanted=${wanted% *}
    say "$2" False Stuck "the validation pod is $phase since $created"
  else
    lacking=$(lacks "$2" "/gate/$1.devices")
    if [ -z "$lacking" ]; then
      wanted="$wanted $pod"
      start "$1" "$2" "$pod"
    elif [ "$(age "$($oc get node "$2" -o 'jsonpath={.metadata.creationTimestamp}')")" -gt "$patience" ]; then
      say "$2" False NoDevices "$lacking"
    fi
  fi
}
status_of="{.status.conditions[?(@.type==\"$type\")].status}"
for file in /gate/*.selector; do
  nodes=$($oc get nodes -l "$(cat "$file")" -o \
    "jsonpath={range .items[*]}{.metadata.name}|$status_of|{.spec.taints[*].key}{'\n'}{end}") || exit 1
  while IFS='|' read -r node status keys; do
    case " $keys " in
      *" $taint "*) look "$(basename "$file" .selector)" "$node" < /dev/null ;;
      *) [ "$status" != False ] || say "$node" True Opened "somebody took the startup taint from it" ;;
    esac
  done <<< "$nodes"
done
for pod in $($oc get pods -n "$place" -l @LABEL@ -o 'jsonpath={.items[*].metadata.name}'); do
  case " $wanted " in
    *" $pod "*) ;;
    *) $oc delete pod "$pod" -n "$place" --wait=false --ignore-not-found > /dev/null || failed=1 ;;
  esac
done
exit $failed
"""


def script(place: str) -> str:
    """Return the script of the CronJob. place: the namespace of its pods."""
    words = {
        "TAINT": STARTUP,
        "CONDITION": CONDITION,
        "PATIENCE": str(PATIENCE),
        "PLACE": place,
        "MANAGER": MANAGER,
        "LABEL": f"{workload_pods.RUN_LABEL}={MARK.name}",
    }
    text = SCRIPT
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def pod(params: GpuWorkloadParams, devices_of_node: t.Mapping[str, int]) -> KubeObject:
    """Return the pod that validates a node with these devices."""
    made = workload_pods.pod(params, devices_of_node, "@NAME@", MARK, "@HOST@")
    made["spec"]["containers"][0]["command"] = ["/bin/sh", "-c", _VALIDATE]
    return made


def entry(prefix: str, params: GpuWorkloadParams, devices_of_node: t.Mapping[str, int]) -> dict[str, str]:
    """Return what the ConfigMap holds for nodes with the same devices. prefix: of its keys.

    A node that shares its devices gets a pod with one share of each: a device plugin may refuse two.
    """
    selector = params.node_selector or {}
    one_of_each = dict.fromkeys(devices_of_node, 1)
    return {
        f"{prefix}.selector": ",".join(f"{key}={value}" for key, value in sorted(selector.items())),
        f"{prefix}.devices": "".join(f"{key} {number}\n" for key, number in sorted(devices_of_node.items())),
        f"{prefix}.pod": json.dumps(pod(params, devices_of_node), sort_keys=True),
        f"{prefix}.share": json.dumps(pod(params, one_of_each), sort_keys=True),
    }


def entries(
    pools: t.Mapping[str, t.Sequence[tuple[GpuWorkloadParams, t.Mapping[str, int]]]],
) -> dict[str, str]:
    """Return what the ConfigMap holds for these pools: name -> parameters of the pods, and their devices."""
    return {
        key: value
        for pool, groups in pools.items()
        for index, (params, devices_of_node) in enumerate(groups)
        for key, value in entry(f"{pool}.{index}", params, devices_of_node).items()
    }


def of_others(data: t.Mapping[str, str], pools: t.Collection[str]) -> dict[str, str]:
    """Return what a live ConfigMap holds for other pools than these."""
    return {key: value for key, value in data.items() if key != _FILE and key.partition(".")[0] not in pools}


def manifests(place: str, machines: str, data: t.Mapping[str, str], image: str) -> list[KubeObject]:
    """Return everything that the gate is made of.

    place: namespace of its pods. machines: namespace of the Machines. data: of the ConfigMap, for the pools.
    """
    rbac = "rbac.authorization.k8s.io/v1"
    return [
        _object("v1", "ServiceAccount", place),
        _object(rbac, "Role", place, rules=_RIGHTS_HERE),
        _object(rbac, "RoleBinding", place, **_binding("Role", place)),
        _object(rbac, "Role", machines, rules=_RIGHTS_ON_MACHINES),
        _object(rbac, "RoleBinding", machines, **_binding("Role", place)),
        _object(rbac, "ClusterRole", "", rules=_RIGHTS_ON_NODES),
        _object(rbac, "ClusterRoleBinding", "", **_binding("ClusterRole", place)),
        _object("v1", "ConfigMap", place, data={**data, _FILE: script(place)}),
        _object("batch/v1", "CronJob", place, spec=_cron_job(image)),
    ]


_RIGHTS_HERE: t.Final = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list", "create", "delete"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
]
_RIGHTS_ON_MACHINES: t.Final = [
    {"apiGroups": ["machine.openshift.io"], "resources": ["machines"], "verbs": ["get", "patch"]}
]
_RIGHTS_ON_NODES: t.Final = [
    {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get", "list", "patch"]},
    {"apiGroups": [""], "resources": ["nodes/status"], "verbs": ["get", "patch"]},
]


def _object(api_version: str, kind: str, place: str, **more: t.Any) -> KubeObject:
    namespace = {"namespace": place} if place else {}
    metadata = {"name": NAME, **namespace, "labels": dict(MANAGED_BY)}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def _binding(kind: str, place: str) -> KubeObject:
    return {
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": NAME},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": place}],
    }


def _cron_job(image: str) -> KubeObject:
    container = {
        "name": "gate",
        "image": image,
        "command": ["/bin/bash", f"/gate/{_FILE}"],
        "resources": {
            "requests": {"cpu": "20m", "memory": "64Mi"},
            "limits": {"cpu": "500m", "memory": "256Mi"},
        },
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
        "volumeMounts": [{"name": "gate", "mountPath": "/gate", "readOnly": True}],
    }
    spec = {
        "serviceAccountName": NAME,
        "restartPolicy": "Never",
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
        "containers": [container],
        "volumes": [{"name": "gate", "configMap": {"name": NAME}}],
    }
    return {
        "schedule": "* * * * *",
        "concurrencyPolicy": "Forbid",
        "startingDeadlineSeconds": 60,
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 1,
        "jobTemplate": {
            "spec": {
                "activeDeadlineSeconds": 900,
                "backoffLimit": 0,
                "template": {"metadata": {"labels": {"accelerators.openshift/gate": ""}}, "spec": spec},
            }
        },
    }
