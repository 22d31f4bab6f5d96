# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the OAuth server remembers about users, codes and tokens."""

from __future__ import annotations

import pytest

from openshift_sandbox.stand_ins.oauth.tokens import LIFETIME, Tokens, object_name

USERS = {
    "joe": {"password": "pass-of-joe", "user": "joe", "groups": ["a"]},
    "nobody": {"password": "", "user": "nobody", "groups": []},
}


@pytest.mark.parametrize(
    ("login", "password", "known"),
    [
        ("joe", "pass-of-joe", True),
        ("joe", "other", False),
        ("joe", "", False),
        ("jim", "pass-of-joe", False),
        ("nobody", "", False),
        ("joe", "pässwörd", False),
    ],
)
def test_who_is_known(login: str, password: str, known: bool) -> None:
    assert Tokens(USERS).is_known(login, password) is known


def test_a_code_is_good_for_one_token() -> None:
    tokens = Tokens(USERS)
    code = tokens.code("joe")
    token = tokens.redeem(code)
    assert token is not None
    assert tokens.redeem(code) is None
    assert (tokens.user(token) or {})["username"] == "joe"
    assert tokens.user(code) is None


def test_a_token_ends_when_it_is_revoked_or_expires() -> None:
    now = [1000.0]
    tokens = Tokens(USERS, lambda: now[0])
    one, other = tokens.issue("joe"), tokens.issue("joe")
    assert tokens.of((tokens.user(one) or {})["uid"]) == sorted([object_name(one), object_name(other)])
    assert tokens.revoke(object_name(one))
    assert not tokens.revoke(object_name(one))
    assert tokens.user(one) is None
    assert tokens.user(other) is not None
    now[0] += LIFETIME
    assert tokens.user(other) is None


def test_the_name_of_a_token_is_openshifts() -> None:
    # Calculated with `printf %s abc | sha256sum | xxd -r -p | basenc --base64url`.
    assert object_name("sha256~abc") == "sha256~ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"
