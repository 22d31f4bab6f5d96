"""The settings of a profile: those of its base, and its own."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._tuning.profiles.model import (
    Profile,
    Setting,
)


def setting(key: str, value: str) -> Setting:
    return Setting("sysctl", key, value, "does", "hardware", "source")


def test_a_profile_replaces_settings_of_its_base() -> None:
    base = Profile("base", "", (setting("a", "1"), setting("b", "1")))
    own = Profile("own", "", (setting("b", "2"), setting("c", "2")), base)
    assert [(one.key, one.value) for one in own.settings] == [("a", "1"), ("b", "2"), ("c", "2")]
    assert base.settings == base.own
