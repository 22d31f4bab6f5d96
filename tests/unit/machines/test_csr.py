"""Certificate requests: whose they are, and what a wait makes of them.

The requests of the fixture were made with OpenSSL's library.
"""

from __future__ import annotations

import base64
import importlib.util
import json
import sys
import typing as t
from pathlib import Path

import pytest

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.readiness import (
    Readiness,
    failed,
    pending,
    ready,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._machines import csr
from ansible_collections.accelerators.openshift.plugins.module_utils._machines.steps import joining

Data = dict[str, t.Any]
REQUESTS: t.Final = json.loads((Path(__file__).parents[1] / "fixtures/certificate_requests.json").read_text())
HOST = "ip-10-0-1-2.us-east-2.compute.internal"
NODE = f"system:node:{HOST}"
GROUPS = [
    "system:serviceaccounts:openshift-machine-config-operator",
    "system:serviceaccounts",
    "system:authenticated",
]
SINCE, EPOCH = "2026-01-01T00:00:00Z", 1767225600.0


def client(request: str = "client", name: str = "csr-a", created: str = SINCE, **spec: t.Any) -> Data:
    body = {
        "request": REQUESTS.get(request, request),
        "signerName": csr.CLIENT,
        "usages": ["digital signature", "client auth"],
    }
    body |= {"username": csr.BOOTSTRAPPER, "groups": GROUPS, **spec}
    return {
        "metadata": {"name": name, "creationTimestamp": created, "resourceVersion": "7"},
        "spec": body,
        "status": {},
    }


def serving(request: str = "serving", **spec: t.Any) -> Data:
    usual: Data = {
        "signerName": csr.SERVING,
        "usages": ["digital signature", "server auth"],
        "username": NODE,
        "groups": ["system:nodes", "system:authenticated"],
    }
    return client(request, "csr-s", **usual, **spec)


def machine(
    phase: str = "Provisioned", node: str = "", name: str = "m-1", created: str = SINCE, **more: t.Any
) -> Data:
    addresses = [
        {"type": "InternalIP", "address": "10.0.1.2"},
        {"type": "InternalDNS", "address": HOST},
        {"type": "Hostname", "address": HOST},
    ]
    status = {"phase": phase, "addresses": addresses, **({"nodeRef": {"name": node}} if node else {}), **more}
    return {"metadata": {"name": name, "creationTimestamp": created}, "status": status}


@pytest.mark.parametrize(
    ("name", "common_name", "organizations", "names", "addresses", "others"),
    [
        ("client", NODE, ("system:nodes",), (), (), False),
        ("client_rsa", NODE, ("system:nodes",), (), (), False),
        ("masters", NODE, ("system:nodes", "system:masters"), (), (), False),
        ("two_names", NODE, ("system:nodes",), (), (), True),
        ("other_part", NODE, ("system:nodes",), (), (), True),
        ("serving", NODE, ("system:nodes",), (HOST,), ("10.0.1.2",), False),
        ("serving_v6", NODE, ("system:nodes",), (HOST,), ("fd00::2",), False),
        ("serving_with_mail", NODE, ("system:nodes",), (HOST,), (), True),
    ],
)
def test_reading(
    name: str,
    common_name: str,
    organizations: tuple[str, ...],
    names: tuple[str, ...],
    addresses: tuple[str, ...],
    others: bool,
) -> None:
    assert csr.subject_of(REQUESTS[name]) == csr.Subject(common_name, organizations, names, addresses, others)


@pytest.mark.parametrize("cut", range(0, 270, 7))
def test_what_is_broken_is_nothing(cut: int) -> None:
    pem = base64.b64decode(REQUESTS["client"]).decode()
    body = base64.b64decode("".join(pem.splitlines()[1:-1]))
    broken = (
        "-----BEGIN CERTIFICATE REQUEST-----\n"
        + base64.b64encode(body[:cut]).decode()
        + "\n-----END CERTIFICATE REQUEST-----\n"
    )
    assert csr.subject_of(base64.b64encode(broken.encode()).decode()) is None


@pytest.mark.parametrize(
    "text", ["", "%", "aGVsbG8=", base64.b64encode(b"-----BEGIN CERTIFICATE-----").decode()]
)
def test_what_is_no_request_is_nothing(text: str) -> None:
    assert csr.subject_of(text) is None
    assert csr.judge(client(text), [machine()]).machine == ""


@pytest.mark.parametrize(
    ("request_", "its_machine"),
    [
        (client(), machine()),
        (client("client_rsa", usages=["digital signature", "key encipherment", "client auth"]), machine()),
        (client(created="2025-12-31T23:59:55Z"), machine()),
        (serving(), machine("Provisioned", HOST)),
        (serving(), machine("Running", HOST)),
    ],
)
def test_requests_of_our_machines(request_: Data, its_machine: Data) -> None:
    found = csr.judge(request_, [machine(name="other", phase="Provisioning"), its_machine])
    assert (found.machine, found.node, found.is_pending) == ("m-1", HOST, True)


@pytest.mark.parametrize(
    ("request_", "machines"),
    [
        (client(username="system:serviceaccount:default:node-bootstrapper"), [machine()]),
        (client(username="system:admin"), [machine()]),
        (client(groups=["system:authenticated"]), [machine()]),
        (client(signerName="kubernetes.io/kube-apiserver-client"), [machine()]),
        (client(usages=["digital signature", "client auth", "server auth"]), [machine()]),
        (client(usages=["client auth"]), [machine()]),
        (client("client_with_names"), [machine()]),
        (client("no_organization"), [machine()]),
        (client("masters"), [machine()]),
        (client("two_names"), [machine()]),
        (client("other_part"), [machine()]),
        (client("admin"), [machine()]),
        (client(created="2025-12-31T23:00:00Z"), [machine()]),
        (client(), []),
        (client(), [machine("Provisioning")]),
        (client(), [machine("Running", HOST)]),
        (client(), [machine("Provisioned", HOST)]),
        (client(), [machine(addresses=[{"type": "InternalIP", "address": HOST}])]),
        (client(), [machine(), machine(name="m-2")]),
        (serving(), [machine()]),
        (serving(), [machine("Running", "another")]),
        (serving("serving_of_another"), [machine("Running", HOST)]),
        (serving("serving_v6"), [machine("Running", HOST)]),
        (serving("serving_with_mail"), [machine("Running", HOST)]),
        (serving("client"), [machine("Running", HOST)]),
        (
            client("serving", signerName=csr.SERVING, usages=["digital signature", "server auth"]),
            [machine("Running", HOST)],
        ),
    ],
)
def test_requests_that_are_nobodys(request_: Data, machines: list[Data]) -> None:
    assert csr.judge(request_, machines).machine == ""


def test_only_the_newest_of_a_machine_counts_and_only_while_it_waits() -> None:
    old, new, decided = (
        client(name="old"),
        client(name="new", created="2026-01-01T00:15:00Z"),
        client(name="done"),
    )
    decided["status"] = {"conditions": [{"type": "Denied"}]}
    stranger = client("admin", name="stranger")
    found = csr.newest([new, stranger, old, decided], [machine()])
    assert sorted(request.name for request, _live in found) == ["new", "stranger"]


def test_what_is_approved_is_what_was_looked_at() -> None:
    body = csr.approval(client())
    assert body["metadata"] == {"resourceVersion": "7"}
    assert [one["type"] for one in body["status"]["conditions"]] == ["Approved"]


def joined(verdict: Readiness, now: float = EPOCH, **more: t.Any) -> joining.Joined:
    return joining.Joined(
        lambda _snapshot: verdict, lambda one: one["metadata"]["name"].startswith("m-"), lambda: now, **more
    )


NO_NODE = pending("NoNode", "m-1 has not joined", code="MACH-NO-NODE", details=("m-1",))


@pytest.mark.parametrize(
    ("verdict", "later", "blind", "wants"),
    [
        (NO_NODE, 59, False, ""),
        (NO_NODE, 60, False, "look"),
        (NO_NODE, 60, True, ""),
        (ready(), 60, False, ""),
        (failed(), 60, False, ""),
    ],
)
def test_requests_are_looked_at_only_when_an_instance_takes_long(
    verdict: Readiness, later: float, blind: bool, wants: str
) -> None:
    judge = joined(verdict, EPOCH + later, is_blind=blind)
    found = judge({"machines": [machine()]})
    assert (judge.wants, found.is_failed) == (wants, bool(wants) or verdict.is_failed)


def test_requests_that_wait_are_told() -> None:
    found = joined(NO_NODE)({"machines": [machine()], "requests": [client(), client("admin", name="csr-x")]})
    assert (found.verdict, found.code) == ("pending", "MACH-CSR-PENDING")
    assert "m-1 waits for the approval of its certificate request csr-a" in found.message
    assert "oc adm certificate approve csr-a`" in found.remedy
    assert "csr-x" not in found.remedy
    assert [
        line for line in found.details if "csr-x of an unknown node is pending and matches no machine" in line
    ]


def test_a_strangers_request_is_only_named() -> None:
    found = joined(NO_NODE, approve=True)(
        {"machines": [machine()], "requests": [client("admin", name="csr-x")]}
    )
    assert (found.code, len(found.details)) == ("MACH-NO-NODE", 2)


def test_approving() -> None:
    judge = joined(NO_NODE, approve=True)
    assert judge({"machines": [machine(), machine(name="other")], "requests": [client()]}).is_failed
    assert (judge.wants, [request.name for request, _live in judge.ripe()]) == ("approve", ["csr-a"])
    judge.done.add("csr-a")
    assert judge({"machines": [machine()], "requests": [client()]}).verdict == "pending"
    assert judge.wants == ""


def test_a_node_that_was_let_in_gets_its_serving_certificate_too() -> None:
    judge = joined(ready(), approve=True, welcome={HOST})
    its = machine("Running", HOST)
    assert judge({"machines": [its], "requests": []}).code == "MACH-CSR-PENDING"
    judge({"machines": [its], "requests": [serving()]})
    assert judge.wants == "approve"
    judge.done.add("csr-s")
    assert judge({"machines": [its], "requests": [serving()]}).is_ready


def test_a_second_request_behind_the_first_is_nothing() -> None:
    pem = base64.b64decode(REQUESTS["client"]).decode()
    other = base64.b64decode(REQUESTS["masters"]).decode()
    for text in (pem + other, f"note\n{pem}"):
        assert csr.subject_of(base64.b64encode(text.encode()).decode()) is None


def test_without_the_package_the_option_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    csr.require_package()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(InputError) as caught:
        csr.require_package()
    assert (caught.value.code, caught.value.remedy) == (
        "INPUT-PACKAGE",
        "Run `pip install cryptography` for the interpreter that runs the module.",
    )
    monkeypatch.setitem(sys.modules, "cryptography", None)
    assert csr.subject_of(REQUESTS["client"]) is None
