# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this plugin util is for the collection's own plugins and can change without notice.
"""Write the report files of a run into the folder that the user set with gpu_report_dir.

Each task reads report.json, adds itself, and writes all files anew. A file gets a temporary name first, so it
is whole at any moment, also after kill -9. Only a run whose first task cannot write fails.
"""

from __future__ import annotations

import base64
import datetime
import functools
import hashlib
import json
import os
import re
import sys
import typing as t
from pathlib import Path

import jinja2
from ansible import constants
from markupsafe import Markup

from ansible_collections.accelerators.openshift.plugins.module_utils._core import redact
from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import InputError, layer_of
from ansible_collections.accelerators.openshift.plugins.module_utils._core.run import Run
from ansible_collections.accelerators.openshift.plugins.module_utils._report import formats, model, page
from ansible_collections.accelerators.openshift.plugins.plugin_utils import _inputs, _tasks

Data = dict[str, t.Any]
# Runs a module; it appends the result with all nodes to the list.
RunModule = t.Callable[[list[Data]], Data]
VARIABLE: t.Final = "gpu_report_dir"
_STATE: t.Final = "report.json"
# Layers whose failures have their cause outside the cluster.
_WITHOUT_BUNDLE: t.Final = ("input", "credentials", "run")
_PAGE: t.Final = Path(__file__).parent / "report_page"


def reported(
    run_module: RunModule, task: t.Any, variables: Data, run: Run, module: str, given: t.Any
) -> Data:
    """Run a module and return its result. Its task is in the report before and after it runs.

    task: Ansible's. given: the value of gpu_report_dir.
    """
    try:
        files = Files(folder(given, variables), run, variables, _private(task, variables))
        about = redact.result(files.public(_about(task, variables, module)))
        problem = _told(lambda: files.begin(about), files.is_new)
    except InputError as exc:
        return redact.result({"failed": True, "changed": False, **exc.to_result()})
    except OSError as exc:
        why = f"{exc.strerror or exc}: {exc.filename or given}"
        wrong = InputError("INPUT-REPORT", value=given, why=why).to_result()
        return redact.result({"failed": True, "changed": False, **wrong})
    whole: list[Data] = []
    try:
        result = run_module(whole)
    except Exception as exc:
        failed = {"failed": True, "msg": redact.message(str(exc))}
        _told(lambda: _end(files, about, failed, {}))
        raise
    kept = {"failed": result.get("failed"), "msg": "no_log"} if task.no_log else result
    all_nodes = kept if task.no_log or not whole else whole[0]
    problem = _told(lambda: _end(files, about, all_nodes, kept)) or problem
    return {**result, "warnings": [*(result.get("warnings") or []), problem]} if problem else result


def wants_bundle(result: Data, task: t.Any) -> bool:
    """Return whether a task failed for a reason that support can find on the cluster."""
    is_failure = result.get("failed") and not task.check_mode and False not in (task.failed_when or ())
    code = str(result.get("code") or "")
    return bool(is_failure) and code != "API-UNREACHABLE" and layer_of(code) not in _WITHOUT_BUNDLE


def _told(write: t.Callable[[], None], is_first: bool = False) -> str:
    """Write, and return what went wrong. Raises OSError and InputError for the first write alone."""
    try:
        write()
    except Exception as exc:
        if is_first and isinstance(exc, OSError | InputError):
            raise
        return f"The report in {VARIABLE} is not complete: {type(exc).__name__}: {exc}"
    return ""


def _end(files: Files, about: Data, whole: Data, kept: Data) -> None:
    """Write that a task has ended."""
    now = _now()
    seconds = datetime.datetime.fromisoformat(now) - datetime.datetime.fromisoformat(about["started"])
    done = {**about, "ended": now, "seconds": round(seconds.total_seconds(), 3)}
    files.end(done, whole, kept)


class Files:
    """The report files of a run in one folder.

    private: paths of this machine -> what stands for them in the files. Raises OSError if there is no folder,
    InputError if a file of somebody else is in the way.
    """

    def __init__(self, folder: Path, run: Run, variables: Data, private: t.Mapping[str, str]) -> None:
        self._folder, self._private = folder, dict(sorted(private.items(), key=lambda pair: -len(pair[0])))
        self._paths = re.compile(
            rf"(?<![\w.])(?:{'|'.join(map(re.escape, self._private)) or '(?!)'})(?![\w-]|\.\w)"
        )
        self._run: Data = {
            "id": hashlib.sha256(run.id.encode()).hexdigest()[:16],
            "cluster": str(variables.get("inventory_hostname") or "localhost"),
            "job": run.job,
            "check_mode": bool(variables.get("ansible_check_mode")),
        }
        folder.mkdir(parents=True, exist_ok=True)
        self.is_new = self._read() is None

    def begin(self, task: Data) -> None:
        """Write that a task runs, in the report of this run or in a new one. Raises OSError or InputError."""
        report = self._read() or model.new({**self._run, "started": _now()}, _version())
        self._write(model.begun(report, task))

    def end(self, task: Data, whole: Data, kept: Data) -> None:
        """Write that a task has ended, unless another run has begun: this one was killed then."""
        if report := self._read():
            self._write(model.ended(report, task, self.public(whole), self.public(kept)))

    def _write(self, report: Data) -> None:
        self._replace(_STATE, json.dumps(report, ensure_ascii=False))
        self._replace("ctrf.json", formats.ctrf(report))
        self._replace("junit.xml", formats.junit(report))
        self._replace("report.prom", formats.prometheus(report))
        self._replace("report.html", html(report))

    def public(self, value: t.Any) -> t.Any:
        """Return the value without paths of this machine."""
        if isinstance(value, str):
            return self._paths.sub(lambda found: self._private[found[0]], value) if "/" in value else value
        if isinstance(value, t.Mapping):
            return {self.public(key): self.public(item) for key, item in value.items()}
        return [self.public(item) for item in value] if isinstance(value, (list, tuple)) else value

    def _read(self) -> Data | None:
        """Return the report of this run, or None if the folder has none."""
        path = self._folder / _STATE
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
            is_ours = found["tool"]["name"] == model.TOOL and found["schema_version"]
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            is_ours = False
        if not is_ours:
            raise InputError("INPUT-REPORT", value=self._folder, why=f"{path} is a file of something else")
        is_same = found["schema_version"] == model.SCHEMA_VERSION and found["run"]["id"] == self._run["id"]
        return found if is_same else None

    def _replace(self, name: str, text: str) -> None:
        new = self._folder / f".{name}.new"
        new.write_text(text, encoding="utf-8", errors="replace")
        os.replace(new, self._folder / name)


def html(report: Data) -> str:
    """Return the page: one file with its own style and script, which its policy allows alone."""
    style, script = ((_PAGE / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    # The two are files of the collection.
    own = {"style": Markup(style), "script": Markup(script), "hashes": hashes}  # noqa: S704
    return _template().render(**page.view(report), **own)


@functools.cache
def _template() -> jinja2.Template:
    """Return the template; workers share its code in the folder of the run, which Ansible removes."""
    folder = constants.DEFAULT_LOCAL_TMP
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_PAGE),
        bytecode_cache=jinja2.FileSystemBytecodeCache(folder) if Path(folder).is_dir() else None,
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.ChainableUndefined,
    )
    return environment.get_template("page.html.j2")


def folder(given: t.Any, variables: Data) -> Path:
    """Return the folder for the files of this host. Raises InputError."""
    if not isinstance(given, str):
        raise InputError(
            "INPUT-REPORT", value=json.dumps(given, default=str), why="it is the path of a folder"
        )
    folder = Path(given).expanduser().absolute()
    if len(variables.get("ansible_play_hosts_all") or ()) > 1:
        folder /= re.sub(r"[^\w.-]|^\.+", "_", str(variables["inventory_hostname"]))
    return folder


def _about(task: t.Any, variables: Data, module: str) -> Data:
    """Return the task as the report has it before it runs."""
    pool = task.args.get("pool")
    named = task.args.get("name") or (pool.get("name") if isinstance(pool, dict) else "")
    role = getattr(task, "_role", None)
    return {
        "task": str(task.name or module),
        "module": module,
        "role": role.get_name().rpartition(".")[2] if role else "",
        "object": named if isinstance(named, str) else "",
        "playbook": Path(_tasks.playbook_of(task)).stem,
        "check_mode": bool(task.check_mode),
        "rescued": bool(task.ignore_errors) or _tasks.is_rescued(task),
        "started": _now(),
        "seconds": 0.0,
        "state": model.RUNNING,
        **dict.fromkeys(("ended", "code", "layer", "message", "remedy"), ""),
        **{key: [] for key in ("evidence", "warnings")},
        "result": {},
    }


def _private(task: t.Any, variables: Data) -> dict[str, str]:
    """Return the paths of this machine that no file may have, and what stands for them."""
    environment = [value for key, value in os.environ.items() if key.startswith(("K8S_AUTH_", "KUBECONFIG"))]
    given = [value for value in task.args.values() if isinstance(value, str)]
    files = [path for text in (*environment, *given) for path in text.split(os.pathsep) if path[:1] == "/"]
    folders = [variables.get(key) for key in ("playbook_dir", "inventory_dir", "role_path")]
    folders += [
        _inputs.ROOT,
        _inputs.ROOT.resolve(),
        constants.DEFAULT_LOCAL_TMP,
        sys.prefix,
        sys.base_prefix,
    ]
    found = {str(path): "…" for path in folders if path}
    found |= {str(Path.cwd()): ".", str(Path.home()): "~"}
    found |= {path: f"…/{Path(path).name}" for path in files}
    return {path: short for path, short in found.items() if len(path) > 1}


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def _version() -> str:
    """Return the version of the collection, from the tarball's list of files or from a checkout."""
    for name, pattern in (("MANIFEST.json", r'"version": "([^"]+)"'), ("galaxy.yml", r"(?m)^version: (\S+)")):
        path = _inputs.ROOT / name
        if path.is_file() and (found := re.search(pattern, path.read_text(encoding="utf-8"))):
            return found[1]
    return "unknown"
