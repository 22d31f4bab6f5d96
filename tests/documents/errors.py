"""Write docs/errors.md from the registry of error codes."""

from __future__ import annotations

import typing as t
from pathlib import Path

from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.code import Code
from ansible_collections.accelerators.openshift.plugins.module_utils._core.codes.registry import SECTIONS
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import layer_of

PAGE: t.Final = Path(__file__).resolve().parents[2] / "docs/errors.md"
COMMAND: t.Final = "make docs"
_INTRO: t.Final = """\
# Error codes

<!-- Do not edit this page: change plugins/module_utils/_core/codes, then run `make docs`. -->

```console
$ ansible-playbook accelerators.openshift.enable_gpus -e @pools.yml
localhost: MACH-CAPACITY: 1 of 2 pools are not ready. training: 0 of 1 nodes
Remedy: Run again later, or add a candidate to the pool.
```

A failed task returns `code`, `layer`, `message`, `remedy` and `evidence`. A code keeps its meaning in every
release, and always has the same layer, which says where to look first.

Search this page for the code, or add it to the address of the page in lower case: `errors.md#mach-capacity`.

The remedy that a task returns names your nodes, namespaces and values. This page gives the general form:

- A setting is an option of the module that failed, or a key of a pool in `gpu_pools`. A role has most options
  as variables that begin with the role's name: `adopt` is `gpu_operator_adopt` in the role `gpu_operator`.
- Replace words in capitals, such as NAME. The commands use the default namespaces.
"""


def page() -> str:
    """Return docs/errors.md as the registry describes it."""
    return "\n".join((_INTRO, *(_section(title, codes) for title, codes in SECTIONS)))


def _section(title: str, codes: t.Iterable[Code]) -> str:
    return "\n".join((f"## {title}", "", *map(_entry, codes), ""))


def _entry(code: Code) -> str:
    """Return one line, so that a search shows all of it, with an anchor of its own."""
    name, message, remedy = code.general()
    return f'- <a id="{name.lower()}"></a>**{name}** ({layer_of(name)}). {message} **Remedy:** {remedy}'


if __name__ == "__main__":
    PAGE.write_text(page())
