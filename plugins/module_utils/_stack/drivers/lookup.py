# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Ask OpenShift's API server whether images exist; it asks the registries as the cluster would."""

from __future__ import annotations

import re
import typing as t

Data = dict[str, t.Any]
API_VERSION: t.Final = "image.openshift.io/v1"
KIND: t.Final = "ImageStreamImport"
# No image stream needs this name, and the request creates none.
NAME: t.Final = "accelerators-image-lookup"
# What is known of an image. REFUSED: the registry or the cluster denies access, so the image may exist.
THERE, MISSING, REFUSED, UNREACHABLE, NOT_ASKED = (
    "there",
    "missing",
    "not allowed",
    "unreachable",
    "not asked",
)
_LEAD: t.Final = "Internal error occurred: "
# With mirrors the message has one text for each registry; the image is missing only if all of them say so.
_NOT_FOUND: t.Final = re.compile(
    r'(?:dockerimage\S* "[^"]+" not found|[^\s,\[\]"]+: (?:name|manifest) unknown(?:: [^,\[\]]*)?)'
)
_DENIED: t.Final = re.compile(r": (?:denied|unauthorized): ")
_BY_REASON: t.Final = {"NotFound": MISSING, "Unauthorized": REFUSED, "Forbidden": REFUSED}


class Answer(t.NamedTuple):
    """Whether an image exists. words: the server's message; empty if the image exists."""

    image: str
    verdict: str
    digest: str = ""
    words: str = ""


def question(images: t.Sequence[str], namespace: str) -> Data:
    """Return the ImageStreamImport that asks for the images and imports nothing.

    PreserveOriginal accepts an image that lacks the manifest of an architecture.
    """
    policy = {"importMode": "PreserveOriginal"}
    wanted = [{"from": {"kind": "DockerImage", "name": image}, "importPolicy": policy} for image in images]
    return {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "metadata": {"name": NAME, "namespace": namespace},
        "spec": {"import": False, "images": wanted},
        "status": {},
    }


def answers(images: t.Sequence[str], told: Data) -> dict[str, Answer]:
    """Return image -> answer. told: the server's reply, which lists images in the order of the question."""
    entries = (told.get("status") or {}).get("images") or []
    return {
        image: _answer(image, entries[at] if at < len(entries) else {}) for at, image in enumerate(images)
    }


def not_asked(images: t.Iterable[str], words: str) -> dict[str, Answer]:
    """Return image -> answer NOT_ASKED, with the reason in words."""
    return {image: Answer(image, NOT_ASKED, words=words) for image in images}


def best(images: t.Sequence[str], known: t.Mapping[str, Answer]) -> Answer:
    """Return the answer for a group of which one image is enough: THERE if one exists, MISSING if all are
    missing, else the first unknown one.
    """
    told = [known.get(image) or Answer(image, NOT_ASKED, words="nobody asked") for image in images]
    there = next((one for one in told if one.verdict == THERE), None)
    return there or next((one for one in told if one.verdict != MISSING), told[0])


def _answer(image: str, entry: Data) -> Answer:
    status = entry.get("status") or {}
    if not status.get("status"):
        return Answer(image, NOT_ASKED, words="the server said nothing about it")
    if status["status"] == "Success":
        return Answer(
            image, THERE, digest=str((((entry.get("image") or {}).get("metadata")) or {}).get("name") or "")
        )
    reason, words = str(status.get("reason") or ""), str(status.get("message") or status.get("reason") or "")
    words = words.removeprefix(_LEAD)
    return Answer(image, _BY_REASON.get(reason) or _by_words(words), words=words)


def _by_words(words: str) -> str:
    """Return the verdict for a message of one or more registries that has no reason field."""
    if not _NOT_FOUND.sub("", words).strip("[], "):
        return MISSING
    return REFUSED if _DENIED.search(words) else UNREACHABLE
