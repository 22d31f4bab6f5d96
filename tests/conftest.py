# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Fixtures and hooks of all tests: the marks of pyproject.toml, and one cluster for the whole run."""

from __future__ import annotations

import collections
import os
import sys
import typing as t

import pytest
from go_environment import GO

if t.TYPE_CHECKING:
    from cluster import Cluster
    from leftovers import Leftovers

# How many tests of the long set this run leaves out, counted by the reason in their mark.
LEFT: t.Final = pytest.StashKey[dict[str, int]]()
# The key under which a pytest-xdist worker passes LEFT to the process that reports.
HANDED: t.Final = "left to make test-all"
# Each of these marks says why, or what.
TOLD: t.Final = {"long", "story"}
# One of these is in each test file that starts a cluster, or several: it runs before the shared one is there.
OWN: t.Final = ("SCENARIO", "STARTS_CLUSTERS")
# The tests of this file have nothing in common, and take minutes.
EACH: t.Final = "/test_molecule.py"
# What test files leave on the sandbox that they share; set once it runs.
SHARED: t.Final[pytest.StashKey[Leftovers]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--record",
        action="store_true",
        help="write what tests see into docs/destructive.md and docs/troubles.md",
    )


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LEFT] = {}
    for name, value in GO.items():
        os.environ.setdefault(name, value)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a mark without its text; put the files with a sandbox of their own first.

    The sandbox that the other files share starts late: one that idles takes 7 % of a processor.
    """
    items.sort(key=lambda item: not any(hasattr(getattr(item, "module", None), name) for name in OWN))
    for item in items:
        for mark in item.iter_markers():
            said = mark.args and isinstance(mark.args[0], str) and mark.args[0].strip()
            if mark.name in TOLD and not said:
                raise pytest.UsageError(f"{item.nodeid}: pytest.mark.{mark.name} needs a text")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: t.Any) -> t.Any:
    """Give files to workers, as `--dist loadfile` does, but each test of EACH alone."""
    if config.getoption("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    def part(nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return nodeid if file.endswith(EACH) else file

    scheduling = LoadFileScheduling(config, log)
    scheduling._split_scope = part
    return scheduling


def pytest_deselected(items: t.Sequence[pytest.Item]) -> None:
    if not items or "long" not in items[0].config.getoption("markexpr"):
        return
    reasons = [mark.args[0] for item in items if (mark := item.get_closest_marker("long"))]
    items[0].config.stash[LEFT] = dict(collections.Counter(reasons))


def pytest_sessionfinish(session: pytest.Session) -> None:
    if used := sys.modules.get("cluster"):
        used.end()
    output: dict[str, t.Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output[HANDED] = session.config.stash[LEFT]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: t.Any, error: object) -> None:
    """Take LEFT from a worker. Every worker collects all tests, so the numbers of one worker are complete."""
    if not error:
        node.config.stash[LEFT] = node.workeroutput[HANDED]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    left = config.stash[LEFT]
    if not left:
        return
    terminalreporter.section("left to make test-all")
    for reason, count in sorted(left.items()):
        terminalreporter.line(f"{count:4} {reason}")
    terminalreporter.line(f"{sum(left.values()):4} tests in all")


@pytest.fixture(scope="session")
def cluster(pytestconfig: pytest.Config) -> t.Iterator[Cluster]:
    # Unit tests also run where the sandbox's packages are not installed, so these imports are not at the top.
    from cluster import running
    from leftovers import Leftovers

    with running() as cluster:
        if cluster.sandbox:
            pytestconfig.stash[SHARED] = Leftovers(cluster.sandbox)
        yield cluster
        if cluster.sandbox:
            del pytestconfig.stash[SHARED]


@pytest.fixture(scope="module", autouse=True)
def _nothing_is_left(request: pytest.FixtureRequest) -> t.Iterator[None]:
    """Fail the last test of a file that leaves something on the shared sandbox, and remove it.

    This fixture is set up first in a file, so it ends after the file's other fixtures.
    """
    yield
    shared = request.config.stash.get(SHARED, None)
    if shared and (left := shared.sweep()):
        more = f" and {len(left) - 20} more" if len(left) > 20 else ""
        shown = ", ".join(map(str, left[:20])) + more
        pytest.fail(f"{request.path.name} leaves on the sandbox: {shown}", pytrace=False)
