# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes down when Ansible reported the result of a task, and how large the result is.

The time is of the clock that all processes of this machine share.
"""

from __future__ import annotations

import json
import os
import time
import typing as t

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: moments
type: notification
short_description: Moments of results
description: Writes one JSON line a result, with its size, into the file that BENCH_MOMENTS names.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "moments"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: t.Any) -> None:
        told_at = time.monotonic()
        size = len(json.dumps(result._result, default=str))
        line = {
            "task": result._task.name,
            "told_at": told_at,
            "known_at": result._result.get("known_at"),
            "bytes": size,
        }
        with open(os.environ["BENCH_MOMENTS"], "a") as log:
            log.write(json.dumps(line) + "\n")
