"""The ClusterPolicy that special_resource writes for the options of a user."""

from __future__ import annotations

import typing as t

from unit.remedies.case import Options, checked

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.backend import choose
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import steps

NAME: t.Final = "gpu-cluster-policy"


def write(api: Api, options: Options) -> None:
    """Write the ClusterPolicy as special_resource does, without the wait for its stack."""
    _backend, params = choose(
        checked("special_resource", {"name": NAME, "namespace": "nvidia-gpu-operator", **options})
    )
    steps.write(api, params, steps.prepare(api, params, steps.look(api, params)))
