# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Whether the GPU driver can follow the nodes to the kernel of another release: Driver Toolkit, precompiled images, Modules of KMM."""

from __future__ import annotations

import typing as t

from ansible_collections.accelerators.openshift.plugins.module_utils import _driver_toolkit as toolkit
from ansible_collections.accelerators.openshift.plugins.module_utils import _kmm_kernels as kmm_kernels
from ansible_collections.accelerators.openshift.plugins.module_utils import _kmm_preflight as kmm_preflight
from ansible_collections.accelerators.openshift.plugins.module_utils._kernel_match import Match
from ansible_collections.accelerators.openshift.plugins.module_utils._node_system import suffix_of_release
from ansible_collections.accelerators.openshift.plugins.module_utils._update_check import BLOCKING, OK, UNKNOWN, WARNING, Check

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


def checks(matches: t.Sequence[Match], streams: t.Iterable[Data], target: Target) -> list[Check]:
    """One for each source of drivers in use, and one for the nodes whose driver does not fit today."""
    if not matches:
        return [Check("driver", OK, "no node has a GPU that a driver is there for")]
    found = []
    for source in sorted({one.source for one in matches}):
        nodes = [one for one in matches if one.source == source]
        if source == toolkit.BY_TOOLKIT:
            found.append(_toolkit(nodes, streams, target))
        elif source == toolkit.BY_IMAGE:
            found.append(_precompiled(nodes, target))
        elif source == toolkit.BY_PACKAGES:
            what = f"on {len(nodes)} nodes is built with packages of the new kernel, which need entitlements or a mirror"
            found.append(Check("driver (packages)", WARNING, what, "operator.use_ocp_driver_toolkit: true builds it without.", _CODE))
        elif source == toolkit.BY_HOST:
            what = f"on {len(nodes)} nodes is the host's own, and nobody in the cluster builds it for another kernel"
            found.append(Check("driver (host)", UNKNOWN, what, "Ask whoever made the nodes' image.", _CODE))
    return [*found, _today(matches)]


def _toolkit(nodes: t.Sequence[Match], streams: t.Iterable[Data], target: Target) -> Check:
    images, name = toolkit.images(streams), "driver (Driver Toolkit)"
    if target.rhcos in images:
        return Check(name, OK, f"ImageStream openshift/driver-toolkit has tag {target.rhcos}", evidence=(images[target.rhcos],))
    if not images:
        what = "ImageStream openshift/driver-toolkit has no tag at all: the drivers of today were not built with it, and those of tomorrow cannot be"
        return Check(name, BLOCKING, what, "Look at `oc get imagestream driver-toolkit -n openshift`, and at the operator openshift-samples.", _CODE)
    wanted = f"tag {target.rhcos}" if target.rhcos else "the tag of the release's RHCOS"
    what = f"{wanted} comes with the release itself, before the first node restarts; {len(nodes)} nodes build for the new kernel then"
    remedy = f"Whether the image can be pulled is seen only then: on a mirror, look for `oc adm release info {target.version} --image-for=driver-toolkit`."
    return Check(name, UNKNOWN, what, remedy, _CODE, tuple(sorted(images)))


def _precompiled(nodes: t.Sequence[Match], target: Target) -> Check:
    name = "driver (precompiled)"
    if not target.kernel:
        what = f"{len(nodes)} nodes need an image for the kernel of {target.version}, which the cluster does not know before"
        return Check(name, UNKNOWN, what, _LEARN.format(version=target.version), _CODE)
    suffix = suffix_of_release(target.release, target.rhcos)
    if not suffix:
        remedy = "Give rhcos as well: the image's tag ends with the release of RHEL in it."
        return Check(name, UNKNOWN, f"the tag for kernel {target.kernel} cannot be told without the version of RHCOS", remedy, _CODE)
    wanted = sorted({image for one in nodes if (image := _image_for(one, target.kernel, suffix))})
    if not wanted:
        return Check(name, UNKNOWN, "no driver DaemonSet shows today which image is asked for", "Mend the stack first.", _CODE)
    if target.images is None:
        what = f"needed are {', '.join(wanted)}; what a registry has is not seen from inside the cluster"
        return Check(name, UNKNOWN, what, f"`skopeo inspect docker://{wanted[0]}`, or give driver_images.", _CODE, tuple(wanted))
    missing = [image for image in wanted if image not in target.images and image.rpartition(":")[2] not in target.images]
    if missing:
        what = f"no image for kernel {target.kernel}: {', '.join(missing)}"
        return Check(name, BLOCKING, what, "Build and push it before the update.", _CODE, tuple(missing))
    return Check(name, OK, f"driver_images has {', '.join(wanted)}", evidence=tuple(wanted))


def _image_for(node: Match, kernel: str, suffix: str) -> str:
    """The image of today with the other kernel and system at the end of its tag."""
    image = toolkit.driver_image(node.daemonset) if node.daemonset else ""
    repository, _colon, tag = image.rpartition(":")
    version, found, _rest = tag.partition(f"-{node.system.labelled}")
    return f"{repository}:{toolkit.precompiled_tag(version, kernel, suffix)}" if repository and found else ""


def _today(matches: t.Sequence[Match]) -> Check:
    wrong = [one for one in matches if one.misfit or not one.driver_ready]
    if not wrong:
        return Check("kernels of today", OK, f"driver and kernel fit on all {len(matches)} GPU nodes")
    lines = tuple(f"{one.node['metadata']['name']}: {one.misfit.message if one.misfit else 'its driver is not ready'}" for one in wrong)
    remedy = next((one.misfit.remedy for one in wrong if one.misfit), "Run special_resource, which says what is wrong.")
    return Check("kernels of today", WARNING, f"{len(wrong)} of {len(matches)} nodes have no fitting driver today: {'; '.join(lines)}", remedy, _CODE, lines)


def modules(live: t.Iterable[Data], validations: t.Iterable[Data], target: Target) -> list[Check]:
    """Modules of KMM, by their kernel mappings, and by what a PreflightValidation for that kernel has found."""
    proofs = [one for one in validations if (one.get("spec") or {}).get("kernelVersion") == target.kernel]
    results = {(one["namespace"], one["name"]): one for proof in proofs for one in kmm_preflight.modules(proof)}
    return [_module(one, results, target) for one in live]


def _module(live: Data, results: t.Mapping[tuple[str, str], Data], target: Target) -> Check:
    metadata = live["metadata"]
    name, code = f"module {metadata['namespace']}/{metadata['name']}", "UPDATE-KMM"
    if not target.kernel:
        return Check(name, UNKNOWN, "whether a kernel mapping fits is not known without the kernel", _LEARN.format(version=target.version), code)
    found = results.get((metadata["namespace"], metadata["name"])) or results.get(("", metadata["name"])) or {}
    if found.get("status") == "Success":
        return Check(name, OK, f"its PreflightValidation for {target.kernel} succeeded")
    if found.get("status") == "Failure":
        what = f"its PreflightValidation for {target.kernel} failed: {found['reason']}"
        return Check(name, BLOCKING, what, "Build or sign the image for that kernel, then validate again.", code)
    container = ((live["spec"].get("moduleLoader") or {}).get("container")) or {}
    fitting = [one for one in container.get("kernelMappings") or [] if kmm_kernels.fits(one, target.kernel)]
    if not fitting:
        return Check(name, BLOCKING, f"no kernel mapping fits {target.kernel}", "Add a mapping (literal or regexp) to the Module.", code)
    how = "would be built in the cluster" if (fitting[0].get("build") or container.get("build")) else "has to be in its registry"
    remedy = f"Have it proved: special_resource with backend kmm and a preflight for {target.kernel}, or a PreflightValidationOCP of your own."
    return Check(name, UNKNOWN, f"a kernel mapping fits {target.kernel}; its image {how}, which nobody has tried", remedy, code)
