# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Ansible read once, before the first run, what it reads again in each run: a third of a run of one task.

It reads the options of its plugins in their documentation, and looks for each module of `module_defaults`.
"""

from __future__ import annotations

import sys
import typing as t

KINDS: t.Final = ("become", "connection", "inventory", "shell", "vars")
CALLBACKS: t.Final = ("default", "junit", "minimal", "oneline", "tree")


def share(loader: t.Any) -> None:
    """Let all runs share it. loader: `ansible.plugins.loader`, initialised."""
    _options_once(loader.PluginLoader)
    for kind in KINDS:
        list(getattr(loader, f"{kind}_loader").all(class_only=True))
    # Where no path is known, Ansible makes the plugins that read group_vars.
    loader.vars_loader._paths = None
    # The facts of a run of ansible-runner are there.
    loader.cache_loader.get("jsonfile", class_only=True)
    # Not all of them: that of ansible-runner reads on import where this run's events go.
    for name in CALLBACKS:
        found = loader.callback_loader.get(f"ansible.builtin.{name}", class_only=True)
        # A run looks for it under its short name.
        loader.callback_loader._load_config_defs(name, sys.modules[found.__module__], found._original_path)


def share_modules(names: t.Iterable[str]) -> None:
    """Let all runs share where these modules are. names: fully qualified."""
    from ansible.playbook.base import Base

    resolve = Base._resolve_action
    known = {name: resolve(Base(), name) for name in names}

    def resolved(self: t.Any, name: str, mandatory: bool = True) -> t.Any:
        return known.get(name) or resolve(self, name, mandatory)

    Base._resolve_action = resolved


def _options_once(plugin_loader: t.Any) -> None:
    read, known = plugin_loader._load_config_defs, set()

    def load(self: t.Any, name: str, module: t.Any, path: str) -> None:
        plugin = (self.class_name, name, path)
        if plugin not in known:
            read(self, name, module, path)
            known.add(plugin)

    plugin_loader._load_config_defs = load
