# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The frame of every module: connect, call the module, return its result. Only this file exits a module."""

from __future__ import annotations

import datetime
import re
import time
import traceback
import typing as t

from ansible.module_utils.basic import AnsibleModule

from .._core import bounded, redact, secrets
from .._core.errors import AcceleratorError, InputError
from .._core.run import Run
from .._kube import credentials
from .._kube.client import Api
from .._kube.connection import Connection
from .._kube.deadline import Deadline
from .._kube.http import Http
from .._kube.retry import Contacts
from .._kube.session import Applied
from . import nested, process
from .argspec import ArgumentSpec
from .lease import Lease

Params = dict[str, t.Any]
Result = dict[str, t.Any]
# The `ensure` of each module takes a TypedDict of its own, whose keys are the module's options.
Ensure = t.Callable[[Api, t.Any], Result]
Show = t.Callable[[str], None]
Keep = t.Callable[[Result], None]
# What to do about credentials in a job of AWX, where nobody has a shell. docs/awx.md has the names.
_IN_AWX: t.Final = {
    **dict.fromkeys(
        ("CRED-NOBODY", "CRED-NONE"),
        "Launch the job with a credential: GPU cluster for one cluster, or GPU fleet for several. A "
        "schedule or a node of a workflow names it itself, such as credentials: [GPU cluster].",
    ),
    "CRED-MIXED": "Launch the job with one of the credentials: GPU cluster for one cluster, or GPU fleet for "
    "several.",
    "CRED-UNAUTHORIZED": "Set bearer_token of the job's credential in AWX anew (kubeconfig of GPU fleet). "
    "`ansible-playbook accelerators.openshift.rbac -e gpu_rbac_token_playbook=PLAYBOOK "
    "-e gpu_rbac_token_format=awx -e gpu_rbac_token_file=FILE` makes a token.",
}


def for_job(exc: AcceleratorError, job: t.Any) -> AcceleratorError:
    """Return the error, with the remedy for AWX if there is a job (its number)."""
    exc.remedy = _IN_AWX.get(exc.code, exc.remedy) if job else exc.remedy
    return exc


def _silent(_line: str | list[str]) -> None:
    return


def connect(
    params: t.Mapping[str, t.Any],
    agent: str,
    check_mode: bool = False,
    show: Show = _silent,
    wait_timeout: float = 120.0,
    contacts: Contacts | None = None,
    awaited: t.Callable[[list[str]], None] = _silent,
) -> Api:
    """Return an Api that connects with its first request.

    params: kubernetes.core's options, wait and wait_timeout (seconds). agent: the plugin's name, which the
    server's audit log shows. wait_timeout: seconds, if params has none. contacts: the servers that have
    answered the run. awaited: gets the lines of a wait whenever one changes. Raises InputError.
    """

    def progress(line: str) -> None:
        show(redact.line(line))

    given = params.get("wait_timeout")
    seconds = wait_timeout if given is None else float(given)
    if seconds < 1:
        message = f"wait_timeout is {given}, and a task needs at least 1 second."
        raise InputError("INPUT-VALUE", message, "Raise wait_timeout, or leave it out.")
    deadline = Deadline(seconds)

    def open_connection() -> Connection:
        connection = credentials.connect(params, remaining=deadline.remaining)
        for warning in _warnings(connection, deadline):
            api.warn(warning)
        return connection

    http = Http(open_connection, deadline, f"accelerators.openshift/{agent}", progress, contacts=contacts)
    waits = bool(params.get("wait", True)) and params.get("until") != "requested"
    api = Api(http, check_mode=check_mode, wait_wanted=waits, progress=progress, awaited=awaited)
    return api


def _warnings(connection: Connection, deadline: Deadline) -> t.Iterator[str]:
    if not connection.verified:
        yield (
            f"The certificate of {connection.host} is not checked (validate_certs is off): "
            "anyone in between can read the token."
        )
    if connection.expiry:
        what, end = connection.expiry
        now = datetime.datetime.now(datetime.UTC)
        if warning := credentials.expiry_warning(what, end, now, deadline.remaining()):
            yield warning


def disconnect(api: Api, agent: str) -> None:
    """Revoke the tokens that the Api's login created. A failure to revoke is only a warning."""
    if not api.http.tokens():
        return
    from .._kube import credentials_login

    try:
        problems = credentials_login.revoke(api.http, f"accelerators.openshift/{agent}")
    except Exception as exc:
        problems = [f"The token of this task's login could not be revoked: {type(exc).__name__}: {exc}"]
    for problem in problems:
        api.warn(problem)


def execute(
    name: str,
    ensure: Ensure,
    params: Params,
    check_mode: bool,
    diff: bool,
    show: Show = _silent,
    run: Run | None = None,
    contacts: Contacts | None = None,
    keep: Keep | None = None,
    awaited: t.Callable[[list[str]], None] = _silent,
    applied: list[Applied] | None = None,
) -> Result:
    """Call the module and return its result as people may see it. A failure is a result with C(failed).

    A result that is too large for a job event of AWX says what it leaves out.
    run: the run of ansible-playbook that the task belongs to, if not the one of this process. contacts: the
    servers that have answered it. keep: gets the result before it is made small enough. applied: gets the
    objects that the module applies, or would apply.
    """
    started = time.monotonic()
    api: Api | None = None
    run = run or process.own_run()
    only_foresees = params.get("until") == "foreseen"
    check_mode = check_mode or only_foresees
    try:
        api = connect(params, name, check_mode, show, contacts=contacts, awaited=awaited)
        api.applied = applied
        result = _guarded(api, ensure, params, run)
    except AcceleratorError as exc:
        result = {**for_job(exc, run.job).to_result(), "failed": True}
    except Exception as exc:
        last = traceback.extract_tb(exc.__traceback__)[-1]
        where = f"{last.filename.rsplit('/', 1)[-1]}:{last.lineno}"
        bug = AcceleratorError("INTERNAL", error=f"{type(exc).__name__}: {exc}", where=where)
        result = {**bug.to_result(), "failed": True}
    finally:
        if api is not None:
            disconnect(api, name)
    result["duration"] = round(time.monotonic() - started, 3)
    result |= _written(api, check_mode, diff)
    if only_foresees:
        result["changed"] = False
    readable = redact.result(result)
    if keep:
        keep(readable)
    return bounded.result(readable)


def _written(api: Api | None, check_mode: bool, diff: bool) -> Result:
    """Return the keys of a result about what the task wrote, or would write, and how long it waited."""
    if api is None:
        return {"changed": False}
    found: Result = {"changed": bool(api.changes)}
    if api.waited:
        found["waited"] = round(api.waited, 3)
    if api.warnings:
        found["warnings"] = list(api.warnings)
    if diff and api.changes:
        found["diff"] = [
            {
                "before_header": change.object_name,
                "after_header": change.object_name,
                "before": change.before,
                "after": change.after,
                **({"manager": change.manager} if change.manager else {}),
            }
            for change in api.changes
        ]
    if check_mode:
        from .._core.diff import foreseen

        found["foreseen"] = foreseen(api.changes, api.kept, api.unchecked)
    return found


def _guarded(api: Api, ensure: Ensure, params: Params, run: Run) -> Result:
    """Call the module under the lease of its run; a failure gives the lease back."""
    takes = "lock_timeout" in params
    lease = Lease(api, run, process.is_gone, takes, float(params.get("lock_timeout") or 0))
    api.run, api.guard = run, lease
    try:
        return ensure(api, params)
    except AcceleratorError:
        lease.let_go()
        raise


def complaint(
    name: str,
    options: nested.Options,
    given: t.Mapping[str, t.Any],
    unsupported: t.Iterable[str],
    messages: t.Sequence[str],
    names: t.Mapping[str, str] | None = None,
) -> Result:
    """Return the result of a task with wrong options. Unknown options go before all other messages.

    unsupported, messages: what Ansible found wrong with the given options. names: the user's names of them.
    """
    found = nested.problems(options, given, names)
    if unknown := sorted(key for key in unsupported if isinstance(key, str) and key not in options):
        found.insert(
            0,
            f"Unsupported parameters for ({name}) module: "
            f"{', '.join(nested.near(option, options) for option in unknown)}. "
            f"Supported parameters include: {', '.join(sorted(options))}.",
        )
    texts = found or [_in_users_words(message, names or {}) for message in messages[:1]]
    remedy = f"Correct it; ansible-doc accelerators.openshift.{name} has the options."
    failure = InputError("INPUT-OPTION", " ".join(texts), remedy, texts).to_result()
    return redact.result({"failed": True, "changed": False, **failure})


def _in_users_words(message: str, names: t.Mapping[str, str]) -> str:
    """Return the message with the user's names in `value of NAME must be` or in a list: `exclusive: a|b`."""
    if wrong := re.match(r"value of (\w+)(?= must be one of)", message):
        return f"value of {names.get(wrong[1], wrong[1])}{message[wrong.end() :]}"
    text, colon, listed = message.rpartition(": ")
    return text + colon + re.sub(r"\w+", lambda found: names.get(found[0], found[0]), listed)


class _Module(AnsibleModule):  # type: ignore[misc]
    """An AnsibleModule that adds a code to AnsibleModule's own messages about options."""

    def fail_json(self, msg: str, **kwargs: t.Any) -> t.NoReturn:
        if "code" not in kwargs:
            unsupported = self.validation_result.unsupported_parameters
            name = str(self._name).rpartition(".")[2]
            kwargs = complaint(name, self.argument_spec, self.params, unsupported, [msg])
            msg = kwargs.pop("msg")
        kwargs.pop("failed", None)
        super().fail_json(msg, **kwargs)
        raise SystemExit(1)


def run(spec: ArgumentSpec, ensure: Ensure) -> None:
    """Run a module in its own process and exit, as Ansible expects."""
    module = _Module(argument_spec=dict(spec.options), supports_check_mode=True, **spec.constraints())
    module.no_log_values -= secrets.public_in_kubeconfig(module.params.get("kubeconfig"))
    name = str(module._name).rpartition(".")[2]
    result = execute(name, ensure, module.params, module.check_mode, module._diff)
    for warning in result.pop("warnings", []):
        module.warn(warning)
    if result.pop("failed", False):
        module.fail_json(**result)
    module.exit_json(**result)
