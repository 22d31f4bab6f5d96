# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Sphinx reads this: the pages of docs/, and those that antsibull-docs makes of modules and plugins."""

from __future__ import annotations

import re
import typing as t
from pathlib import Path

import yaml
from docutils import nodes

ROOT: t.Final = Path(__file__).resolve().parents[2]
GALAXY: t.Final = yaml.safe_load((ROOT / "galaxy.yml").read_text())
REPOSITORY: t.Final = f"{GALAXY['repository']}/blob/main"

project = "accelerators.openshift"
copyright = "the contributors"
version = release = str(GALAXY["version"])
extensions = ["myst_parser", "sphinx_antsibull_ext"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_title = "GPUs on OpenShift"
html_theme_options = {"source_repository": GALAXY["repository"], "source_branch": "main"}
templates_path: list[str] = []
# For people who change the collection; they read these in the repository.
exclude_patterns = ["decisions.md", "internals.md"]
myst_heading_anchors = 4
myst_enable_extensions = ["attrs_inline", "colon_fence"]
nitpicky = True
smartquotes = False
# Blocks of a console or of a file that is none of the known languages are shown as they are.
highlight_language = "none"


_ANSIBLE: t.Final = "https://docs.ansible.com/ansible/latest"
# Labels of Ansible's own documentation that antsibull-docs refers to -> its page.
_LABELS: t.Final = {
    "action_plugins": "plugins/action.html#action-plugins",
    "ansible_configuration_settings": "reference_appendices/config.html#ansible-configuration-settings",
    "callback_plugins": "plugins/callback.html#callback-plugins",
    "common_return_values": "reference_appendices/common_return_values.html#common-return-values",
}
_MODULE: t.Final = re.compile(r"ansible_collections\.(kubernetes)\.(core)\.(\w+)")


def _outside(_app: t.Any, _env: t.Any, node: t.Any, content: t.Any) -> t.Any:
    """Return a link to Ansible's documentation for a reference that these pages do not have."""
    target = str(node["reftarget"])
    if node["reftype"] == "envvar":
        path = f"reference_appendices/config.html#envvar-{target}"
    elif found := _MODULE.fullmatch(target):
        path = f"collections/{'/'.join(found.groups())}.html"
    else:
        path = _LABELS.get(target, "")
    return nodes.reference("", "", content, refuri=f"{_ANSIBLE}/{path}", internal=False) if path else None


def _to_repository(found: re.Match[str]) -> str:
    folder = "docs/" if found[1].startswith(tuple(exclude_patterns)) else ""
    return f"]({REPOSITORY}/{folder}{found[1]})"


def _source_read(_app: t.Any, name: str, source: list[str]) -> None:
    """Let a link to a file that is no page lead to the repository, and give Sphinx the anchors of GitHub."""
    if not name.startswith("collections/"):
        outside = "|".join(map(re.escape, exclude_patterns))
        source[0] = re.sub(r"\]\((?:\.\./)+([^)]+)\)", _to_repository, source[0])
        source[0] = re.sub(rf"\]\(((?:{outside})[^)]*)\)", _to_repository, source[0])
        source[0] = re.sub(r'<a id="([^"]+)"></a>\*\*([^*]+)\*\*', r"[**\2**]{#\1}", source[0])


def setup(app: t.Any) -> None:
    """Called by Sphinx."""
    app.connect("source-read", _source_read)
    app.connect("missing-reference", _outside)
