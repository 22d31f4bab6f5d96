# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command `sandbox`: its arguments, and what each subcommand calls."""

from __future__ import annotations

import argparse
import os
import sys
import typing as t
from pathlib import Path

from openshift_sandbox import build, faults, lifecycle, scenario
from openshift_sandbox.catalogue import crds
from openshift_sandbox.client import ApiError
from openshift_sandbox.go import given
from openshift_sandbox.processes import ProcessDied
from openshift_sandbox.sandbox import DEFAULT, Sandbox, SandboxError, say

Arguments = argparse.Namespace
EXAMPLES: t.Final = """\
in this order:
  sandbox build                   once: 7 to 13 minutes on two cores
  sandbox up --scenario aws       about 12 seconds; `sandbox up --help` lists all scenarios
  eval "$(sandbox env)"           from here on kubectl and ansible-playbook use the sandbox
  sandbox kubectl -- get nodes
  sandbox fault add no_capacity zone=us-east-2a
  sandbox down                    nothing is left
`sandbox COMMAND --help` says more. sandbox/README.md says what is real, and lists the troubles."""
PROGRAMS: t.Final = f"""\
programs that are not built, because you have them (sandbox/README.md):
  {given.FOLDER}=FOLDER       any of the programs
  {given.ENVTEST}=FOLDER     etcd, kube-apiserver and kubectl, as setup-envtest leaves them
  {", ".join(name for names in given.PATHS.values() for name in names)}=FILE"""


def main(argv: t.Sequence[str] | None = None) -> int:
    """Run the command; return its exit status: 0, 1 after an error, 130 after Ctrl-C."""
    arguments = parser().parse_args(argv)
    try:
        return int(arguments.action(arguments) or 0)
    except (SandboxError, scenario.ScenarioError, ProcessDied, ApiError, TimeoutError) as error:
        print(f"sandbox: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def parser() -> argparse.ArgumentParser:
    """Return the parser of all subcommands."""
    top = argparse.ArgumentParser(
        prog="sandbox",
        description="Run a local control plane in the shape of an OpenShift cluster.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(metavar="COMMAND", required=True)
    built = _command(
        commands, "build", "build the programs and collect the CRDs, once", _build, directory=False
    )
    built.epilog = PROGRAMS
    optional = ",".join(one.name for one in build.OPTIONAL)
    built.add_argument(
        "--scenario",
        metavar="NAME",
        help=f"build only what this scenario needs (default: everything but {optional})",
    )
    built.add_argument(
        "--with",
        dest="more",
        default="",
        metavar="NAMES",
        help=f"build these too, which few scenarios need: {optional}",
    )
    up = _command(commands, "up", "start a sandbox, or repair the one that is there", _up)
    up.add_argument(
        "--scenario",
        default="aws",
        metavar="NAME",
        help="one of the scenarios below, or the path of a .yml file (default: aws)",
    )
    up.epilog = "\n".join(
        ["scenarios:", *(f"  {name:26} {text}" for name, text in scenario.descriptions().items())]
    )
    up.add_argument("--fresh", action="store_true", help="remove the sandbox that is there first")
    _command(commands, "down", "end every process of the sandbox and remove its directory", _down)
    _command(commands, "reset", "down, and up again with the same scenario", _reset)
    _command(commands, "status", "list the sandbox's processes; exit with 1 when one is missing", _status)
    env = _command(commands, "env", "print the line that points a shell at the sandbox", _env)
    env.add_argument(
        "--path",
        action="store_true",
        help="print the path alone, of the identity that the scenario gives to its user",
    )
    _command(commands, "load", "apply the objects of YAML files", _load).add_argument(
        "files", nargs="+", type=Path, metavar="FILE"
    )
    kubectl = _command(
        commands, "kubectl", "run kubectl in the sandbox: sandbox kubectl -- get nodes", _kubectl
    )
    kubectl.add_argument("words", nargs=argparse.REMAINDER, metavar="...")
    _fault(commands)
    return top


def _command(
    commands: t.Any, name: str, text: str, action: t.Callable[[Arguments], int | None], directory: bool = True
) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=text, description=text, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    command.set_defaults(action=action)
    if directory:
        command.add_argument(
            "--dir",
            type=Path,
            default=DEFAULT,
            help="the sandbox's directory (default: .sandbox in the checkout)",
        )
    return command


def _fault(commands: t.Any) -> None:
    faults_of = commands.add_parser("fault", help="cause trouble in the running sandbox").add_subparsers(
        metavar="TROUBLE", required=True
    )
    add = _command(faults_of, "add", "add a trouble", _fault_add)
    add.add_argument("type", help="a trouble of the tables in sandbox/README.md, such as no_capacity")
    add.add_argument("fields", nargs="*", metavar="KEY=VALUE", help="where, such as zone=us-east-2a")
    clear = _command(faults_of, "clear", "remove troubles", _fault_clear)
    clear.add_argument("type", nargs="?")
    clear.add_argument("fields", nargs="*", metavar="KEY=VALUE")
    _command(faults_of, "list", "list the troubles", _fault_list)
    api = _command(faults_of, "api-down", "stop the API server for a while", _fault_api)
    api.add_argument("--seconds", type=float, default=20.0)
    api.add_argument(
        "--hang", action="store_true", help="accept connections and never answer, instead of refusing them"
    )


def _build(arguments: Arguments) -> None:
    chosen = arguments.scenario
    more = [name for name in arguments.more.split(",") if name]
    build.build(build.families_of(scenario.load(chosen)) if chosen else build.named(more))
    say("the programs of the sandbox are there")


def _up(arguments: Arguments) -> None:
    lifecycle.up(Sandbox(arguments.dir), arguments.scenario, arguments.fresh)


def _down(arguments: Arguments) -> None:
    say(f"{lifecycle.down(Sandbox(arguments.dir))} processes ended")


def _reset(arguments: Arguments) -> None:
    sandbox = _there(arguments)
    lifecycle.up(sandbox, sandbox.state.get("source", "aws"), fresh=True)


def _status(arguments: Arguments) -> int:
    sandbox = _there(arguments)
    children = sandbox.processes.all()
    print(f"{sandbox.directory}  scenario {sandbox.state.get('scenario')}  {sandbox.url}")
    for child in children:
        state = "stopped" if child.stopped else "running" if child.alive else "GONE"
        print(f"  {child.name:24} {child.pid:>8}  {state:8} {child.log}")
    return 0 if lifecycle.healthy(sandbox) else 1


def _env(arguments: Arguments) -> None:
    sandbox = _there(arguments)
    restricted = sandbox.scenario.cluster.get("identity") == "restricted"
    print(
        f"{sandbox.kubeconfig}{'-restricted' if restricted else ''}"
        if arguments.path
        else f"export KUBECONFIG={sandbox.kubeconfig}"
    )


def _load(arguments: Arguments) -> None:
    sandbox = _there(arguments)
    client = sandbox.client("kubectl")
    documents = [document for file in arguments.files for document in crds.read(file)]
    definitions = [document for document in documents if document["kind"] == "CustomResourceDefinition"]
    crds.load(client, definitions)
    for document in documents:
        if document not in definitions:
            client.apply(document)
    say(f"{len(documents)} objects applied")


def _kubectl(arguments: Arguments) -> None:
    sandbox = _there(arguments)
    words = arguments.words[1:] if arguments.words[:1] == ["--"] else arguments.words
    program = str(sandbox.binary("control-plane", "kubectl"))
    options = ["--kubeconfig", str(sandbox.kubeconfig), "--cache-dir", str(sandbox.run / "kubectl-cache")]
    os.execv(program, [program, *options, *words])  # noqa: S606 (our own kubectl, and the user's words to it)


def _fault_add(arguments: Arguments) -> None:
    faults.add(_there(arguments), arguments.type, faults.parse(arguments.fields))


def _fault_clear(arguments: Arguments) -> None:
    removed = faults.clear(_there(arguments), arguments.type, faults.parse(arguments.fields))
    say(f"{removed} troubles removed")


def _fault_list(arguments: Arguments) -> None:
    for trouble in _there(arguments).scenario.troubles:
        print("  ".join(f"{key}={value}" for key, value in trouble.items()))


def _fault_api(arguments: Arguments) -> None:
    faults.api_down(_there(arguments), arguments.seconds, arguments.hang)


def _there(arguments: Arguments) -> Sandbox:
    sandbox = Sandbox(arguments.dir)
    if not sandbox.exists:
        raise SandboxError(
            f"no sandbox in {sandbox.directory}: bring one up with `sandbox up --scenario aws`"
        )
    return sandbox
