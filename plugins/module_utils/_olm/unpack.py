# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Bundles that OLM cannot unpack: the Job in the catalogue's namespace names the image."""

from __future__ import annotations

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import AcceleratorError
from ansible_collections.accelerators.openshift.plugins.module_utils._core.objects import KubeObject
from ansible_collections.accelerators.openshift.plugins.module_utils._core.ownership import owned
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.kinds import known
from ansible_collections.accelerators.openshift.plugins.module_utils._olm import bundle
from ansible_collections.accelerators.openshift.plugins.module_utils._olm.progress import ASKED_AGAIN


def explained(api: Api, trouble: AcceleratorError, namespace: str) -> AcceleratorError:
    """Return the failure with the bundle's image, the Job and what they say.

    namespace: the one of the catalogue, where OLM unpacks bundles.
    """
    try:
        found = bundle.stuck_jobs(api.list(known("Job"), namespace), api.list(known("Pod"), namespace))
    except AcceleratorError as exc:
        return _with_evidence(
            trouble,
            trouble.message,
            trouble.remedy,
            [*trouble.evidence, f"Jobs in namespace {namespace} cannot be read: {exc.message}"],
        )
    if not found:
        return _with_evidence(
            trouble,
            trouble.message,
            trouble.remedy,
            [*trouble.evidence, f"No unpack Job in namespace {namespace} is at work or failed."],
        )
    lines = [f"Bundle image {one.image}: {one.said} (Job {one.job})" for one in found]
    images, jobs = ", ".join(dict.fromkeys(one.image for one in found)), " ".join(one.job for one in found)
    remedy = (
        f"Make {images} readable on the nodes "
        "(mirror, ImageDigestMirrorSet, the CatalogSource's spec.secrets), "
        f"then: oc -n {namespace} delete job {jobs}"
    )
    return _with_evidence(
        trouble, f"{trouble.message.rstrip('.')}. {'. '.join(lines)}.", remedy, [*trouble.evidence, *lines]
    )


def begin_again(api: Api, subscription: KubeObject, namespace: str) -> bool:
    """Make OLM unpack the bundle again if nobody else can, and return True if it will.

    After the failed Job was deleted OLM looks again only after minutes, unless the Subscription changes.
    """
    metadata = subscription["metadata"]
    try:
        if not owned(subscription) or bundle.stuck_jobs(api.list(known("Job"), namespace), []):
            return False
    except AcceleratorError:
        return False
    note = {"metadata": {"annotations": {ASKED_AGAIN: f"unpacking, {metadata['resourceVersion']}"}}}
    api.merge_patch(known("Subscription"), metadata["name"], metadata["namespace"], note)
    return True


def _with_evidence(
    trouble: AcceleratorError, message: str, remedy: str, evidence: list[str]
) -> AcceleratorError:
    return type(trouble)(trouble.code, message, remedy, evidence, trouble.facts)
