# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The new driver is looked up before the first write of an upgrade, and only once."""

from __future__ import annotations

import json
import typing as t

import pytest
from unit.fake_server import Answer
from unit.upgrade.in_memory.builders import NAMESPACE, NEW, OLD, params
from unit.upgrade.in_memory.controller import Operator

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import NotReadyError
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._upgrade import steps

KIND: t.Final = known("ImageStreamImport")
CSV: t.Final = known("ClusterServiceVersion")
RELEASE: t.Final = "feature.node.kubernetes.io/system-os_release."


class Registry:
    """The registry of an operator in memory. has: versions of its images. asked: what was looked up."""

    def __init__(self, operator: Operator, *has: str, reason: str = "NotFound") -> None:
        self.has, self.asked, self._reason, self._next = has, list[str](), reason, operator.server.request
        operator.server.served[(KIND.api_version, KIND.plural)] = KIND
        operator.server.request = self._request
        for node in operator.all("Node"):
            node["metadata"]["labels"] |= {f"{RELEASE}ID": "rhel", f"{RELEASE}VERSION_ID": "9.6"}
            operator.server.put(node)

    def _request(self, method: str, url: str, **more: t.Any) -> Answer:
        if KIND.plural not in url:
            return self._next(method, url, **more)
        names = [one["from"]["name"] for one in json.loads(more["body"])["spec"]["images"]]
        self.asked += names
        return Answer(201, {"kind": KIND.kind, "status": {"images": list(map(self._image, names))}})

    def _image(self, name: str) -> dict[str, t.Any]:
        if any(f":{one}-" in f"{name}-" for one in self.has):
            return {"status": {"status": "Success"}}
        message = f'dockerimage.image.openshift.io "{name}" not found'
        return {"status": {"status": "Failure", "reason": self._reason, "message": message}}


def test_an_image_that_exists_is_looked_up_once() -> None:
    operator = Operator()
    registry = Registry(operator, NEW)
    api = operator.api()
    steps.ensure(api, params())
    assert len(operator.upgraded) == 3
    assert registry.asked
    assert all(NEW in one for one in registry.asked)
    registry.asked.clear()
    steps.ensure(operator.api(), params())
    assert registry.asked == [], "a second run has nothing to look up"


@pytest.mark.parametrize("check_mode", [False, True])
def test_an_image_that_is_missing_is_refused_before_the_first_write(check_mode: bool) -> None:
    operator = Operator()
    Registry(operator, OLD)
    with pytest.raises(NotReadyError) as caught:
        steps.ensure(operator.api(check_mode=check_mode), params())
    assert (caught.value.code, operator.server.writes()) == ("UPGRADE-IMAGE", [])
    assert f"driver:{OLD}-" in caught.value.message
    assert caught.value.remedy == (
        f"Set gpu_driver_branch (module option branch) to {OLD.partition('.')[0]}, and leave out "
        "gpu_driver_version."
    )


@pytest.mark.parametrize(("release", "is_refused"), [("26.3.3", False), ("26.7.1", True)])
def test_the_release_of_the_operator_decides_which_tag_it_needs(release: str, is_refused: bool) -> None:
    operator = Operator()
    registry = Registry(operator)
    registry.has = (f"{NEW}-rhel9.6",)
    csv = {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion"}
    name = {"name": f"gpu-operator-certified.v{release}", "namespace": NAMESPACE}
    operator.server.served[(CSV.api_version, CSV.plural)] = CSV
    operator.server.put({**csv, "metadata": name})
    if is_refused:
        with pytest.raises(NotReadyError) as caught:
            steps.ensure(operator.api(), params())
        assert (caught.value.code, operator.server.writes()) == ("MIRROR-OS-TAG", [])
    else:
        steps.ensure(operator.api(), params())
        assert len(operator.upgraded) == 3


def test_a_registry_that_denies_is_a_warning() -> None:
    operator = Operator()
    Registry(operator, reason="Unauthorized")
    api = operator.api()
    steps.ensure(api, params())
    assert len(operator.upgraded) == 3
    assert any("It is not known whether the new driver exists (not allowed" in one for one in api.warnings)
