# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What EC2 says when it refuses an instance, as the AWS machine provider reports it.

Request ids and encoded messages are made up.
"""

from __future__ import annotations

import typing as t

REQUEST: t.Final = "request id: 6f2b1c0e-3d4a-4b5c-9e8f-7a6b5c4d3e2f"

CAPACITY: t.Final = (
    "We currently do not have sufficient {type} capacity in the Availability Zone"
    " you requested ({zone}). Our system will be working on provisioning additional capacity. You can "
    "currently get {type} capacity by not"
    " specifying an Availability Zone in your request or choosing another one."
)
NO_SPOT: t.Final = "There is no Spot capacity available that matches your request."
QUOTA: t.Final = (
    "You have requested more vCPU capacity than your current vCPU limit of {limit} allows for the "
    "instance bucket that"
    " the specified instance type belongs to. Please visit http://aws.amazon.com/contact-us/"
    "ec2-request to request an adjustment to this limit."
)
UNKNOWN: t.Final = "Invalid value '{type}' for InstanceType."
SUBNET_FULL: t.Final = (
    "There are not enough free addresses in subnet '{subnet}' to satisfy the requested number of instances."
)
UNAUTHORIZED: t.Final = (
    "You are not authorized to perform this operation. Encoded authorization failure message: "
    "dGhpcyBpcyBhIHNhbmRib3g"
)
IMAGE: t.Final = "The image id '[{image}]' does not exist"


def launching(text: str, **fields: object) -> str:
    """Return an error of the client: the provider drops its code."""
    return f"error launching instance: {text.format(**fields)}"


def creating(code: str, text: str, **fields: object) -> str:
    """Return an error of the service, with its code."""
    return f"error creating EC2 instance: {code}: {text.format(**fields)}\n\tstatus code: 500, {REQUEST}"


def no_image(image: str, has_disks: bool) -> str:
    """Return the error about an image that does not exist; the provider reads it only for its root disk."""
    text = IMAGE.format(image=image)
    if has_disks:
        return (
            "error getting blockDeviceMappings: error describing AMI: InvalidAMIID.NotFound: "
            f"{text}\n\tstatus code: 400, {REQUEST}"
        )
    return launching(text)
