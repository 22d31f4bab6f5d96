# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What a reader copies: YAML blocks and commands of pages, and EXAMPLES of modules and other plugins.

unit/rules/test_blocks.py checks them without a cluster, integration/documents/test_blocks.py runs them.
"""

from __future__ import annotations

import importlib
import re
import typing as t
from pathlib import Path

Data = dict[str, t.Any]
ROOT: t.Final = Path(__file__).resolve().parents[1]
OURS: t.Final = "accelerators.openshift."
PREFIX: t.Final = "ansible_collections.accelerators.openshift.plugins"
MODULES: t.Final = sorted(path.stem for path in ROOT.glob("plugins/modules/*.py"))
PLUGINS: t.Final = sorted(
    f"{kind}.{path.stem}"
    for kind in ("callback", "filter", "inventory", "lookup")
    for path in ROOT.glob(f"plugins/{kind}/*.py")
)
PAGES: t.Final = sorted([ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("roles/*/README.md")])
_FENCE: t.Final = re.compile(r"^( *)```(\w*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
_INLINE: t.Final = re.compile(r"`((?:\w+=\S+ )?(?:ansible-playbook|ansible-doc|make) [^`]+)`")
# What begins with a key of a pool, not with a variable, is a part of this pool.
_PART_OF: t.Final[Data] = {
    "name": "training",
    "candidates": [{"instance_type": "p5.48xlarge", "zones": ["us-east-2a"]}],
}
_PARTS: t.Final = {"autoscale", "partition", "quota", "validate"}
_CLOUDS: t.Final = {"Standard_": "azure", "g2-": "gcp", "n1-": "gcp", "rhcos-": "vsphere"}
# A word that a reader replaces.
PLACEHOLDER: t.Final = re.compile(r"[A-Z]{2,}|[…<]|\.\.\.")


def blocks(*kinds: str) -> list[tuple[str, str]]:
    """Return page and text of each fenced block of these kinds, on all pages."""
    return [
        (_name(page), block[3])
        for page in PAGES
        for block in _FENCE.finditer(page.read_text())
        if block[2] in kinds
    ]


def examples(plugin: str) -> str:
    """Return the EXAMPLES of a plugin, such as lookup.gpu_free, or "" if it has none."""
    return str(getattr(importlib.import_module(f"{PREFIX}.{plugin}"), "EXAMPLES", ""))


def commands() -> list[tuple[str, str]]:
    """Return page and text of each command of ours, in a block or inside a sentence."""
    return sorted(set(_commands()))


def pool_of(value: t.Any) -> Data:
    """Return a whole pool for a block that shows a part of one, {} for other blocks."""
    if not isinstance(value, dict) or not _PARTS & set(value):
        return {}
    return {**_PART_OF, **value} if "autoscale" in value else {**_PART_OF, **value, "replicas": 2}


def cloud_of(pools: t.Iterable[Data]) -> str:
    """Return the cloud that has the instance types of the pools."""
    types = " ".join(given["instance_type"] for pool in pools for given in pool.get("candidates", ()))
    return next((cloud for start, cloud in _CLOUDS.items() if types.startswith(start)), "aws")


def _name(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def _commands() -> t.Iterator[tuple[str, str]]:
    for page, text in blocks("console", "bash", ""):
        for line in text.replace("\\\n", " ").splitlines():
            if re.match(r"\s*(\$ )?(\w+=\S+ )*(ansible-playbook|ansible-doc|make [a-z]).*", line):
                yield page, line.strip().removeprefix("$ ")
    for path in PAGES:
        yield from ((_name(path), text) for text in _INLINE.findall(path.read_text()))
