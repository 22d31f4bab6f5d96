# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""What all threads of one task know of their server: when it was last in trouble, and whose turn it is to try it again."""

from __future__ import annotations

import math
import threading
import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._kube.deadline import Clock
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.limits import Limits

# How often somebody who waits for a later turn looks whether another's try was answered.
LOOK: t.Final = 0.05


class Trouble:
    """A wait of many queries tries a server that is away no more often than one query would: turns, a pause apart, for all of them.

    is_known: whether the server has answered a request, or was asked whether it is ready; from then on it is believed.
    """

    def __init__(self, clock: Clock, limits: Limits) -> None:
        self._clock, self._settling = clock, limits.settling
        self._lock = threading.Lock()
        self._noticed = self._turn = -math.inf
        self._answers = 0
        self.is_known = False

    def notice(self) -> None:
        self._noticed = self._clock()

    @property
    def is_recent(self) -> bool:
        """Whether the server may have come back so lately that it knows neither accounts nor roles."""
        return self._clock() - self._noticed < self._settling

    def is_over(self) -> None:
        """The server has answered somebody: whoever waits for a turn goes on at once."""
        with self._lock:
            self._answers += 1
            self._turn = -math.inf
        self.is_known = True

    def turn(self, pause: float) -> t.Callable[[], bool]:
        """Takes the next turn, that long after now and after the one before; tells whether it is still to be waited for."""
        with self._lock:
            self._turn = mine = max(self._clock(), self._turn) + pause
            answers = self._answers
        return lambda: self._clock() < mine and self._answers == answers
