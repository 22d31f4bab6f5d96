# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The files that the sandbox takes out of pinned Go modules at build time: CRDs, and KWOK's stages."""

from __future__ import annotations

import json
import subprocess
import typing as t
from pathlib import Path

MODULES: t.Final = {
    "github.com/NVIDIA/gpu-operator": "v1.8.3-0.20251203194844-846018752b8a",
    "github.com/k8snetworkplumbingwg/sriov-network-operator": "v1.6.0",
    "github.com/openshift/api": "v0.0.0-20260817165856-9fda5179a7f7",
    "github.com/operator-framework/operator-lifecycle-manager": "v0.46.0",
    "github.com/prometheus-operator/prometheus-operator": "v0.93.0",
    "sigs.k8s.io/kwok": "v0.8.0",
    "sigs.k8s.io/node-feature-discovery": "v0.19.0",
}

_OPENSHIFT: t.Final = (
    "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusterversions-Default",
    "config/v1/zz_generated.crd-manifests/0000_00_cluster-version-operator_01_clusteroperators",
    "config/v1/zz_generated.crd-manifests/0000_03_config-operator_01_proxies",
    "config/v1/zz_generated.crd-manifests/0000_03_marketplace_01_operatorhubs",
    "config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_dnses-Default",
    *(
        f"config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_{name}"
        for name in ("imagecontentpolicies", "imagedigestmirrorsets", "images", "imagetagmirrorsets")
    ),
    "config/v1/zz_generated.crd-manifests/0000_10_config-operator_01_infrastructures-Default",
    "machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machinehealthchecks",
    "machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machines-Default",
    "machine/v1beta1/zz_generated.crd-manifests/0000_10_machine-api_01_machinesets-Default",
    "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_kubeletconfigs",
    "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigpools-Default",
    "machineconfiguration/v1/zz_generated.crd-manifests/0000_80_machine-config_01_machineconfigs",
    "console/v1/zz_generated.crd-manifests/90_consoleplugins",
    "operator/v1/zz_generated.crd-manifests/0000_50_console_01_consoles",
    "operator/v1/zz_generated.crd-manifests/0000_70_network_01_networks-Default",
    "operator/v1alpha1/zz_generated.crd-manifests/0000_10_config-operator_01_imagecontentsourcepolicies",
    "quota/v1/zz_generated.crd-manifests/0000_00_apiserver_01_clusterresourcequotas",
)
_TECH_PREVIEW: t.Final = ("machines", "machinesets")
_OLM: t.Final = (
    "catalogsources",
    "clusterserviceversions",
    "installplans",
    "olmconfigs",
    "operatorconditions",
    "operatorgroups",
    "operators",
    "subscriptions",
)
_SRIOV: t.Final = (
    "sriovibnetworks",
    "sriovnetworknodepolicies",
    "sriovnetworknodestates",
    "sriovnetworkpoolconfigs",
    "sriovnetworks",
    "sriovoperatorconfigs",
)

# Set of CRDs -> files inside modules. `up` loads "platform", and "tech-preview" in a cluster of that feature
# set; the bundle of an operator, or a scenario, brings the others.
CRD_SETS: t.Final[dict[str, list[tuple[str, str]]]] = {
    "platform": [
        *(("github.com/openshift/api", f"{stem}.crd.yaml") for stem in _OPENSHIFT),
        *(
            (
                "github.com/operator-framework/operator-lifecycle-manager",
                f"deploy/chart/crds/0000_50_olm_00-{name}.crd.yaml",
            )
            for name in _OLM
        ),
        *(
            (
                "github.com/prometheus-operator/prometheus-operator",
                f"example/prometheus-operator-crd/monitoring.coreos.com_{name}.yaml",
            )
            for name in ("prometheusrules", "servicemonitors")
        ),
        *(
            ("sigs.k8s.io/kwok", f"kustomize/crd/bases/kwok.x-k8s.io_{name}.yaml")
            for name in ("clusterlogs", "execs", "logs")
        ),
    ],
    "tech-preview": [
        (
            "github.com/openshift/api",
            (
                "machine/v1beta1/zz_generated.crd-manifests/"
                f"0000_10_machine-api_01_{name}-TechPreviewNoUpgrade.crd.yaml"
            ),
        )
        for name in _TECH_PREVIEW
    ],
    "gpu-operator-certified": [
        ("github.com/NVIDIA/gpu-operator", f"config/crd/bases/nvidia.com_{name}.yaml")
        for name in ("clusterpolicies", "nvidiadrivers")
    ],
    "sriov-network-operator": [
        (
            "github.com/k8snetworkplumbingwg/sriov-network-operator",
            f"config/crd/bases/sriovnetwork.openshift.io_{name}.yaml",
        )
        for name in _SRIOV
    ],
    "nfd": [("sigs.k8s.io/node-feature-discovery", "deployment/base/nfd-crds/nfd-api-crds.yaml")],
}
STAGES: t.Final = [
    "kustomize/stage/node/fast/node-initialize.yaml",
    "kustomize/stage/node/heartbeat-with-lease/node-heartbeat-with-lease.yaml",
    *(
        f"kustomize/stage/pod/general/pod-{name}.yaml"
        for name in ("create", "init-container-running", "init-container-completed", "ready", "delete")
    ),
]


def folder(go: Path, module: str, work: Path, env: t.Mapping[str, str]) -> Path:
    """Return the folder of a module in Go's module cache; download it when it is missing.

    `work` holds the go.sum that the module is checked against. Raises RuntimeError.
    """
    argv = [str(go), "mod", "download", "-json", f"{module}@{MODULES[module]}"]
    done = subprocess.run(
        argv, cwd=work, env=dict(env), capture_output=True, text=True, timeout=300, check=False
    )
    answer = json.loads(done.stdout or "{}")
    if "Dir" not in answer:
        raise RuntimeError(f"{' '.join(argv)}: {answer.get('Error') or done.stderr.strip()}")
    return Path(answer["Dir"])
