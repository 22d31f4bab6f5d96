# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the machine controller asks of a cloud, and the answers that a cloud may give."""

from __future__ import annotations

import abc
from dataclasses import dataclass

from openshift_sandbox.stand_ins.loop import Cluster, Object


@dataclass(frozen=True)
class Instance:
    """A virtual machine as the provider reports it on its Machine."""

    provider_id: str
    instance_id: str
    instance_type: str
    region: str
    zone: str
    address: str
    host_name: str


@dataclass(frozen=True)
class Refusal:
    """Final refusals make a Machine Failed with a reason; others are tried again for ever."""

    message: str
    reason: str | None = None


class Cloud(abc.ABC):
    """One platform. It keeps no state: an instance exists when its Machine has a providerID."""

    @abc.abstractmethod
    def launch(self, cluster: Cluster, machine: Object) -> Instance | Refusal: ...

    @abc.abstractmethod
    def describe(self, machine: Object) -> Instance:
        """The instance behind a Machine that has one."""
