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
from .._core.ownership import MANAGED_BY
from . import pods as workload_pods
from .options import GpuWorkloadParams
from .programs import devices
from .quarantine import STARTUP

# Condition of a node: True if it passed, False with the reason if not.
CONDITION: t.Final = "accelerators.openshift/GPUValidated"
NAME: t.Final = "gpu-gate"
# Seconds after which a node without devices, and a pod that does not end, count as failed.
PATIENCE: t.Final = 1800
_POD_SECONDS: t.Final = 600
_VALIDATE: t.Final = (
    f"{devices.LIST}\n"
    f"uuids=$({devices.LIST} | sed -n 's/.*UUID: \\([^)]*\\)).*/\\1/p')\n"
    '[ -n "$uuids" ] || exit 1\n'
    'mig=$(printf "%s\\n" "$uuids" | grep ^MIG-)\n'
    "for uuid in ${mig:-$uuids}; do\n"
    "  CUDA_VISIBLE_DEVICES=$uuid /cuda-samples/vectorAdd || exit 1\n"
    "done"
)
# Runs in the image of `oc`; each object is written only if it has to change.
SCRIPT: t.Final = """\
set -u
oc=$(command -v oc || command -v kubectl)
taint=@TAINT@ type=@CONDITION@ patience=@PATIENCE@ place=@PLACE@
now() { date -u +%Y-%m-%dT%H:%M:%SZ; }
age() { echo $(($(date -u +%s) - $(date -u -d "$1" +%s))); }
say() { # node, status, reason, message
  before=$($oc get node "$1" -o "jsonpath={.status.conditions[?(@.type==\\"$type\\")].status}")
  echo "$1: $3: $4"
  [ "$before" = "$2" ] && return
  $oc patch node "$1" --subresource=status --type=strategic -p "{\\"status\\":{\\"conditions\\":[{
    \\"type\\":\\"$type\\",\\"status\\":\\"$2\\",\\"reason\\":\\"$3\\",\\"message\\":\\"$4\\",
    \\"lastHeartbeatTime\\":\\"$(now)\\",\\"lastTransitionTime\\":\\"$(now)\\"}]}}" > /dev/null
}
open_node() {
  index=0
  for key in $($oc get node "$1" -o 'jsonpath={.spec.taints[*].key}'); do
    if [ "$key" = "$taint" ]; then
      $oc patch node "$1" --type=json -p "[
        {\\"op\\":\\"test\\",\\"path\\":\\"/spec/taints/$index/key\\",\\"value\\":\\"$taint\\"},
        {\\"op\\":\\"remove\\",\\"path\\":\\"/spec/taints/$index\\"}]" > /dev/null
      return
    fi
    index=$((index + 1))
  done
}
lacks() { # node, file with `resource number`
  ready=$($oc get node "$1" -o 'jsonpath={.status.conditions[?(@.type=="Ready")].status}')
  [ "$ready" = True ] || { echo "it is not Ready"; return; }
  while read -r resource number; do
    offers=$($oc get node "$1" -o "jsonpath={.status.allocatable.$(echo "$resource" | sed 's/\\./\\\\./g')}")
    [ "${offers:-0}" -ge "$number" ] || { echo "it offers ${offers:-0} of $number $resource"; return; }
  done < "$2"
}
look() { # pool, node
  pod=gate-$(printf %s "$2" | sha256sum | cut -c 1-12)
  found=$($oc get pod "$pod" -n "$place" --ignore-not-found \\
    -o 'jsonpath={.status.phase} {.metadata.creationTimestamp}')
  read -r phase created <<< "$found"
  if [ "$phase" = Succeeded ] && $oc logs "$pod" -n "$place" | grep -q '^Test PASSED'; then
    say "$2" True Passed "every GPU ran a CUDA program"
    open_node "$2"
  elif [ "$phase" = Succeeded ] || [ "$phase" = Failed ]; then
    last=$($oc logs "$pod" -n "$place" 2> /dev/null | tail -n 1 | tr -d '"\\\\' | cut -c 1-200)
    say "$2" False Failed "the CUDA program failed: ${last:-no log}"
  elif [ -n "$phase" ]; then
    [ "$(age "$created")" -gt "$patience" ] || return
    say "$2" False Stuck "the validation pod is $phase since $created"
  else
    lacking=$(lacks "$2" "/gate/$1.devices")
    if [ -z "$lacking" ]; then
      host=$($oc get node "$2" -o 'jsonpath={.metadata.labels.kubernetes\\.io/hostname}')
      sed -e "s|@NAME@|$pod|" -e "s|@HOST@|$host|" "/gate/$1.pod" | $oc create -n "$place" -f - > /dev/null
    elif [ "$(age "$($oc get node "$2" -o 'jsonpath={.metadata.creationTimestamp}')")" -gt "$patience" ]; then
      say "$2" False NoDevices "$lacking"
    fi
    return
  fi
  $oc delete pod "$pod" -n "$place" --wait=false > /dev/null
}
for file in /gate/*.selector; do
  pool=$(basename "$file" .selector)
  $oc get nodes -l "$(cat "$file")" \\
    -o 'jsonpath={range .items[*]}{.metadata.name} {.spec.taints[*].key}{"\\n"}{end}' |
    while read -r node keys; do
      case " $keys " in *" $taint "*) look "$pool" "$node" < /dev/null ;; esac
    done
done
"""


def script(place: str) -> str:
    """Return the script of the CronJob. place: the namespace of its pods."""
    words = {"TAINT": STARTUP, "CONDITION": CONDITION, "PATIENCE": str(PATIENCE), "PLACE": place}
    text = SCRIPT
    for word, value in words.items():
        text = text.replace(f"@{word}@", value)
    return text


def pod(params: GpuWorkloadParams, devices_of_node: t.Mapping[str, int]) -> KubeObject:
    """Return the pod that validates a node: one with all of its devices, or one share of each shared one."""
    mark = workload_pods.Mark("gate", "", _POD_SECONDS)
    made = workload_pods.pod(params, devices_of_node, "@NAME@", mark, "@HOST@")
    made["spec"]["containers"][0]["command"] = ["/bin/sh", "-c", _VALIDATE]
    return made


def manifests(
    params: GpuWorkloadParams,
    pools: t.Mapping[str, tuple[GpuWorkloadParams, t.Mapping[str, int]]],
    image: str,
) -> list[KubeObject]:
    """Return everything that the gate is made of. pools: name -> parameters of its pods, and its devices."""
    place = params.namespace
    data = {"gate.sh": script(place)}
    for pool, (own, geometry) in pools.items():
        selector = own.node_selector or {}
        data[f"{pool}.selector"] = ",".join(f"{key}={value}" for key, value in sorted(selector.items()))
        data[f"{pool}.devices"] = "".join(f"{key} {number}\n" for key, number in sorted(geometry.items()))
        data[f"{pool}.pod"] = json.dumps(pod(own, geometry), sort_keys=True)
    return [
        _object("v1", "ServiceAccount", place),
        _object("rbac.authorization.k8s.io/v1", "Role", place, rules=_RIGHTS_HERE),
        _object("rbac.authorization.k8s.io/v1", "RoleBinding", place, **_binding("Role", place)),
        _object("rbac.authorization.k8s.io/v1", "ClusterRole", "", rules=_RIGHTS_ON_NODES),
        _object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding", "", **_binding("ClusterRole", place)),
        _object("v1", "ConfigMap", place, data=data),
        _object("batch/v1", "CronJob", place, spec=_cron_job(image)),
    ]


_RIGHTS_HERE: t.Final = [
    {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "create", "delete"]},
    {"apiGroups": [""], "resources": ["pods/log"], "verbs": ["get"]},
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
        "command": ["/bin/bash", "/gate/gate.sh"],
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
                "activeDeadlineSeconds": 300,
                "backoffLimit": 0,
                "template": {"metadata": {"labels": {"app": NAME}}, "spec": spec},
            }
        },
    }
