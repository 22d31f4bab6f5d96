# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes down how large the result of each task is."""

from __future__ import annotations

import json
import os
import typing as t

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: sizes
type: notification
short_description: Sizes of results
description: Writes one JSON line a result, with its size, into the file that BENCH_SIZES names.
"""


class CallbackModule(CallbackBase):  # type: ignore[misc]
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "sizes"
    CALLBACK_NEEDS_ENABLED = True

    def v2_runner_on_ok(self, result: t.Any) -> None:
        line = {"task": result._task.name, "bytes": len(json.dumps(result._result, default=str))}
        with open(os.environ["BENCH_SIZES"], "a") as log:
            log.write(json.dumps(line) + "\n")
