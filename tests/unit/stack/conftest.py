"""Fixtures of the tests of stacks."""

from __future__ import annotations

import copy

import pytest
from unit.stack.builders import FIXTURE, Snapshot


@pytest.fixture
def seen() -> Snapshot:
    return copy.deepcopy(FIXTURE)
