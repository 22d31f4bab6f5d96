# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Remedies of the operators' steps, in the words of the playbook that upgrades them."""

from __future__ import annotations

import contextlib
import re
import typing as t

from .._core.errors import AcceleratorError

_FOREIGN: t.Final = "OLM-FOREIGN-CSV"
_REMEDIES: t.Final = {
    "OLM-DRIVER-CHANGE": (
        "Set gpu_upgrade_driver_change: pin (module option driver_change) to keep the driver that runs, or "
        "gpu_upgrade_driver_change: allow to have it replaced node by node, which ends the pods with GPUs."
    ),
    # The playbook never changes a ClusterPolicy that the collection did not make.
    "OLM-DRIVER-PIN": (
        "Set spec.driver.repository, image and version in the ClusterPolicy to the driver that runs, or set "
        "gpu_upgrade_driver_change: allow (module option driver_change) to have it replaced node by node, "
        "which ends the pods with GPUs."
    ),
    "OLM-NO-PATH": (
        "Set `channel` of the operator in gpu_upgrade_operators to one that ends with that release, or set "
        "`to` to the release that the message names."
    ),
    "OLM-NO-UPGRADE": (
        "Set another `channel` of the operator in gpu_upgrade_operators, one with a way between the two."
    ),
    "OLM-RESOLVE": (
        "As the text says: set another `channel` of the operator in gpu_upgrade_operators, install the "
        "missing dependency, or delete the second OperatorGroup."
    ),
}


@contextlib.contextmanager
def for_playbook() -> t.Iterator[None]:
    """Give an error of the steps inside the remedy that the user of the playbook can follow."""
    try:
        yield
    except AcceleratorError as exc:
        exc.remedy = _REMEDIES.get(exc.code, exc.remedy)
        if exc.code == _FOREIGN and (named := re.search(r"allow_csvs: (\[[^]]+\])", exc.remedy)):
            exc.remedy = (
                "Upgrade or remove that other operator by itself first, or set "
                f"gpu_upgrade_allow_csvs: {named[1]} (module option allow_csvs) to let the plan install it."
            )
        raise


def say_what_stays(exc: AcceleratorError) -> None:
    """Correct the message of a refusal that came after finished steps: not everything is as it was."""
    for text in ("Nothing was changed.", "Nothing was approved."):
        exc.message = exc.message.replace(text, "This step has changed nothing; the steps before it stay.")
