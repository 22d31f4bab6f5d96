# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the roles of a playbook, its service account, and the bindings that give the roles to subjects."""

from __future__ import annotations

import typing as t

from .._core.objects import KubeObject
from . import needs, review

# The label of everything that belongs to the rights of one playbook.
LABEL: t.Final = "accelerators.openshift/rights-of"
# Namespaces of these places may be missing at first: the playbooks create them, or the administrator does.
CREATED: t.Final = ("nfd", "gpu", "nic", "sriov", "kueue", "quota", "claims", "spare", "validation")
_GROUP: t.Final = "rbac.authorization.k8s.io"


class Subject(t.NamedTuple):
    """Who gets the rights of playbooks. kind: User, Group or ServiceAccount, which has a namespace."""

    kind: str
    name: str
    namespace: str
    playbooks: tuple[str, ...]

    def as_object(self) -> KubeObject:
        """Return the subject as bindings have it."""
        if self.kind == "ServiceAccount":
            return {"kind": self.kind, "name": self.name, "namespace": self.namespace}
        return {"apiGroup": _GROUP, "kind": self.kind, "name": self.name}


class Wanted(t.NamedTuple):
    """What rbac.yml is to bring about. namespaces: those of each place of the table."""

    playbooks: tuple[str, ...]
    namespace: str
    namespaces: t.Mapping[str, t.Sequence[str]]
    subjects: tuple[Subject, ...]


def roles(playbook: str) -> dict[str, KubeObject]:
    """Return the ClusterRoles of a playbook by place: "" for the whole cluster, others for namespaces."""
    found = {}
    for place, rights in sorted(needs.by_place(playbook).items()):
        role = review.cluster_role(rights, _name(playbook, place))
        role["metadata"]["labels"] = _labels(playbook)
        found[place] = role
    return found


def account(playbook: str, namespace: str) -> KubeObject:
    """Return the service account of a playbook. Pods do not mount its token by themselves."""
    metadata = {"name": _name(playbook), "namespace": namespace, "labels": _labels(playbook)}
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": metadata,
        "automountServiceAccountToken": False,
    }


def bindings(playbook: str, wanted: Wanted) -> list[KubeObject]:
    """Return the ClusterRoleBinding of a playbook, and a RoleBinding for each place and namespace."""
    own = Subject("ServiceAccount", _name(playbook), wanted.namespace, ())
    who = [own, *(subject for subject in wanted.subjects if playbook in subject.playbooks)]
    subjects = [
        member.as_object() for member in dict.fromkeys(member._replace(playbooks=()) for member in who)
    ]
    found = []
    for place in roles(playbook):
        name = _name(playbook, place)
        for namespace in wanted.namespaces[place] if place else [""]:
            metadata = {"name": name, "labels": _labels(playbook)}
            found.append(
                {
                    "apiVersion": f"{_GROUP}/v1",
                    "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
                    "metadata": metadata | ({"namespace": namespace} if namespace else {}),
                    "roleRef": {"apiGroup": _GROUP, "kind": "ClusterRole", "name": name},
                    "subjects": subjects,
                }
            )
    return found


def objects(playbook: str, wanted: Wanted) -> list[KubeObject]:
    """Return everything of a playbook in the order in which it is applied."""
    made = [account(playbook, wanted.namespace), *roles(playbook).values()]
    return made + bindings(playbook, wanted)


def playbook_of(obj: KubeObject) -> str:
    """Return the playbook whose rights an object with the label belongs to."""
    return str(obj["metadata"]["labels"][LABEL]).replace("-", "_")


def table(wanted: Wanted) -> list[str]:
    """Return a line for each playbook: its service account, and how many other subjects have its rights."""
    found = []
    for playbook in wanted.playbooks:
        more = sum(playbook in subject.playbooks for subject in wanted.subjects)
        line = f"{playbook}: system:serviceaccount:{wanted.namespace}:{_name(playbook)}"
        found.append(line + (f" and {more} more" if more else ""))
    return found


def _name(playbook: str, place: str = "") -> str:
    return review.role_name(playbook) + (f"-{place}" if place else "")


def _labels(playbook: str) -> dict[str, str]:
    return {LABEL: playbook.replace("_", "-")}
