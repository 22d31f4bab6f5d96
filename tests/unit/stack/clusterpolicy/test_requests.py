"""No GPU without a request: what the toolkit and the device plugin get for it."""

from __future__ import annotations

import typing as t

import pytest
from unit.stack.builders import some_params

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.clusterpolicy import (
    manifest,
    requests,
)

ENV: t.Final = {"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_ENVVAR_WHEN_UNPRIVILEGED", "value": "false"}
MOUNTS: t.Final = {"name": "ACCEPT_NVIDIA_VISIBLE_DEVICES_AS_VOLUME_MOUNTS", "value": "true"}
STRATEGY: t.Final = {"name": "DEVICE_LIST_STRATEGY", "value": "volume-mounts"}
OTHER: t.Final = {"name": "OTHER", "value": "1"}


def asked(
    live: t.Any = None, example: t.Any = None, installed: tuple[int, ...] = (26, 7), **options: t.Any
) -> tuple[t.Any, t.Any]:
    """Return the environments of toolkit and device plugin."""
    given = some_params(**{"only_requested_gpus": True, **options})
    spec = manifest.asked(requests.enforced(given, live, example or {}, installed))
    return spec.get("toolkit", {}).get("env"), spec.get("devicePlugin", {}).get("env")


def test_with_cdi_the_device_plugin_stays_as_it_is() -> None:
    assert asked() == ([ENV], None)
    assert asked(installed=()) == ([ENV], None)
    assert asked(example={"cdi": {"enabled": True}}, installed=(25, 3)) == ([ENV], None)


def test_without_cdi_the_device_plugin_names_gpus_by_mounts() -> None:
    without = ([ENV, MOUNTS], [STRATEGY])
    assert asked(installed=(25, 3)) == without
    assert asked(cdi={"enabled": False}) == without
    assert asked(live={"spec": {"cdi": {"enabled": False}}}, example={"cdi": {"enabled": True}}) == without
    assert asked(spec={"cdi": {"enabled": False}}) == without


def test_the_users_own_environment_stays() -> None:
    assert asked(toolkit={"env": [OTHER]}) == ([OTHER, ENV], None)
    assert asked(spec={"toolkit": {"env": [OTHER, ENV]}}) == ([OTHER, ENV], None)
    with pytest.raises(InputError, match="only_requested_gpus needs 'false'"):
        asked(toolkit={"env": [{**ENV, "value": "true"}]})


def test_without_the_option_nothing_changes() -> None:
    assert asked(only_requested_gpus=None) == (None, None)
    assert asked(only_requested_gpus=False) == (None, None)
