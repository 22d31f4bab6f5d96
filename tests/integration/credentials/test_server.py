# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Credentials on a real API server: impersonation, expired certificates and tokens, server names."""

from __future__ import annotations

import base64
import datetime
import json
import typing as t
from pathlib import Path

import pytest
import yaml
from cluster import Cluster
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID
from integration.playbook import Data, Playbook
from integration.wire import Audit

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    AcceleratorError,
    ApiError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._frame import module
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known

NODE: t.Final = known("Node")
V1: t.Final = "client.authentication.k8s.io/v1"
SHORTEST: t.Final = 600  # seconds; the API server issues no token with a shorter life


@pytest.fixture
def admin(cluster: Cluster) -> Data:
    """Return the administrator's kubeconfig as a dictionary."""
    config: Data = yaml.safe_load(cluster.kubeconfig.read_text())
    return config


def with_user(admin: Data, user: Data, **cluster: t.Any) -> Data:
    """Return the kubeconfig with another user and more fields in its cluster."""
    name = admin["contexts"][0]["context"]["user"]
    server = admin["clusters"][0]
    return {
        **admin,
        "users": [{"name": name, "user": user}],
        "clusters": [{"name": server["name"], "cluster": {**server["cluster"], **cluster}}],
    }


def own(admin: Data) -> Data:
    user: Data = admin["users"][0]["user"]
    return user


def nodes(params: Data) -> list[Data]:
    return module.connect({"wait_timeout": 20, **params}, "credentials").list(NODE)


def token(cluster: Cluster, name: str) -> str:
    cluster.client.apply(
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name, "namespace": "default"}}
    )
    request = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": SHORTEST},
    }
    answer = cluster.client.checked(
        "POST", f"/api/v1/namespaces/default/serviceaccounts/{name}/token", request
    )
    return str(answer["status"]["token"])


def restricted(cluster: Cluster) -> str:
    """Return the token of the user with read-only rights."""
    config = yaml.safe_load(cluster.needs_sandbox().restricted.read_text())
    return str(config["users"][0]["user"]["token"])


@pytest.mark.parametrize(("in_process", "way"), [(True, "options"), (False, "kubeconfig")])
def test_acting_as_somebody_is_on_the_wire(
    cluster: Cluster, playbook: Playbook, audit: Audit, admin: Data, in_process: bool, way: str, team: str
) -> None:
    cluster.needs_sandbox()
    if way == "options":
        defaults: Data = {
            "kubeconfig": str(cluster.kubeconfig),
            "impersonate_user": "jim",
            "impersonate_groups": ["team-a", "system:masters"],
        }
    else:
        defaults = {
            "kubeconfig": with_user(
                admin, {**own(admin), "as": "jim", "as-groups": ["team-a", "system:masters"]}
            )
        }
    quota = {
        "accelerators.openshift.gpu_quota": {"namespace": team, "name": "acting", "gpus": 1},
        "check_mode": True,
    }
    run = playbook.tasks(quota, in_process=in_process, defaults=defaults)
    assert run.rc == 0, run.output
    acting = [request.event["impersonatedUser"] for request in audit.of(run.tasks[-1])]
    assert acting
    assert all(
        (one["username"], set(one["groups"]) >= {"team-a", "system:masters"}) == ("jim", True)
        for one in acting
    )


def test_acting_as_somebody_who_may_not_names_him(cluster: Cluster) -> None:
    with pytest.raises(ApiError, match='User "jim" cannot list resource "nodes"') as caught:
        nodes({"kubeconfig": str(cluster.kubeconfig), "impersonate_user": "jim"})
    assert caught.value.code == "API-FORBIDDEN"


def test_not_being_allowed_to_act_as_somebody_says_so(cluster: Cluster) -> None:
    with pytest.raises(ApiError, match=r'User "restricted" cannot impersonate') as caught:
        nodes({"kubeconfig": str(cluster.needs_sandbox().restricted), "impersonate_user": "jim"})
    assert caught.value.code == "API-IMPERSONATE"
    assert caught.value.message.startswith("The identity may not act as the one that impersonate_user")
    assert "verb impersonate" in caught.value.remedy


def test_a_token_that_ends_before_the_task_may_is_a_warning(
    cluster: Cluster, playbook: Playbook, admin: Data, tmp_path: Path, team: str
) -> None:
    authority = tmp_path / "ca.crt"
    authority.write_bytes(base64.b64decode(admin["clusters"][0]["cluster"]["certificate-authority-data"]))
    before = datetime.datetime.now(datetime.UTC)
    credentials = {
        "host": admin["clusters"][0]["cluster"]["server"],
        "ca_cert": str(authority),
        "api_key": token(cluster, "short"),
    }
    quota = {"namespace": team, "name": "short", "gpus": 1}
    tasks: list[Data] = [
        {"accelerators.openshift.gpu_quota": {**quota, "wait_timeout": seconds}, "ignore_errors": True}
        for seconds in (30, SHORTEST * 2)
    ]
    run = playbook.tasks(*tasks, defaults=credentials)
    short, long = ("\n".join(task.result.get("warnings") or ()) for task in run.tasks)
    assert "expires" not in short
    moment = datetime.datetime.fromisoformat(long.partition("The token expires at ")[2][:19] + "+00:00")
    assert abs((moment - before).total_seconds() - SHORTEST) < 60
    assert credentials["api_key"] not in run.output


def test_a_client_certificate_that_has_ended(cluster: Cluster, admin: Data) -> None:
    sandbox = cluster.needs_sandbox()
    signer = serialization.load_pem_private_key((sandbox.run / "pki" / "ca.key").read_bytes(), None)
    issuer = x509.load_pem_x509_certificate((sandbox.run / "pki" / "ca.crt").read_bytes())
    assert isinstance(signer, rsa.RSAPrivateKey)
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name(
        [
            x509.NameAttribute(NameOID.ORGANIZATION_NAME, "system:masters"),
            x509.NameAttribute(NameOID.COMMON_NAME, "joe"),
        ]
    )
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer.subject)
        .public_key(key.public_key())
        .serial_number(7)
    )
    ended = now - datetime.timedelta(hours=1)
    made = (
        builder.not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(ended)
        .sign(signer, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    pair = {
        "client-certificate-data": made.public_bytes(serialization.Encoding.PEM),
        "client-key-data": private,
    }
    user = {name: base64.b64encode(content).decode() for name, content in pair.items()}
    api = module.connect({"kubeconfig": with_user(admin, user), "wait_timeout": 20}, "credentials")
    with pytest.raises(ApiError) as caught:
        api.list(NODE)
    assert caught.value.code == "CRED-UNAUTHORIZED"
    assert f"The client certificate expired at {ended:%Y-%m-%d %H:%M:%S} UTC" in "\n".join(api.warnings)


def test_a_plugin_whose_token_is_refused_is_asked_again(
    cluster: Cluster, admin: Data, tmp_path: Path
) -> None:
    """Give the plugin a first token that the API server does not know."""
    for name, one in (("first", "token-that-nobody-knows"), ("next", restricted(cluster))):
        (tmp_path / name).write_text(
            json.dumps({"apiVersion": V1, "kind": "ExecCredential", "status": {"token": one}})
        )
    plugin = {
        "apiVersion": V1,
        "command": "sh",
        "args": ["-c", f"cd {tmp_path}; cat first 2>/dev/null || cat next; rm -f first"],
    }
    assert nodes({"kubeconfig": with_user(admin, {"exec": plugin})})
    assert not (tmp_path / "first").exists()


def test_the_name_in_the_servers_certificate(admin: Data, cluster: Cluster) -> None:
    cluster.needs_sandbox()
    assert nodes(
        {"kubeconfig": with_user(admin, own(admin), **{"tls-server-name": "kubernetes.default.svc"})}
    )
    with pytest.raises(AcceleratorError, match=r"other\.example") as caught:
        nodes({"kubeconfig": with_user(admin, own(admin), **{"tls-server-name": "other.example"})})
    assert caught.value.code == "API-TLS"


def test_an_authority_as_a_file_beside_the_kubeconfig(
    admin: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = dict(admin["clusters"][0]["cluster"])
    (tmp_path / "pki").mkdir()
    (tmp_path / "pki" / "ca.crt").write_bytes(base64.b64decode(server.pop("certificate-authority-data")))
    path = tmp_path / "config"
    monkeypatch.chdir("/")
    for authority in ("pki/ca.crt", str(tmp_path / "pki" / "ca.crt")):
        cluster_entry = {
            "name": admin["clusters"][0]["name"],
            "cluster": {**server, "certificate-authority": authority},
        }
        path.write_text(yaml.safe_dump({**admin, "clusters": [cluster_entry]}))
        assert nodes({"kubeconfig": str(path)})
