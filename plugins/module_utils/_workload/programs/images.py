# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images of the programs. One image serves matmul, resnet50 and nccl, so that users mirror few of them."""

from __future__ import annotations

import typing as t

from .program import GpuNode

SAMPLES: t.Final = "nvcr.io/nvidia/k8s/cuda-sample:vectoradd-cuda12.5.0-ubi8"
# 25.07 is the last one with CUDA 12, which has code for Volta. CUDA 13 has it for Turing and newer; Blackwell
# (10.0) needs 12.8 or newer.
OLDER: t.Final = "nvcr.io/nvidia/pytorch:25.07-py3"
NEWER: t.Final = "nvcr.io/nvidia/pytorch:26.01-py3"
TENSORRT_OLDER: t.Final = "nvcr.io/nvidia/tensorrt:25.07-py3"
TENSORRT: t.Final = "nvcr.io/nvidia/tensorrt:26.01-py3"
VLLM: t.Final = "docker.io/vllm/vllm-openai:v0.11.0"
GPU_BURN: t.Final = {
    "amd64": "quay.io/wabouham/gpu_burn_amd64:ubi9",
    "arm64": "quay.io/wabouham/gpu_burn_arm64:ubi9",
}
DCGM: t.Final = "nvcr.io/nvidia/cloud-native/dcgm:4.6.0-1-ubi10"
# It has perftest with CUDA, for both architectures (README of coreweave/nccl-tests). perftest brings no code
# for a GPU, so it serves all of them.
PERFTEST: t.Final = "ghcr.io/coreweave/nccl-tests:12.9.1-devel-ubuntu22.04-nccl2.27.5-1-0120901"
_TURING: t.Final = (7, 5)


def samples(_node: GpuNode) -> str:
    """Return the image of CUDA's samples."""
    return SAMPLES


def pytorch(node: GpuNode) -> str:
    """Return the image of PyTorch with code for the GPUs; a GPU of unknown capability gets the newer one."""
    return OLDER if node.compute is not None and node.compute < _TURING else NEWER


def perftest(_node: GpuNode) -> str:
    """Return the image of perftest."""
    return PERFTEST


def gpu_burn(node: GpuNode) -> str:
    """Return the image of gpu-burn that NVIDIA's tests on OpenShift use, for both architectures."""
    return GPU_BURN.get(node.arch, GPU_BURN["amd64"])


def tensorrt(node: GpuNode) -> str:
    """Return the image of TensorRT with code for the GPUs."""
    return TENSORRT_OLDER if node.compute is not None and node.compute < _TURING else TENSORRT


def vllm(_node: GpuNode) -> str:
    """Return the image of vLLM."""
    return VLLM


def dcgm(_node: GpuNode) -> str:
    """Return the image of DCGM, which the GPU operator deploys too; it also has nvbandwidth."""
    return DCGM
