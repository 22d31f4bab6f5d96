# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The programs `oc` and `oc-mirror` of a sandbox: `shell_programs.py NAME DIRECTORY ARGUMENTS`.

`oc` is the sandbox's kubectl with what remedies need beside it. `oc-mirror` has no source to copy from: it
makes the images of its file in the sandbox's registry.
"""

from __future__ import annotations

import argparse
import base64
import json
import subprocess
import sys
import typing as t
from pathlib import Path

import yaml

from openshift_sandbox.catalogue import images
from openshift_sandbox.programs import registry
from openshift_sandbox.sandbox import Sandbox
from openshift_sandbox.seed import cluster as seed_cluster

Arguments = list[str]
KUBECTL: t.Final = Path(__file__).parents[2] / ".build/bin/control-plane/kubectl"


def oc(sandbox: Sandbox, arguments: Arguments) -> int:
    """Run a subcommand of oc."""
    if arguments[:3] == ["adm", "release", "info"]:
        return _release_info(sandbox, arguments[3:])
    if arguments[:2] == ["set", "data"]:
        return _set_data(arguments[2:])
    if arguments[0] == "tag":
        return _tag(arguments[1:])
    kept = arguments[1:] if arguments[0] == "adm" else arguments
    return subprocess.run([str(KUBECTL), *kept], check=False).returncode


def oc_mirror(sandbox: Sandbox, arguments: Arguments) -> int:
    """Bring the additional images of a file into the registry."""
    parser = argparse.ArgumentParser(prog="oc-mirror")
    for option in ("-c", "--workspace"):
        parser.add_argument(option, required=True)
    parser.add_argument("--v2", action="store_true", required=True)
    parser.add_argument("destination")
    given = parser.parse_args(arguments)
    content = yaml.safe_load(Path(given.c).read_text())
    if content["apiVersion"] != "mirror.openshift.io/v2alpha1":
        parser.error("this is no file of oc-mirror v2")
    host, _slash, place = given.destination.removeprefix("docker://").partition("/")
    if host != registry.address(sandbox):
        parser.error(f"no registry answers at {host}")
    for entry in content["mirror"]["additionalImages"]:
        repository, tag, _digest = images.split(entry["name"])
        own = "/".join(filter(None, (place, repository.partition("/")[2])))
        images.lay_out(registry.store(sandbox), own, tag, images.image(entry["name"]))
    return 0


def _release_info(sandbox: Sandbox, arguments: Arguments) -> int:
    """Print the image of a release's Driver Toolkit."""
    cluster = sandbox.scenario.cluster
    if arguments != [str(cluster["version"]), "--image-for=driver-toolkit"]:
        return 1
    print(seed_cluster.driver_toolkit(cluster)["spec"]["tags"][0]["from"]["name"])
    return 0


def _set_data(arguments: Arguments) -> int:
    parser = argparse.ArgumentParser(prog="oc set data")
    parser.add_argument("object")
    parser.add_argument("-n", required=True)
    parser.add_argument("--from-file", required=True)
    given = parser.parse_args(arguments)
    key, _equals, file = given.from_file.partition("=")
    content = Path(file).read_bytes()
    is_secret = given.object.startswith("secret/")
    value = base64.b64encode(content).decode() if is_secret else content.decode()
    return _patch(given.object.split("/"), given.n, "merge", {"data": {key: value}})


def _tag(arguments: Arguments) -> int:
    parser = argparse.ArgumentParser(prog="oc tag")
    parser.add_argument("--source", choices=["docker"], required=True)
    parser.add_argument("image")
    parser.add_argument("target")
    given = parser.parse_args(arguments)
    namespace, _slash, rest = given.target.partition("/")
    stream, _colon, tag = rest.partition(":")
    new = {"name": tag, "from": {"kind": "DockerImage", "name": given.image}}
    change = [{"op": "add", "path": "/spec/tags/-", "value": new}]
    return _patch(["imagestream", stream], namespace, "json", change)


def _patch(target: Arguments, namespace: str, kind: str, change: t.Any) -> int:
    command = [str(KUBECTL), "patch", *target, "-n", namespace, f"--type={kind}", "-p", json.dumps(change)]
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    program = {"oc": oc, "oc-mirror": oc_mirror}[sys.argv[1]]
    sys.exit(program(Sandbox(Path(sys.argv[2])), sys.argv[3:]))
