# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Every Python of a run loads this file: it writes down which process imports the client package.

It serves to count, never to take times.
"""

from __future__ import annotations

import json
import os
import sys

_LOG = os.environ.get("IMPORT_TRACE", "")
_PARENT = "IMPORT_TRACE_PARENT"


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if event == "import" and arguments[0] == "kubernetes":
        own = os.environ.get(_PARENT) == str(os.getpid())
        program = "ansible-playbook (parent)" if own else f"{os.path.basename(sys.argv[0])} (child)"
        line = json.dumps({"pid": os.getpid(), "program": program}) + "\n"
        with open(_LOG, "a") as log:
            log.write(line)


if _LOG:
    # The first Python of the run is the parent; everything else inherits its number.
    os.environ.setdefault(_PARENT, str(os.getpid()))
    sys.addaudithook(_watch)
