# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run etcd, kube-apiserver, kube-controller-manager and kube-scheduler: the real programs."""

from __future__ import annotations

import secrets
import time
from pathlib import Path

import yaml

from openshift_sandbox import kubeconfig
from openshift_sandbox.client import ApiError
from openshift_sandbox.pki import Authority
from openshift_sandbox.sandbox import Sandbox, SandboxError

FAMILY = "control-plane"
ADMIN_GROUP = "system:masters"
# The users in the components' kubeconfigs, and their groups.
COMPONENTS = {
    "kube-controller-manager": ("system:kube-controller-manager", None),
    "kube-scheduler": ("system:kube-scheduler", None),
    "kueue": ("system:kueue", ADMIN_GROUP),
    "kwok": ("system:kwok", ADMIN_GROUP),
    "nfd-master": ("system:nfd-master", ADMIN_GROUP),
    "olm": ("system:olm", ADMIN_GROUP),
    "stand-ins": ("system:stand-ins", ADMIN_GROUP),
}
QUIET_USERS = [user for user, _group in COMPONENTS.values()]
IDLE_CONTROLLERS = (
    "bootstrap-signer-controller",
    "token-cleaner-controller",
    "service-lb-controller",
    "node-route-controller",
    "cloud-node-lifecycle-controller",
    "persistentvolume-attach-detach-controller",
    # A stand-in does its work with fewer writes.
    "clusterrole-aggregation-controller",
)
READS = ["get", "list", "watch"]
READY_SECONDS = 60.0
# The API server counts what it wrote, and begins another file at this size: never.
AUDIT_LOG_MEGABYTES = 1024 * 1024

AUDIT_POLICY = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "users": ["system:apiserver", "system:anonymous"]},
        {"level": "None", "users": QUIET_USERS, "verbs": READS},
        {"level": "None", "userGroups": ["system:serviceaccounts:kube-system"], "verbs": READS},
        {"level": "None", "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}]},
        {"level": "None", "nonResourceURLs": ["/readyz*", "/livez*", "/healthz*", "/metrics"]},
        {"level": "Metadata", "verbs": READS},
        {
            "level": "Metadata",
            "resources": [{"group": "", "resources": ["secrets", "serviceaccounts/token"]}],
        },
        {"level": "Metadata", "users": QUIET_USERS},
        {"level": "Metadata", "userGroups": ["system:serviceaccounts:kube-system"]},
        {"level": "Request"},
    ],
}


def prepare(sandbox: Sandbox) -> None:
    """Make keys, kubeconfigs, tokens and the audit policy, once."""
    authority = Authority(sandbox.run / "pki")
    authority.server("apiserver")
    authority.server("kubelet")
    authority.client("kube-apiserver-kubelet-client", ADMIN_GROUP)
    authority.signing_pair("service-account")
    for name, (user, group) in COMPONENTS.items():
        kubeconfig.write(
            sandbox.component_kubeconfig(name),
            sandbox.url,
            authority.certificate,
            user,
            pair=authority.client(user, group),
        )
    kubeconfig.write(
        sandbox.kubeconfig,
        sandbox.url,
        authority.certificate,
        "admin",
        pair=authority.client("admin", ADMIN_GROUP),
    )
    tokens = sandbox.run / "tokens.csv"
    if not tokens.exists():
        tokens.touch(mode=0o600)
        tokens.write_text(f"{secrets.token_urlsafe(32)},restricted,restricted\n")
    token = tokens.read_text().split(",")[0]
    kubeconfig.write(sandbox.restricted, sandbox.url, authority.certificate, "restricted", token=token)
    (sandbox.run / "audit-policy.yml").write_text(yaml.safe_dump(AUDIT_POLICY, sort_keys=False))


def start_etcd(sandbox: Sandbox) -> None:
    """Start etcd."""
    client, peer = f"http://127.0.0.1:{sandbox.port('etcd')}", f"http://127.0.0.1:{sandbox.port('etcd-peer')}"
    argv: list[str | Path] = [
        sandbox.binary(FAMILY, "server"),
        *("--data-dir", sandbox.directory / "etcd", "--unsafe-no-fsync", "--log-level", "warn"),
        *("--listen-client-urls", client, "--advertise-client-urls", client),
        *(
            "--listen-peer-urls",
            peer,
            "--initial-advertise-peer-urls",
            peer,
            "--initial-cluster",
            f"default={peer}",
        ),
    ]
    sandbox.processes.start("etcd", argv)


def start_apiserver(sandbox: Sandbox) -> None:
    """Start kube-apiserver."""
    pki = sandbox.run / "pki"
    options = {
        "etcd-servers": f"http://127.0.0.1:{sandbox.port('etcd')}",
        "bind-address": "127.0.0.1",
        "secure-port": sandbox.port("kube-apiserver"),
        "advertise-address": "127.0.0.1",
        "endpoint-reconciler-type": "none",
        "tls-cert-file": pki / "apiserver.crt",
        "tls-private-key-file": pki / "apiserver.key",
        "client-ca-file": pki / "ca.crt",
        "token-auth-file": sandbox.run / "tokens.csv",
        "authentication-token-webhook-config-file": sandbox.run / "oauth-webhook.kubeconfig",
        "authentication-token-webhook-version": "v1",
        "authentication-token-webhook-cache-ttl": "0s",
        "authorization-mode": "RBAC",
        "allow-privileged": "true",
        "service-cluster-ip-range": "10.96.0.0/16",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": pki / "service-account.pub",
        "service-account-signing-key-file": pki / "service-account.key",
        "kubelet-certificate-authority": pki / "ca.crt",
        "kubelet-client-certificate": pki / "kube-apiserver-kubelet-client.crt",
        "kubelet-client-key": pki / "kube-apiserver-kubelet-client.key",
        "kubelet-preferred-address-types": "ExternalDNS,InternalIP",
        "audit-policy-file": sandbox.run / "audit-policy.yml",
        "audit-log-path": sandbox.audit_log,
        "audit-log-mode": "blocking",
        "audit-log-maxsize": AUDIT_LOG_MEGABYTES,
        "profiling": "false",
        # Each minute it would read the keys of all kinds from etcd, or count them: for metrics, and to hold
        # back large lists that come at once. No sandbox gets so many.
        "feature-gates": "SizeBasedListCostEstimate=false",
        "etcd-count-metric-poll-period": "0s",
    }
    # The API server appends to a log that is there, so that the log may be emptied below it.
    sandbox.audit_log.touch()
    sandbox.processes.start("kube-apiserver", [sandbox.binary(FAMILY, "kube-apiserver"), *_flags(options)])


def start_controller_manager(sandbox: Sandbox) -> None:
    """Start kube-controller-manager."""
    config, pki = sandbox.component_kubeconfig("kube-controller-manager"), sandbox.run / "pki"
    options = _component(sandbox, "kube-controller-manager") | {
        "authorization-kubeconfig": config,
        "service-account-private-key-file": pki / "service-account.key",
        "root-ca-file": pki / "ca.crt",
        "cluster-signing-cert-file": pki / "ca.crt",
        "cluster-signing-key-file": pki / "ca.key",
        "use-service-account-credentials": "true",
        "controllers": ",".join(["*", *(f"-{name}" for name in IDLE_CONTROLLERS)]),
        "kube-api-qps": 200,
        "kube-api-burst": 400,
    }
    sandbox.processes.start(
        "kube-controller-manager", [sandbox.binary(FAMILY, "kube-controller-manager"), *_flags(options)]
    )


def start_scheduler(sandbox: Sandbox) -> None:
    """Start kube-scheduler."""
    options = _component(sandbox, "kube-scheduler")
    sandbox.processes.start("kube-scheduler", [sandbox.binary(FAMILY, "kube-scheduler"), *_flags(options)])


def wait_ready(sandbox: Sandbox, seconds: float = READY_SECONDS) -> None:
    """Wait until /readyz answers ok. Raises SandboxError after that time, ProcessDied when a child ended."""
    client = sandbox.client()
    deadline = time.monotonic() + seconds
    while True:
        try:
            status, answer = client.request("GET", "/readyz")
            last = str(answer.get("message", ""))
            if status == 200:
                return
        except ApiError as error:
            last = error.message
        sandbox.processes.check("etcd", "kube-apiserver")
        if time.monotonic() > deadline:
            raise SandboxError(
                f"kube-apiserver is not ready after {seconds:.0f} s: {last}; "
                f"see {sandbox.logs / 'kube-apiserver.log'}"
            )
        time.sleep(0.1)


def _component(sandbox: Sandbox, name: str) -> dict[str, object]:
    config = sandbox.component_kubeconfig(name)
    return {
        "kubeconfig": config,
        "authentication-kubeconfig": config,
        "authorization-kubeconfig": config,
        "bind-address": "127.0.0.1",
        "secure-port": sandbox.port(name),
        "leader-elect": "false",
        "profiling": "false",
    }


def _flags(options: dict[str, object]) -> list[str]:
    return [f"--{name}={value}" for name, value in options.items()]
