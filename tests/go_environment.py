# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the Go programs of a test's sandbox get in their environment."""

from __future__ import annotations

import typing as t

# The garbage collector runs less often: starting a sandbox costs 10 s of CPU time instead of 14.
# Each program has one core, as other tests use the others: with one enable_gpus it is 18 s instead of 20.
# A new goroutine begins with the stack that others needed: a tenth less.
GO: t.Final = {"GOGC": "400", "GOMAXPROCS": "1", "GODEBUG": "adaptivestackstart=1"}
