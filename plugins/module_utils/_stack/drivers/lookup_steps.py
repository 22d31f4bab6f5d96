# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
# PRIVATE: this module util is for the collection's own plugins and can change without notice.
"""Images are looked up by the cluster itself: with its pull secrets, its proxies and its mirrors, and without a trace."""

from __future__ import annotations

import copy
import typing as t
from dataclasses import replace

from ansible_collections.accelerators.openshift.plugins.module_utils._core.errors import (
    ApiError,
    ForbiddenError,
    KindNotServedError,
)
from ansible_collections.accelerators.openshift.plugins.module_utils._kube.client import Api
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import lookup

# A registry that does not answer holds the server up for half a minute, and more than one look at it tells nothing new.
PATIENCE: t.Final = 40.0


def look_up(api: Api, images: t.Iterable[str], namespace: str) -> dict[str, lookup.Answer]:
    """Several images in one request, as pods of the namespace would pull them. Whoever cannot ask is told so for each image; this never fails.

    A dry run of a request that stores nothing anyway: it is the same in check mode, and is sent again like any question.
    """
    wanted = sorted(set(images))
    if not wanted:
        return {}
    try:
        told = _patient(api).dry_run_create(lookup.question(wanted, namespace))
    except KindNotServedError:
        return lookup.not_asked(wanted, "this cluster has no API that looks images up")
    except ForbiddenError as exc:
        missing = f"the identity lacks the verb create on imagestreamimports.image.openshift.io in namespace {namespace}"
        return lookup.not_asked(wanted, missing if exc.code == "API-FORBIDDEN" else exc.message)
    except ApiError as exc:
        return lookup.not_asked(wanted, exc.message)
    return lookup.answers(wanted, told)


def _patient(api: Api) -> Api:
    """The same connection, which waits longer for an answer and does not ask for long."""
    http = copy.copy(api.http)
    http.limits = http.limits._replace(first_read=PATIENCE, outage=PATIENCE)
    return replace(api, http=http)
