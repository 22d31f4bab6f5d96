# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures: a sandbox for each test file, with its SCENARIO."""

from __future__ import annotations

from own_cluster import cluster

__all__ = ["cluster"]
