# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""Write what the tasks of render.yml would apply into the folder that the user set with gpu_render_dir.

Each task adds its objects. The state of the run lies in a hidden file of the folder until the last task.
"""

from __future__ import annotations

import contextlib
import errno
import json
import typing as t
from pathlib import Path

import yaml

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.session import Applied
from ansible_collections.accelerators.openshift.plugins.module_utils._pools.machine_pools import file_name
from ansible_collections.accelerators.openshift.plugins.module_utils._render import files
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _report

Data = dict[str, t.Any]
VARIABLE: t.Final = "gpu_render_dir"
# Modules whose objects only a run can make.
RUN_ONLY: t.Final = ("gpu_workload",)
STATE: t.Final = ".render.json"


def write(given: str, variables: Data, run: Run, applied: t.Iterable[Applied], result: Data) -> Data:
    """Add the objects of a task to the folder. Return the result, or a failed one if it cannot be written."""
    try:
        folder = _report.folder(str(given), variables)
        folder.mkdir(parents=True, exist_ok=True)
        _refuse_others(folder / "README.md", files.TITLE)
        pools = result.get("machine_pools") or (result.get("plan") or {}).get("machine_pools") or ()
        hub = {file_name(pool["pool"]): pool["manifests"] for pool in pools if pool["manifests"]}
        for file, manifests in hub.items():
            _write_hub(folder / file, manifests)
        if result.get("failed"):
            return result
        state = _state(folder / STATE, run.id)
        state["hub"] += hub
        for manifest, keeper in applied:
            made = files.rendered(manifest, keeper)
            state["objects"][made.name] = made._replace(manifest={})
            if made.file:
                text = yaml.safe_dump(made.manifest, sort_keys=False, allow_unicode=True, width=110)
                _refuse_others(folder / made.file, files.HEADER)
                (folder / made.file).write_text(f"{files.HEADER}\n{text}", encoding="utf-8")
        foreseen = result.get("foreseen") or []
        state["changes"] += [
            f"{one['action']} {one['object']}" for one in foreseen if one["action"] != "keep"
        ]
        objects = [files.Rendered(*one) for one in state["objects"].values()]
        (folder / STATE).write_text(json.dumps(state), encoding="utf-8")
        named = {one.name for one in objects}
        left = [line for line in dict.fromkeys(state["changes"]) if line.partition(" ")[2] not in named]
        (folder / "README.md").write_text(files.readme(objects, left), encoding="utf-8")
    except OSError as exc:
        why = f"{exc.strerror or exc}: {exc.filename or given}"
        return {
            "changed": False,
            "failed": True,
            **InputError("INPUT-RENDER", value=given, why=why).to_result(),
        }
    return result


def _write_hub(file: Path, manifests: t.Sequence[Data]) -> None:
    """Write what another cluster gets: in a folder of its own, without the sync waves of this one."""
    file.parent.mkdir(exist_ok=True)
    _refuse_others(file, files.HEADER)
    text = yaml.safe_dump_all(manifests, sort_keys=False, allow_unicode=True, width=110)
    file.write_text(f"{files.HEADER}\n{text}", encoding="utf-8")


def _refuse_others(file: Path, begin: str) -> None:
    """Raise FileExistsError for a file that does not begin as those of a render."""
    if file.exists() and not file.read_bytes().startswith(begin.encode()):
        raise FileExistsError(errno.EEXIST, "no render has made the file that is there", str(file))


def _state(file: Path, run: str) -> Data:
    """Return the state that an earlier task of this run left, or a new one."""
    with contextlib.suppress(FileNotFoundError, ValueError):
        state: Data = json.loads(file.read_text(encoding="utf-8"))
        if state.get("run") == run:
            return state
    return {"run": run, "objects": {}, "changes": [], "hub": []}
