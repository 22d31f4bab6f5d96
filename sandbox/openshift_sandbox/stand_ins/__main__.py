# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""Run all stand-ins of a sandbox in one process: python -m openshift_sandbox.stand_ins --dir D."""

from __future__ import annotations

import argparse
import logging
import sys
from pathlib import Path

# kopf imports the client of Kubernetes where there is one, to know its classes. No stand-in uses it, and it
# takes a third of the processor time of their start.
sys.modules["kubernetes"] = None  # type: ignore[assignment]

from openshift_sandbox.stand_ins.core.loop import serve  # noqa: E402
from openshift_sandbox.stand_ins.registry import reconcilers  # noqa: E402


def main() -> None:
    """Run all stand-ins until SIGTERM."""
    parser = argparse.ArgumentParser(prog="python -m openshift_sandbox.stand_ins", description=__doc__)
    parser.add_argument("--dir", type=Path, required=True, help="directory of the sandbox")
    directory = parser.parse_args().dir.resolve()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("kopf").setLevel(logging.ERROR)  # kopf warns about every CRD that does not exist yet
    serve(directory, reconcilers())


if __name__ == "__main__":
    main()
