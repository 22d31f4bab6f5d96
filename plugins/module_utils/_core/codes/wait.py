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
        "See which controller owns the finalizers, which `oc get KIND NAME -o yaml` shows, and whether it "
        "runs.",
    ),
    Code(
        "WAIT-TIMEOUT",
        "The time ran out. The message says what the task saw last, node by node.",
        "Raise `wait_timeout` if the cluster is only slow.",
    ),
)
