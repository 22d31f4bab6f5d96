# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Error codes of waiting."""

from __future__ import annotations

import typing as t

from .code import Code

CODES: t.Final = (
    Code(
        "WAIT-DELETE",
        "{object} is still being deleted (finalizers: {finalizers}).",
        "Run `oc get {resource} -o yaml`, and see whether the controller that owns the finalizers runs.",
    ),
    Code(
        "WAIT-TIMEOUT",
        "The time ran out. The message says what the task saw last, node by node.",
        "Raise `wait_timeout` if the cluster is only slow.",
    ),
)
