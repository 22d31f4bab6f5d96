# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Who writes a Secret, and which Secrets are not to be changed."""

from __future__ import annotations

import typing as t

import pytest
from unit.pull_secret.builders import DRIVER, NEW, OLD, SPACE, auths, secret

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret import judge
from ansible_collections.accelerators.openshift.plugins.module_utils._pull_secret.uses import Used

USED: t.Final = Used(SPACE, "ngc", ("ClusterPolicy p: spec.driver",), (), (), (DRIVER, "quay.io/tool:1"))


@pytest.mark.parametrize(
    ("metadata", "by"),
    [
        ({}, ""),
        ({"ownerReferences": [{"kind": "ExternalSecret", "name": "ngc"}]}, "ExternalSecret ngc"),
        ({"annotations": {"reconcile.external-secrets.io/data-hash": "1"}}, "External Secrets"),
        ({"annotations": {"sealedsecrets.bitnami.com/managed": "true"}}, "Sealed Secrets"),
        ({"annotations": {"argocd.argoproj.io/tracking-id": "gpu:x"}}, "Argo CD (gpu)"),
        ({"annotations": {"kubernetes.io/service-account.name": "builder"}}, "ServiceAccount builder"),
        ({"labels": {"app.kubernetes.io/managed-by": "Vault"}}, "Vault"),
        ({"labels": {"app.kubernetes.io/managed-by": "accelerators.openshift"}}, ""),
    ],
)
def test_who_writes_a_secret(metadata: t.Any, by: str) -> None:
    live = secret(OLD, **metadata)
    assert judge.owner(live) == by
    if by:
        with pytest.raises(AcceleratorError) as raised:
            judge.refuse(judge.rotation(USED, live, auths(NEW)), False)
        assert (raised.value.code, by in raised.value.message) == ("PULL-OWNER", True)


@pytest.mark.parametrize("more", [{"type": "kubernetes.io/dockercfg"}, {"immutable": True}])
def test_a_secret_that_cannot_be_replaced(more: t.Any) -> None:
    with pytest.raises(AcceleratorError) as raised:
        judge.refuse(judge.rotation(USED, secret(OLD) | more, auths(NEW)), False)
    assert raised.value.code == "PULL-TYPE"
    assert raised.value.remedy.startswith(f"Run `oc delete secret ngc -n {SPACE}`")


def test_a_registry_without_any_login_is_public() -> None:
    """Nobody had a login for quay.io, so its image comes without one, or with that of the whole cluster."""
    judge.refuse(judge.rotation(USED, secret(OLD), auths(NEW)), False)
    judge.refuse(judge.rotation(USED, None, auths(NEW)), False)


def test_a_registry_that_images_come_from_is_never_dropped() -> None:
    with pytest.raises(AcceleratorError) as raised:
        judge.refuse(judge.rotation(USED, secret(OLD, "nvcr.io", "quay.io"), auths(NEW)), True)
    assert (raised.value.code, "no login for quay.io" in raised.value.message) == ("PULL-REGISTRY", True)


def test_what_is_as_wanted_is_refused_for_nothing() -> None:
    judge.refuse(judge.rotation(USED, secret(NEW) | {"immutable": True}, auths(NEW)), False)
