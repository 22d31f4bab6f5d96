# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Let Ansible find out without a new process that a task is skipped, or that it includes a file or a role.

Ansible forks a process for each task, and that process reads `when`. Half of the tasks of `enable_gpus` are
skipped. Here the same code of Ansible reads it in the process of the play. A task that runs gets its process.
"""

from __future__ import annotations

import copy
import typing as t


class _RunsError(BaseException):
    """The task is not skipped. Ansible's executor catches each Exception."""


def _runs(*_arguments: t.Any, **_options: t.Any) -> t.NoReturn:
    raise _RunsError


def share() -> None:
    """Let all plays of this process do that. Ansible reads its environment on import: it has to be there."""
    from ansible.constants import _ACTION_ALL_INCLUDES
    from ansible.executor.process.worker import WorkerProcess
    from ansible.executor.task_result import _RawTaskResult

    fork = WorkerProcess.start

    def start(worker: t.Any) -> None:
        asked = worker._task
        includes = asked.action in _ACTION_ALL_INCLUDES
        # The executor copies the task for each item of a loop, so `_runs` would be lost.
        if asked.loop is None and (asked.when or includes):
            task = asked.copy(exclude_parent=True, exclude_tasks=True)
            task._parent = asked._parent
            if not includes:
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
    """Return what Ansible's executor says of a task that it does not run; None where it would run it."""
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
    # A process of its own says what is wrong with a condition.
    return None if found.get("failed") else found
