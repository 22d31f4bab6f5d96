"""The variables of rotate_pull_secret.yml end the failures of pull secrets."""

from __future__ import annotations

import functools
import typing as t
from pathlib import Path

from unit.engine import api_on
from unit.pull_secret.builders import OLD, Registry, pod, policy, secret
from unit.remedies.case import Case, Cases, Options, ensured

MODULE: t.Final = "gpu_pull_secret"
FILES: t.Final = Path(__file__).parent / "files"
FILE, NAMES = "gpu_pull_secret_file", "gpu_pull_secret_names"
NVCR: t.Final = str(FILES / "nvcr.json")


def rotate(options: Options, *objects: t.Any, **more: t.Any) -> str | None:
    """Give the pull secret ngc, which the driver uses, a new content."""
    server = Registry(*(objects or (policy(), secret(OLD), pod())))
    return ensured(MODULE, api_on(server), {"path": NVCR, **more, **options})


def drops(options: Options, **more: t.Any) -> str | None:
    """Replace a Secret that has a login for another registry too."""
    return rotate(options, policy(), secret(OLD, "nvcr.io", "quay.io"), pod(), **more)


def two_secrets(options: Options, of_other: str, **metadata: t.Any) -> str | None:
    """Replace ngc; the operator's images use another Secret, with a login for another registry."""
    names = {"driver": {"imagePullSecrets": ["ngc"]}, "operator": {"imagePullSecrets": ["other"]}}
    objects = [
        policy(**names),
        secret(OLD),
        pod(),
        secret(OLD, of_other, name="other", **metadata),
        pod("operator-1", f"{of_other}/tool:1", pulls=["other"]),
    ]
    return rotate(options, *objects)


def case(run: t.Callable[..., str | None], value: str, before: str = "") -> Case:
    return Case(MODULE, run, value, before)


def file(object_name: str) -> str:
    return str(FILES / object_name)


CASES: t.Final[Cases] = {
    ("PULL-CONFIG", FILE): case(rotate, NVCR, file("helper.json")),
    ("PULL-REFUSED", FILE): case(rotate, NVCR, file("expired.json")),
    ("PULL-DROPS", FILE): case(drops, file("nvcr_and_quay.json"), NVCR),
    ("PULL-DROPS", "gpu_pull_secret_drop"): case(drops, "true"),
    ("PULL-REGISTRY", FILE): case(rotate, NVCR, file("quay.json")),
    ("PULL-REGISTRY", NAMES): case(functools.partial(two_secrets, of_other="quay.io"), "[ngc]"),
    ("PULL-UNKNOWN", NAMES): case(rotate, "[ngc]", "[registry]"),
    ("PULL-OWNER", NAMES): case(
        functools.partial(two_secrets, of_other="nvcr.io", labels={"app.kubernetes.io/managed-by": "Vault"}),
        "[ngc]",
    ),
}
