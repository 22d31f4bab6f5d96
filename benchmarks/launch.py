# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs one program and writes down what it took: `launch.py REPORT PROGRAM ARGUMENT…`.

It is a process of its own because Linux counts the memory of the process that starts a program, at its
largest, as memory of the program: the harness holds megabytes of nodes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time


def main() -> None:
    report, *words = sys.argv[1:]
    started = time.monotonic()
    child = subprocess.Popen(words)
    _pid, status, usage = os.wait4(child.pid, 0)
    seconds = time.monotonic() - started
    child.returncode = os.waitstatus_to_exitcode(status)
    found = {
        "rc": child.returncode,
        "seconds": seconds,
        "cpu": usage.ru_utime + usage.ru_stime,
        "rss": usage.ru_maxrss / 1024,
    }
    with open(report, "w") as file:
        json.dump(found, file)


if __name__ == "__main__":
    main()
