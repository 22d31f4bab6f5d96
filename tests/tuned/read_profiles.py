"""Read TuneD profiles with TuneD's own code, and print what it says: the program of test_profiles.py.

    read_profiles.py PACKAGE PROFILES NAME...

PACKAGE: the unpacked package of TuneD. PROFILES: a folder with a folder for each profile NAME. The output is
JSON: name -> `units` (section -> options with the profiles that it includes), `own` (section -> plugin) and
`said` (warnings and errors of TuneD, for options that a plugin does not have).
"""

from __future__ import annotations

import json
import sys
import typing as t
from pathlib import Path
from unittest import mock

PACKAGE, PROFILES, *NAMES = sys.argv[1:]
sys.path.insert(0, f"{PACKAGE}/usr/lib/python3/dist-packages")
# Libraries of the system that TuneD needs to change it, and not to read a profile.
for module in (
    "dbus",
    "dbus.exceptions",
    "dbus.mainloop.glib",
    "dbus.service",
    "gi",
    "gi.repository",
    "perf",
):
    sys.modules[module] = mock.MagicMock()
for module in ("procfs", "pyudev", "schedutils"):
    sys.modules[module] = mock.MagicMock()

import tuned.logs  # type: ignore[import-not-found]  # noqa: E402
import tuned.plugins.base  # type: ignore[import-not-found]  # noqa: E402
from tuned.plugins.repository import Repository  # type: ignore[import-not-found]  # noqa: E402
from tuned.profiles.factory import Factory  # type: ignore[import-not-found]  # noqa: E402
from tuned.profiles.loader import Loader  # type: ignore[import-not-found]  # noqa: E402
from tuned.profiles.locator import Locator  # type: ignore[import-not-found]  # noqa: E402
from tuned.profiles.merger import Merger  # type: ignore[import-not-found]  # noqa: E402
from tuned.profiles.variables import Variables  # type: ignore[import-not-found]  # noqa: E402


def read(name: str) -> dict[str, t.Any]:
    """Return what TuneD makes of a profile, and what its plugins say about the profile's own options."""
    loader = Loader(
        Locator([f"{PACKAGE}/usr/lib/tuned", PROFILES]), Factory(), Merger(), mock.MagicMock(), Variables()
    )
    merged = loader.load([name])
    config = loader._load_config_data(f"{PROFILES}/{name}/tuned.conf")
    own = {key: unit for key, unit in Factory().create(name, config).units.items() if key != "variables"}
    said: list[str] = []
    tuned.plugins.base.log = mock.MagicMock()
    tuned.plugins.base.log.warn = tuned.plugins.base.log.error = said.append
    for unit in own.values():
        plugin = plugin_class(unit.type)(*[mock.MagicMock()] * 8)
        plugin._get_effective_options(unit.options)
    units = {key: dict(unit.options) for key, unit in merged.units.items()}
    return {"units": units, "own": {key: unit.type for key, unit in own.items()}, "said": said}


def plugin_class(name: str) -> t.Any:
    """Return the class of a plugin. Raises ImportError if TuneD has none of this name."""
    return Repository(*[mock.MagicMock()] * 8).load_plugin(name)


if __name__ == "__main__":
    assert Path(PROFILES).is_dir()
    print(json.dumps({name: read(name) for name in NAMES}))
