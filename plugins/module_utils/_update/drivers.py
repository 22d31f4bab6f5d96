# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Whether the GPU driver can follow the nodes to the kernel of another release: Driver Toolkit, precompiled images, Modules of KMM."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils._nodes.system import suffixes_of_release
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import toolkit
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.kernel import Match
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers.lookup import (
    MISSING,
    THERE,
    best,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.kmm import (
    kernels,
    preflight as kmm_preflight,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._update import images as update_images
from ansible_collections.accelerators.openshift.plugins.module_utils._update.check import (
    BLOCKING,
    OK,
    UNKNOWN,
    WARNING,
    Check,
)

Data = dict[str, t.Any]
_CODE: t.Final = "UPDATE-DRIVER"
_LEARN: t.Final = (
    "Give kernel and rhcos: `podman run --rm $(oc adm release info {version} --image-for=driver-toolkit) cat /etc/driver-toolkit-release.json`, "
    "and `oc adm release info {version}` names machine-os."
)


class Target(t.NamedTuple):
    """Where the update leads. kernel, rhcos: as far as the user knows them. images: driver images that the user's registry has; None: nobody said."""

    version: str
    release: tuple[int, int]
    kernel: str
    rhcos: str
    images: frozenset[str] | None


def checks(
    matches: t.Sequence[Match], streams: t.Iterable[Data], target: Target, known: update_images.Answers
) -> list[Check]:
    """One for each source of drivers in use, and one for the nodes whose driver does not fit today. known: what was found out about images."""
    if not matches:
        return [Check("driver", OK, "no node has a GPU that a driver is there for")]
    found = []
    for source in sorted({one.source for one in matches}):
        nodes = [one for one in matches if one.source == source]
        if source == toolkit.BY_TOOLKIT:
            found.append(_toolkit(nodes, streams, target))
            if needs := update_images.of_drivers(nodes, target):
                found.append(
                    update_images.judged(
                        "driver image", needs, known, _CODE, f"the RHCOS of {target.version}"
                    )
                )
        elif source == toolkit.BY_IMAGE:
            found.append(_precompiled(nodes, target, known))
        elif source == toolkit.BY_PACKAGES:
            what = f"on {len(nodes)} nodes is built with packages of the new kernel, which need entitlements or a mirror"
            found.append(
                Check(
                    "driver (packages)",
                    WARNING,
                    what,
                    "operator.use_ocp_driver_toolkit: true builds it without.",
                    _CODE,
                )
            )
        elif source == toolkit.BY_HOST:
            what = f"on {len(nodes)} nodes is the host's own, and nobody in the cluster builds it for another kernel"
            found.append(Check("driver (host)", UNKNOWN, what, "Ask whoever made the nodes' image.", _CODE))
    return [*found, _today(matches)]


def _toolkit(nodes: t.Sequence[Match], streams: t.Iterable[Data], target: Target) -> Check:
    images, name = toolkit.images(streams), "driver (Driver Toolkit)"
    if target.rhcos in images:
        return Check(
            name,
            OK,
            f"ImageStream openshift/driver-toolkit has tag {target.rhcos}",
            evidence=(images[target.rhcos],),
        )
    if not images:
        what = "ImageStream openshift/driver-toolkit has no tag at all: the drivers of today were not built with it, and those of tomorrow cannot be"
        return Check(
            name,
            BLOCKING,
            what,
            "Look at `oc get imagestream driver-toolkit -n openshift`, and at the operator openshift-samples.",
            _CODE,
        )
    wanted = f"tag {target.rhcos}" if target.rhcos else "the tag of the release's RHCOS"
    what = f"{wanted} comes with the release itself, before the first node restarts; {len(nodes)} nodes build for the new kernel then"
    remedy = f"Whether the image can be pulled is seen only then: on a mirror, look for `oc adm release info {target.version} --image-for=driver-toolkit`."
    return Check(name, UNKNOWN, what, remedy, _CODE, tuple(sorted(images)))


def _precompiled(nodes: t.Sequence[Match], target: Target, known: update_images.Answers) -> Check:
    name = "driver (precompiled)"
    if not target.kernel:
        what = f"{len(nodes)} nodes need an image for the kernel of {target.version}, which the cluster does not know before"
        return Check(name, UNKNOWN, what, _LEARN.format(version=target.version), _CODE)
    if not suffixes_of_release(target.release, target.rhcos, ""):
        remedy = "Give rhcos as well: the image's tag ends with the release of RHEL in it."
        return Check(
            name,
            UNKNOWN,
            f"the tag for kernel {target.kernel} cannot be told without the version of RHCOS",
            remedy,
            _CODE,
        )
    needs = update_images.of_drivers(nodes, target)
    if not needs:
        return Check(
            name,
            UNKNOWN,
            "no driver DaemonSet shows today which image is asked for",
            "Mend the stack first.",
            _CODE,
        )
    return update_images.judged(name, needs, known, _CODE, f"kernel {target.kernel}")


def _today(matches: t.Sequence[Match]) -> Check:
    wrong = [one for one in matches if one.misfit or not one.driver_ready]
    if not wrong:
        return Check("kernels of today", OK, f"driver and kernel fit on all {len(matches)} GPU nodes")
    lines = tuple(
        f"{one.node['metadata']['name']}: {one.misfit.message if one.misfit else 'its driver is not ready'}"
        for one in wrong
    )
    remedy = next(
        (one.misfit.remedy for one in wrong if one.misfit), "Run special_resource, which says what is wrong."
    )
    return Check(
        "kernels of today",
        WARNING,
        f"{len(wrong)} of {len(matches)} nodes have no fitting driver today: {'; '.join(lines)}",
        remedy,
        _CODE,
        lines,
    )


def modules(
    live: t.Iterable[Data], validations: t.Iterable[Data], target: Target, known: update_images.Answers
) -> list[Check]:
    """Modules of KMM, by their kernel mappings, what a PreflightValidation for that kernel has found, and what is known of their images."""
    proofs = [one for one in validations if (one.get("spec") or {}).get("kernelVersion") == target.kernel]
    results = {
        (one["namespace"], one["name"]): one for proof in proofs for one in kmm_preflight.modules(proof)
    }
    return [_module(one, results, target, known) for one in live]


def _module(
    live: Data, results: t.Mapping[tuple[str, str], Data], target: Target, known: update_images.Answers
) -> Check:
    metadata = live["metadata"]
    name, code = f"module {metadata['namespace']}/{metadata['name']}", "UPDATE-KMM"
    if not target.kernel:
        return Check(
            name,
            UNKNOWN,
            "whether a kernel mapping fits is not known without the kernel",
            _LEARN.format(version=target.version),
            code,
        )
    found = (
        results.get((metadata["namespace"], metadata["name"])) or results.get(("", metadata["name"])) or {}
    )
    if found.get("status") == "Success":
        return Check(name, OK, f"its PreflightValidation for {target.kernel} succeeded")
    if found.get("status") == "Failure":
        what = f"its PreflightValidation for {target.kernel} failed: {found['reason']}"
        return Check(
            name, BLOCKING, what, "Build or sign the image for that kernel, then validate again.", code
        )
    container = ((live["spec"].get("moduleLoader") or {}).get("container")) or {}
    fitting = [one for one in container.get("kernelMappings") or [] if kernels.fits(one, target.kernel)]
    if not fitting:
        return Check(
            name,
            BLOCKING,
            f"no kernel mapping fits {target.kernel}",
            "Add a mapping (literal or regexp) to the Module.",
            code,
        )
    names, is_built = (
        update_images.of_module(live, target),
        bool(fitting[0].get("build") or container.get("build")),
    )
    told = best(names, known) if names else None
    if told and told.verdict == THERE:
        return Check(
            name,
            OK,
            f"a kernel mapping fits {target.kernel}, and its image {told.image} is there",
            evidence=(told.digest,) if told.digest else (),
        )
    if told and told.verdict == MISSING and not is_built:
        remedy = "Build and push it before the update, or let KMM build it."
        return Check(
            name,
            BLOCKING,
            f"a kernel mapping fits {target.kernel}, and there is no image {told.image} ({told.words})",
            remedy,
            code,
            names,
        )
    how = "would be built in the cluster" if is_built else "has to be in its registry"
    said = f" ({told.verdict}: {told.words})" if told and not is_built and told.words else ""
    remedy = f"Have it proved: special_resource with backend kmm and a preflight for {target.kernel}, or a PreflightValidationOCP of your own."
    return Check(
        name,
        UNKNOWN,
        f"a kernel mapping fits {target.kernel}; its image {how}, which nobody has tried{said}",
        remedy,
        code,
    )
