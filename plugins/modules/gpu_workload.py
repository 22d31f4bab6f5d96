#!/usr/bin/python
# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

from __future__ import annotations

DOCUMENTATION = r"""
module: gpu_workload
short_description: Validate GPU nodes by programs on every device, judge what they measure, prove sharing
version_added: 1.0.0
author:
  - accelerators.openshift contributors (@accelerators-openshift)
description:
  - On every matching node, runs pods with all devices of the node, reads exit codes and logs, and deletes the
    pods. Programs that measure something are judged by their figures.
  - An ordinary user may run such pods. They do not run as root, drop all capabilities, have requests equal to
    limits, and the scheduler places them.
  - Stores boot id, driver and geometry of every validated node in a ConfigMap. A later run validates only
    nodes where one of them changed.
  - A program that runs for long, such as C(dcgm) from level 2 on, gets its own time beside O(wait_timeout).
  - In check mode nothing runs. C(workload.due) lists the nodes that a run would validate. Missing nodes cause
    a warning then.
  - This module always waits for its pods. O(wait) matters only for O(state=absent).
  - Everything that a run makes is owned by a Job without pods, whose deadline is what was left of
    O(wait_timeout). If the run is killed, Kubernetes ends the pods and deletes all of it at that time. The
    next run deletes it earlier. Pods of another run that still validates stay, and their devices count as
    held.
  - A figure fails if it is lower than O(programs) of the task, O(expectations) or the table of this
    collection says (C(WORK-LOW)), if it fell below the node's own earlier figure (C(WORK-BASELINE)), or below
    the other devices of the pool (C(WORK-PEER)), by more than O(tolerance). The first figures of a node are
    stored in a ConfigMap.
  - O(state=absent) deletes the namespace if this collection created it for validations, and if it holds
    nothing of others. Otherwise the namespace stays, with a warning that names what it holds, and only pods
    of runs that are over and the ConfigMap are deleted.
  - O(state=absent) with O(pools) keeps the namespace while it remembers validated nodes that are in none of
    these pools.
  - O(prove.sharing) and O(prove.preemption) prove on a node of a pool that pods share GPUs as the pool says,
    and that work of a high priority pushes out work of a low one. Their pods are deleted at the end. If the
    run is killed, they end by themselves. They end no pod of others, and take no device from it. A pool
    without a node for a proof is not proven, with a warning that says why.
  - The task validates first, then proves priorities, then sharing. The first that fails ends the task. Each
    of them has O(wait_timeout) seconds.
extends_documentation_fragment:
  - accelerators.openshift._attributes
  - accelerators.openshift._state
  - accelerators.openshift._wait
  - accelerators.openshift._auth
options:
  namespace:
    description:
      - Namespace of the pods and of the ConfigMap. If it does not exist, the module creates it, for
        restricted pods only.
    type: str
    default: gpu-validation
  node_selector:
    description: Labels that select the nodes. This, O(pools) or O(prove) is required unless O(state=absent).
    type: dict
  tolerations:
    description: Tolerations of the pods. They always tolerate C(nvidia.com/gpu:NoSchedule).
    type: list
    elements: dict
    default: []
  expected:
    description:
      - Resource and number of devices that every node must offer. The default is what each node offers now.
    type: dict
  claims:
    description:
      - Whether each pod claims one GPU of DeviceClass C(gpu.nvidia.com) instead of requesting an extended
        resource. Use this on clusters with dynamic resource allocation, with backend C(dra) of
        M(accelerators.openshift.special_resource).
      - The module then reads the devices of a node from its ResourceSlices.
    type: bool
    default: false
  benchmark:
    description:
      - The only program, without O(programs). V(vectoradd) adds vectors with CUDA, on each device by itself.
        V(nvidia_smi) only lists devices and driver. V(compute_domain) claims a channel of a ComputeDomain on
        nodes of an NVLink domain (GB200), and the pod has to see exactly one.
      - V(matmul) multiplies matrices for some seconds and returns TFLOPS. V(dcgm) is NVIDIA's diagnosis.
        V(nvbandwidth) measures copies between host and devices, V(nccl) sums over all devices, V(resnet50)
        trains a network. V(gpu_burn) loads the devices for minutes. V(trtexec) and V(vllm) measure inference.
    type: str
    choices: [compute_domain, dcgm, gpu_burn, matmul, nccl, nvbandwidth, nvidia_smi, resnet50, trtexec,
      vectoradd, vllm]
    default: vectoradd
  programs:
    description:
      - Several programs, one after the other. An entry is the name of a program, or a mapping with C(program)
        and options. It replaces O(benchmark).
      - All but V(dcgm) and V(gpu_burn) take C(expected), a mapping of figures with the least good number.
        Each takes C(image). V(dcgm) takes C(level) (1 to 4), V(matmul) C(types) and C(seconds), V(nccl)
        C(nodes), which is the number of nodes that run it together, and C(network).
      - Program V(rdma) needs C(network), one of O(networks). Pairs of nodes write into each other's memory
        over it, from the memory of the host and of the GPUs, or with C(gpu_memory=false) only the former.
        C(gpu) and C(host) are its figures.
      - Program V(own) is yours. It needs C(image), C(script), C(figure) (a regular expression with one group,
        or a JSON path such as C($.rate)) and C(expected), and takes C(name), C(unit) and C(better).
    type: list
    elements: raw
  expectations:
    description:
      - What your GPUs should measure, before the table of this collection. The label
        C(nvidia.com/gpu.product), then the program, then the figure, then the number.
    type: dict
  networks:
    description:
      - The networks that O(programs) name, as
        RV(accelerators.openshift.gpu_network#module:networks) returns them. A pod gets the network's
        C(annotation) and C(resources).
      - Pods that may not lock the memory that RDMA needs are run again with capability IPC_LOCK. If the
        namespace does not allow it, the task fails with C(WORK-RDMA-RIGHTS). C(rights) of a pod's result says
        what was needed.
    type: list
    elements: dict
  tolerance:
    description:
      - The share by which a figure may be lower than the node's earlier one, and than the median of the other
        devices.
    type: float
    default: 0.1
  on_failure:
    description:
      - What happens to a node that failed. V(taint) adds C(accelerators.openshift/validation-failed) with
        effect NoSchedule, V(cordon) makes the node unschedulable. Neither ends a pod. A later validation that
        the node passes takes it back. Taints and cordons of others stay.
    type: str
    choices: [report, taint, cordon]
    default: report
  image:
    description:
      - Image with the program, by tag or by digest (C(HOST/PATH@sha256:...)). Nodes pull by digest from an
        ImageDigestMirrorSet, and by tag from an ImageTagMirrorSet.
      - The default is C(nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8) for V(vectoradd),
        V(nvidia_smi) and V(compute_domain). For V(matmul), V(nccl) and V(resnet50) it is
        C(nvcr.io/nvidia/pytorch:26.01-py3), and C(nvcr.io/nvidia/pytorch:25.07-py3) for GPUs before Turing. A
        disconnected cluster needs a mirror of it.
    type: str
  priority_class:
    description:
      - PriorityClass of the pods. The default is none. With O(idle) it is C(gpu-idle), which the module
        makes, with value -1000 and preemption policy Never.
    type: str
  idle:
    description:
      - Whether to validate only nodes on which no pod holds a device, placeholders of spare devices included.
        The pods have a low priority, so the scheduler ends them at once for any work.
      - A node that work takes before or during its test was not run (busy), and is no failure. A program that
        runs on several nodes together is refused.
      - The module looks again before each batch of O(max_nodes) nodes.
    type: bool
    default: false
  hold:
    description:
      - For how many seconds a pod keeps its device after the program ends, so that all pods of a node run at
        the same time. With O(prove.sharing), for how many seconds all pods have to run together, before the
        module asks for one more.
    type: int
    default: 3
  repeat:
    description: Whether to validate all nodes again, and to prove again what is proven.
    type: bool
    default: false
  strict:
    description:
      - Whether a node whose devices other pods hold fails the task with C(WORK-BUSY), before the first write.
      - Otherwise the module validates the other nodes, warns, and returns the holders as C(busy) of the node.
        The next run validates the node.
    type: bool
    default: false
  min_nodes:
    description: The least number of nodes that O(node_selector) must find.
    type: int
    default: 1
  pools:
    description:
      - Several pools that are validated together, as
        RV(accelerators.openshift.gpu_plan#module:plan.validations) returns them. The pods of all pools are
        made before the module waits for any of them.
      - Each entry has C(node_selector), and may have C(name), C(expected) (as O(expected)),
        C(tolerations), C(claims), C(benchmark), C(image), C(min_nodes), C(programs), C(tolerance) and
        C(on_failure), which replace the option.
      - With C(gate) (true) the module keeps a CronJob in O(namespace) that opens new nodes of the pool, which
        come with a startup taint, when a CUDA program ran on all of their GPUs.
      - With C(foreseen) (true) earlier tasks of the same run would bring the pool its nodes or devices. In
        check mode the module then does not warn that they are missing.
      - A pool that fails keeps no other from being validated. The task then fails with the first pool's code
        and has the others' codes as evidence.
    type: list
    elements: dict
  prove:
    description:
      - What to prove, beside the validation. C(proofs) of the plan that M(accelerators.openshift.gpu_plan)
        returns has this form.
    type: dict
    suboptions:
      sharing:
        description:
          - Pools that share their GPUs. On a node of each pool whose devices are all free, the module starts
            as many pods as the node has shares. Each requests one share. When all run at the same time, the
            module reads from the output of C(nvidia-smi -L) which device each of them sees, and asks for one
            share more.
          - Each device must have as many pods as the pool has O(prove.sharing[].replicas), and the scheduler
            must refuse the pod too many. The task fails with C(WORK-SHARE-APART), C(WORK-SHARE-DEVICE) or
            C(WORK-SHARE-MORE) otherwise.
          - A placeholder pod of a spare device holds a share as any other pod.
          - The proof is remembered in ConfigMap C(gpu-sharing-proof). A later run proves a pool again if its
            sharing, or the driver, the model or the shares of its nodes changed.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description: Name of the pool.
            type: str
            required: true
          node_selector:
            description: Labels of the nodes of the pool.
            type: dict
            required: true
          tolerations:
            description: Tolerations of the pods. They always tolerate C(nvidia.com/gpu:NoSchedule).
            type: list
            elements: dict
            default: []
          resources:
            description: What the pods request. Partitions of several profiles have a resource each.
            type: list
            elements: str
            default: [nvidia.com/gpu]
          replicas:
            description: Number of pods that share a device. For partitions it is 1.
            type: int
            default: 1
          image:
            description:
              - Image of the pods, which only run C(nvidia-smi). The default is O(image), or
                C(nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8).
            type: str
          claims:
            description:
              - What the shared claims of the pool request, where pods claim devices (backend C(dra)). Each
                entry has C(count), C(device_class), C(profile) and C(models), as C(sharing.claims) of the
                pool.
              - For each entry the module makes a claim of its own in O(namespace), and two pods that use it.
                They have to run at the same time and see the same devices, or the task fails with
                C(WORK-CLAIM-DEVICE). The module asks for no share more, because a claim takes any pod.
                O(prove.sharing[].resources) and O(prove.sharing[].replicas) mean nothing then.
            type: list
            elements: dict
      preemption:
        description:
          - Pools with their priority classes. The module looks for a node of each pool with two free devices
            and no pod that a pod of the high class could push out. It fills the free devices with a pod of
            the low class, which requests one, and a pod of the high class, which requests the others. Then it
            asks for one device more with the high class.
          - The scheduler has to end the pod of the low class, and no other. The task fails with
            C(POLICY-PREEMPTION) if no pod ends, or if another pod of the node ends.
          - O(namespace) has to exist. Check mode only looks for the nodes.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description: Name of the pool.
            type: str
            required: true
          node_selector:
            description: Labels of the nodes of the pool.
            type: dict
            required: true
          tolerations:
            description: Tolerations of the pods.
            type: list
            elements: dict
            default: []
          resource:
            description: What the pods request.
            type: str
            default: nvidia.com/gpu
          low:
            description: Name of the priority class whose pod has to end.
            type: str
            required: true
          high:
            description: Name of the priority class for which it ends.
            type: str
            required: true
          image:
            description: Image of the pods, which only sleep. The default is C(registry.k8s.io/pause:3.10).
            type: str
      consumers:
        description:
          - Objects of your own that use GPUs, such as a training Job, or a Deployment with a Service and a
            Job that asks it. The module creates them in O(namespace), waits until each Job is Complete, and
            deletes all of them, also if a Job fails or if the run is killed.
          - A kind that the cluster does not serve, such as TrainJob, is a warning. Other failures are
            C(WORK-CONSUMER), with the end of the log.
          - The proof is remembered. A later run proves a consumer again if its objects or a driver changed.
        type: list
        elements: dict
        default: []
        suboptions:
          name:
            description: Name of the consumer.
            type: str
            required: true
          objects:
            description:
              - The objects, as O(accelerators.openshift.manifests#module:objects) takes them, without a
                namespace. One of them is a Job or a TrainJob. Their pods have to be as restricted pods are.
            type: raw
            required: true
  max_nodes:
    description:
      - The number of nodes that are validated at the same time. With O(idle), V(0) stands for a tenth of the
        pool, and at least one node.
    type: int
    default: 200
  grace:
    description:
      - For how many seconds a pod may stay unschedulable, or its image unavailable, before the task fails.
        O(prove.preemption) waits as long for the scheduler, each time.
    type: float
    default: 60
  joining:
    description:
      - Names of pools whose machines may still be on their way.
      - With this option the module validates each of O(pools) as soon as all of its nodes offer their
        devices, and ends when every Machine of these pools is a Ready node. It also ends when a Machine is in
        trouble, which M(accelerators.openshift.gpu_machineset) explains, and after O(wait_timeout).
      - Such a task never fails for a pool; it warns. Run the module again without this option to validate
        the rest.
      - One line of progress says what each pool waits for, and since when.
    type: list
    elements: str
  gate_image:
    description:
      - Image of the gate for new nodes, with C(oc) and bash. The default is that of ImageStream C(cli) in
        namespace C(openshift).
    type: str
  machine_namespace:
    description: Namespace of the Machines of O(joining).
    type: str
    default: openshift-machine-api
"""

EXAMPLES = r"""
- name: Add vectors on every GPU of a pool
  accelerators.openshift.gpu_workload:
    node_selector: {accelerators.openshift/pool: training}

- name: Measure every GPU again, with an image from a mirror
  accelerators.openshift.gpu_workload:
    node_selector: {accelerators.openshift/pool: training}
    expected: {nvidia.com/gpu: 8}
    tolerations:
      - {key: dedicated, operator: Exists, effect: NoSchedule}
    programs:
      - vectoradd
      - {program: matmul, image: "registry.example.com/nvidia/pytorch:26.01-py3", expected: {bf16: 250}}
      - {program: dcgm, level: 2}
    on_failure: taint
    repeat: true

- name: Validate two pools together
  accelerators.openshift.gpu_workload:
    pools:
      - {name: a, node_selector: {accelerators.openshift/pool: a}, expected: {nvidia.com/gpu: 8}}
      - {name: b, node_selector: {accelerators.openshift/pool: b}, benchmark: matmul}

- name: Validate a pool whose GPUs pods claim as devices
  accelerators.openshift.gpu_workload:
    node_selector: {accelerators.openshift/pool: training}
    expected: {nvidia.com/gpu: 8}
    claims: true

- name: Prove that four pods share each GPU, and that training pushes out batch work
  accelerators.openshift.gpu_workload:
    prove:
      sharing:
        - name: inference
          node_selector: {accelerators.openshift/pool: inference}
          replicas: 4
      preemption:
        - name: training
          node_selector: {accelerators.openshift/pool: training}
          low: gpu-batch
          high: gpu-training

- name: Delete the namespace and the stored results
  accelerators.openshift.gpu_workload:
    state: absent
"""

RETURN = r"""
workload:
  description:
    - What ran and what was validated. C(due) lists the nodes that needed a validation and were free. A node
      that did not run keeps its earlier validation.
    - With O(pools), C(nodes) has the nodes of all pools, each with the name of its C(pool).
    - C(busy) of a node is empty, or says who holds the devices of a node that was not validated.
    - C(programs) of a node has what each program says of it, if it ran now. C(outcome) is C(passed),
      C(failed) or C(not_run), the last with a C(reason). Each of C(figures) has its C(value), what was
      C(expected), the C(baseline) of the node, the median of its C(peers), and a C(code) if it is too low.
  returned: with O(node_selector) or O(pools), also if the validation failed
  type: dict
  sample:
    namespace: gpu-validation
    benchmark: vectoradd
    due: [gpu-0]
    nodes:
      - name: gpu-0
        ran: true
        validated: 1
        busy: ""
        resources: {nvidia.com/gpu: 1}
        driver_version: 595.91.07
        programs:
          - program: matmul
            outcome: passed
            reason: ""
            code: ""
            message: ""
            remedy: ""
            findings: []
            figures:
              - name: fp16
                value: 42.0
                unit: TFLOPS
                device: GPU-0f
                better: higher
                expected: null
                source: peers
                peers: 41.8
                baseline: 42.3
                code: ""
        pods:
          - name: vectoradd-gpu-0c1d2e-a1b2c3-0
            phase: Succeeded
            reason: ""
            exit_code: 0
            passed: true
            result: {passed: true, elements: 50000, blocks: 196, threads: 256, uuids: [GPU-0f], figures: []}
            log_tail: ["[Vector addition of 50000 elements]", Test PASSED, Done]
sharing:
  description:
    - Each pool of O(prove.sharing) with the node of the proof, and with what ran there. C(devices) is empty
      if the pool was proven before or is not proven, and C(why) says so. C(proven) is null in check mode,
      and for a pool without nodes.
    - An entry of C(devices) has the number of C(shares), which is the number of pods. It has the number of
      C(devices), and the C(uuids) that the pods saw. C(overlap_seconds) is for how many seconds all of them
      ran, and C(refused) has the scheduler's words about one more.
  returned: with O(prove.sharing), also if a proof failed
  type: list
  elements: dict
  sample:
    - name: inference
      node: gpu-0
      proven: true
      why: ""
      devices:
        - resource: nvidia.com/gpu
          replicas: 4
          shares: 4
          devices: 1
          uuids: [GPU-0f]
          overlap_seconds: 3.4
          refused: "0/6 nodes are available: 1 Insufficient nvidia.com/gpu."
preemption:
  description:
    - Each pool of O(prove.preemption) with the node of the proof, the pod that ended, and how many pods of
      that node stayed.
    - C(proven) is false if there was no node for a proof, and null in check mode.
  returned: with O(prove.preemption)
  type: list
  elements: dict
  sample:
    - name: training
      node: gpu-0
      proven: true
      pushed_out: preemption-a1b2c3-low
      stayed: 7
consumers:
  description: Each of O(prove.consumers), with the end of its log. C(proven) is null in check mode.
  returned: with O(prove.consumers)
  type: list
  elements: dict
  sample:
    - {name: training, proven: true, why: "", log_tail: ["train-x7k2p: images 2480.1 img/s"]}
failed_pools:
  description: Names of the pools whose validation, or whose proof of sharing, failed.
  returned: a failed validation with several pools, or a failed proof of sharing
  type: list
  elements: str
  sample: [training]
left_out:
  description:
    - What the lists of a large result lack. A result has at most 84 KiB, so that it fits into a job event of
      AWX. A list that is cut begins with what is not right.
    - One entry for each such list and each pool in it, with the C(number) of the entries that are missing,
      and the C(sums) of their numbers.
  returned: when a list was cut
  type: list
  elements: dict
  sample:
    - {list: workload.nodes, pool: training, number: 380, sums: {validated: 380}}
duration:
  description: Seconds that the task took.
  returned: always
  type: float
  sample: 9.1
waited:
  description: Seconds of these that the task waited for the cluster.
  returned: when the task waited
  type: float
  sample: 3.5
"""

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._frame.argspec import (
    AUTH,
    STATE,
    WAIT,
    ArgumentSpec,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame.module import run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._workload import removal_steps
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.options import (
    OPTIONS,
    GpuWorkloadParams,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._workload.proofs import steps

SPEC = ArgumentSpec(
    options=OPTIONS,
    required_by={"joining": ["pools"]},
    required_if=[["state", "present", ["node_selector", "pools", "prove"], True]],
    mutually_exclusive=[["node_selector", "pools"], ["joining", "prove"]],
).merge(AUTH, STATE, WAIT)


def ensure(api: Api, params: dict[str, t.Any]) -> dict[str, t.Any]:
    options = GpuWorkloadParams.of(params)
    return removal_steps.absent(api, options) if options.state == "absent" else steps.present(api, options)


def main() -> None:
    run(SPEC, ensure)


if __name__ == "__main__":
    main()
