# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""The API server: credentials, requests with retries, reads, writes and waits. Nothing else uses HTTP."""
