# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Ansible skip a task, and run the tasks that only read variables, without a new process.

Ansible forks a process for each task, and that process reads `when`. Half of the tasks of `enable_gpus` are
skipped. Here the same code of Ansible reads it in the process of the play. A task that does more gets its
process.
"""

from __future__ import annotations

import copy
import typing as t

# They run no module, and change nothing.
HERE: t.Final = {
    "ansible.builtin.assert",
    "ansible.builtin.debug",
    "ansible.builtin.include_role",
    "ansible.builtin.include_tasks",
    "ansible.builtin.set_stats",
    "ansible.builtin.validate_argument_spec",
}


class _RunsError(BaseException):
    """The task is not skipped. Ansible's executor catches each Exception."""


def _runs(*_arguments: t.Any, **_options: t.Any) -> t.NoReturn:
    raise _RunsError


def share() -> None:
    """Let all plays of this process do that. Ansible reads its environment on import: it has to be there."""
    from ansible.executor.process.worker import WorkerProcess
    from ansible.executor.task_result import _RawTaskResult

    fork = WorkerProcess.start

    def start(worker: t.Any) -> None:
        asked = worker._task
        is_done_here = asked.resolved_action in HERE
        # The executor copies the task for each item of a loop, so `_runs` would be lost.
        if asked.loop is None and (asked.when or is_done_here):
            task = asked.copy(exclude_parent=True, exclude_tasks=True)
            task._parent = asked._parent
            if not is_done_here:
                task.post_validate = _runs
            if found := _result(worker, task):
                # Only the name of the host is read at the other end.
                host = copy.copy(worker._host)
                host.vars, host.groups = {}, []
                worker._final_q.send_task_result(
                    _RawTaskResult(host=host, task=task, return_data=found, task_fields=task.dump_attrs())
                )
                return
        fork(worker)

    WorkerProcess.start = start


def _result(worker: t.Any, task: t.Any) -> dict[str, t.Any] | None:
    """Return what Ansible's executor says of a task; None where the task needs a process of its own."""
    from ansible._internal import _task
    from ansible.executor.task_executor import TaskExecutor

    executor = TaskExecutor(
        worker._host,
        task,
        dict(worker._task_vars),
        worker._play_context,
        worker._loader,
        worker._shared_loader_obj,
        worker._final_q,
        worker._variable_manager,
    )
    try:
        with _task.TaskContext(task):
            found: dict[str, t.Any] = executor.run()
    except _RunsError:
        return None
    # That process says what is wrong with it.
    return None if found.get("failed") else found
