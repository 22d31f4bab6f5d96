# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Suboptions of gpu_queue, as Ansible checks them: a queue, and the object Kueue of Red Hat's operator."""

from __future__ import annotations

import typing as t

from .options import Framework

_POLICIES: t.Final = {
    "within_queue": ["Never", "LowerPriority", "LowerOrNewerEqualPriority"],
    "reclaim": ["Never", "LowerPriority", "Any"],
    "borrowing": ["Never", "LowerPriority"],
}
_SHARE: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "required": True},
    "gpus": {"type": "int"},
    "resources": {"type": "dict"},
    "borrow": {"type": "int"},
    "lend": {"type": "int"},
}
QUEUE: t.Final[dict[str, t.Any]] = {
    "name": {"type": "str", "required": True},
    "cohort": {"type": "str"},
    "pools": {"type": "list", "elements": "dict", "required": True, "options": _SHARE},
    "namespaces": {"type": "list", "elements": "str", "required": True},
    "local_queue": {"type": "str"},
    "strategy": {
        "type": "str",
        "choices": ["BestEffortFIFO", "StrictFIFO"],
        "default": "BestEffortFIFO",
    },
    "preemption": {
        "type": "dict",
        "options": {
            key: {"type": "str", "choices": choices, "default": "Never"} for key, choices in _POLICIES.items()
        },
    },
}
# The values of the kind Kueue (kueueoperator/v1/types.go of github.com/openshift/kueue-operator, 2026-08-22).
_FRAMEWORKS: t.Final = list(t.get_args(Framework))
INSTANCE: t.Final[dict[str, t.Any]] = {
    "frameworks": {"type": "list", "elements": "str", "choices": _FRAMEWORKS, "default": ["BatchJob"]},
    "namespace": {"type": "str", "default": "openshift-kueue-operator"},
}
