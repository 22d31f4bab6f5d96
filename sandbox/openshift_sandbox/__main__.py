# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""python -m openshift_sandbox: the same as the command `sandbox`."""

from __future__ import annotations

import sys

from openshift_sandbox.cli import main

sys.exit(main())
