# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox with the SCENARIO of the test file."""

from __future__ import annotations

from own_cluster import cluster

__all__ = ["cluster"]
