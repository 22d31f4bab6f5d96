# Copyright: Contributors to the accelerators.openshift collection
# GNU General Public License v3.0+ (see COPYING or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""This machine asks registries as nodes do, and says what it does not prove about nodes."""

from __future__ import annotations

import base64
import typing as t
from urllib.parse import parse_qs, urlsplit

import pytest
from unit.engine import api_on
from unit.fake_server import Answer, FakeServer
from unit.mirrors.builders import DIGEST, MIRROR, mirror_set

from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors import rules
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.images import Wanted
from ansible_collections.accelerators.openshift.plugins.module_utils._mirrors.registry import Registries
from ansible_collections.accelerators.openshift.plugins.module_utils._stack.drivers import image

Data = dict[str, t.Any]
BY_DIGEST, BY_TAG = f"nvcr.io/nvidia/driver@{DIGEST}", "nvcr.io/nvidia/driver:580-rhel9"
PLACE: t.Final = "/v2/nvcr/nvidia/driver"
LOGIN: t.Final = base64.b64encode(b"mirror:password").decode()
AUTHS: t.Final = {MIRROR: {"username": "mirror", "password": "password"}}
SETS: t.Final = [mirror_set(never=True, nvcr_dot_io=f"{MIRROR}/nvcr")]
IMAGE: t.Final = {
    "config": {"digest": "sha256:c"},
    "layers": [{"digest": "sha256:l"}, {"digest": "sha256:m"}],
}
INDEX: t.Final = {
    "manifests": [
        {"digest": f"sha256:{arch}", "platform": {"os": "linux", "architecture": arch}}
        for arch in ("amd64", "arm64")
    ]
    + [{"digest": "sha256:sbom", "platform": {"os": "unknown", "architecture": "unknown"}}]
}
TEXT: t.Final = {"Content-Type": "application/octet-stream"}


def error(status: int, code: str, text: str) -> Answer:
    return Answer(status, {"errors": [{"code": code, "message": text}]})


class Mirror(FakeServer):
    """A registry with one image. special: path -> answer instead of the usual one. silent: hosts.

    asked: URL of each request, with its Authorization.
    """

    def __init__(self, **special: t.Any) -> None:
        super().__init__()
        self.request = self.ask
        self.scheme = "Bearer"
        self.realm = f"https://{MIRROR}/token"
        self.more = ""
        self.silent: set[str] = set()
        self.special: dict[str, t.Any] = special
        self.asked: list[tuple[str, str, str]] = []

    def ask(
        self,
        method: str,
        url: str,
        body: bytes | None = None,
        headers: t.Mapping[str, str] | None = None,
        **more: t.Any,
    ) -> Answer:
        # A blob that is elsewhere is there; a manifest is read where it is.
        assert more["redirect"] is (method == "GET")
        login = (headers or {}).get("Authorization", "")
        self.asked.append((method, url, login))
        parts = urlsplit(url)
        if parts.netloc in self.silent:
            raise ConnectionRefusedError("refused")
        if parts.path == "/token":
            assert parse_qs(parts.query)["scope"] == ["repository:nvcr/nvidia/driver:pull"]
            return (
                Answer(200, {"token": "token-of-the-mirror"})
                if login == f"Basic {LOGIN}"
                else Answer(401, {})
            )
        wanted = "Bearer token-of-the-mirror" if self.scheme == "Bearer" else f"Basic {LOGIN}"
        if login != wanted and parts.netloc == MIRROR:
            scope = 'scope="repository:nvcr/nvidia/driver:pull"'
            challenge = f'{self.scheme} realm="{self.realm}",service="mirror",{scope}'
            refused = {"errors": [{"message": "authentication required"}]}
            return Answer(401, refused, {"WWW-Authenticate": challenge + self.more})
        kind = parts.path.removeprefix(f"{PLACE}/")
        if kind in self.special:
            return t.cast(Answer, self.special[kind].copy())
        usual = {
            f"manifests/{DIGEST}": Answer(200, INDEX, {"Docker-Content-Digest": DIGEST}),
            "manifests/580-rhel9": Answer(200, IMAGE),
            "manifests/sha256:amd64": Answer(200, IMAGE),
            "manifests/sha256:arm64": Answer(200, IMAGE),
            "blobs/sha256:c": Answer(200, '{"architecture": "arm64"}', TEXT),
            "blobs/sha256:l": Answer(307, "", TEXT),
        }
        return usual.get(kind) or error(404, "MANIFEST_UNKNOWN", "manifest unknown")


def ask(
    server: Mirror,
    name: str = BY_DIGEST,
    sets: t.Sequence[Data] = SETS,
    auths: Data | None = AUTHS,
    archs: tuple[str, ...] = ("amd64", "arm64"),
) -> image.Answer:
    wanted = Wanted(name, "driver", ("training",), archs)
    (found,) = Registries(api_on(server), auths, []).look_up([(wanted, rules.route(name, sets))])
    return found


def test_an_image_is_there_with_its_digest_and_architectures() -> None:
    server = Mirror()
    found = ask(server)
    assert found == image.Answer(BY_DIGEST, image.THERE, DIGEST, archs=("amd64", "arm64"))
    paths = [(method, urlsplit(url).path.removeprefix(PLACE)) for method, url, _login in server.asked]
    assert paths[:3] == [("GET", f"/manifests/{DIGEST}"), ("GET", "/token"), ("GET", f"/manifests/{DIGEST}")]
    assert ("HEAD", "/blobs/sha256:c") in paths
    assert ("HEAD", "/blobs/sha256:l") in paths
    # The token of the API server stays with the API server.
    assert {login for _method, _url, login in server.asked} == {
        "",
        f"Basic {LOGIN}",
        "Bearer token-of-the-mirror",
    }


def test_an_image_without_an_index_has_the_architecture_of_its_configuration() -> None:
    sets = [mirror_set("ImageTagMirrorSet", True, nvcr_dot_io=f"{MIRROR}/nvcr")]
    assert ask(Mirror(), BY_TAG, sets) == image.Answer(BY_TAG, image.THERE, archs=("arm64",))


def test_a_registry_may_ask_for_user_and_password() -> None:
    server = Mirror()
    server.scheme = "Basic"
    assert ask(server).verdict == image.THERE


@pytest.mark.parametrize(
    ("refused", "verdict", "words"),
    [
        (error(404, "MANIFEST_UNKNOWN", "unknown, as such"), image.MISSING, ": manifest unknown"),
        (error(401, "UNAUTHORIZED", "no"), image.REFUSED, ": unauthorized: no"),
        (error(403, "DENIED", "no right"), image.REFUSED, ": denied: no right"),
        (Answer(451, "read the license", TEXT), image.REFUSED, ": denied: HTTP 451"),
        (error(429, "TOOMANYREQUESTS", "slowly"), image.UNREACHABLE, ": toomanyrequests: slowly"),
        (Answer(502, "bad gateway", TEXT), image.UNREACHABLE, ": HTTP 502: HTTP 502"),
        (Answer(500, {"errors": ["oops"]}), image.UNREACHABLE, ": HTTP 500: HTTP 500"),
        (Answer(500, {"errors": {"detail": "oops"}}), image.UNREACHABLE, ": HTTP 500: HTTP 500"),
        # The page of a proxy, or of a registry's login.
        (Answer(200, "<html>Please log in", TEXT), image.UNREACHABLE, ": HTTP 200: no manifest"),
    ],
)
def test_a_refusal_has_the_words_of_the_api_server(refused: Answer, verdict: str, words: str) -> None:
    found = ask(Mirror(**{f"manifests/{DIGEST}": refused}))
    assert (found.verdict, found.words) == (verdict, f"{MIRROR}/nvcr/nvidia/driver@{DIGEST}{words}")


@pytest.mark.parametrize("auths", [{}, {MIRROR: {"auth": base64.b64encode(b"mirror:old").decode()}}])
def test_a_login_that_is_not_there_or_not_good_is_refused(auths: Data) -> None:
    found = ask(Mirror(), auths=auths)
    assert (found.verdict, "unauthorized: authentication required" in found.words) == (image.REFUSED, True)


@pytest.mark.parametrize("is_named", [True, False])
def test_a_token_that_expires_is_renewed(is_named: bool) -> None:
    server = Mirror()
    usual, over = server.ask, [f"{PLACE}/manifests/sha256:arm64"]

    def expiring(method: str, url: str, **more: t.Any) -> Answer:
        path = urlsplit(url).path
        if path in over and (more.get("headers") or {}).get("Authorization"):
            over.remove(path)
            return usual(method, url, **more | {"headers": {}}) if is_named else Answer(401, {})
        return usual(method, url, **more)

    server.request = expiring
    assert ask(server).verdict == image.THERE
    assert [urlsplit(url).path for _method, url, _login in server.asked].count("/token") == 2


def test_a_registry_may_offer_two_logins() -> None:
    server = Mirror()
    server.more = ', Basic realm="Registry"'
    assert ask(server).verdict == image.THERE


def test_the_next_mirror_is_asked_where_the_first_one_fails() -> None:
    server = Mirror()
    usual = server.ask

    def failing(method: str, url: str, **more: t.Any) -> Answer:
        return Answer(503, "busy", TEXT) if "first.example.com" in url else usual(method, url, **more)

    server.request = failing
    sets = [mirror_set(never=True, nvcr_dot_io="first.example.com:5000"), *SETS]
    assert ask(server, sets=sets).verdict == image.THERE
    server.special = {f"manifests/{DIGEST}": error(404, "MANIFEST_UNKNOWN", "gone")}
    assert ask(server, sets=sets).verdict == image.UNREACHABLE


def test_logins_that_may_not_be_read_leave_it_open() -> None:
    found = ask(Mirror(), auths=None)
    assert (found.verdict, "may not read" in found.words) == (image.NOT_ASKED, True)


def test_a_login_goes_to_no_token_server_without_tls() -> None:
    server = Mirror()
    server.realm = f"http://{MIRROR}/token"
    assert ask(server).verdict == image.REFUSED
    assert {login for _method, _url, login in server.asked} == {""}


@pytest.mark.parametrize("blob", ["sha256:c", "sha256:l"])
def test_a_lost_blob_is_a_missing_image(blob: str) -> None:
    found = ask(Mirror(**{f"blobs/{blob}": Answer(404, "", TEXT)}))
    assert (found.verdict, found.words.endswith(f": blob unknown: {blob}")) == (image.MISSING, True)


def test_an_architecture_whose_manifest_is_lost_is_not_there() -> None:
    gone = error(404, "MANIFEST_UNKNOWN", "gone")
    found = ask(Mirror(**{"manifests/sha256:arm64": gone}))
    assert (found.verdict, found.archs) == (image.THERE, ("amd64",))
    busy = Mirror(**{"manifests/sha256:arm64": error(429, "TOOMANYREQUESTS", "slowly")})
    assert ask(busy).verdict == image.UNREACHABLE
    both = ask(Mirror(**{"manifests/sha256:arm64": gone, "manifests/sha256:amd64": gone}))
    assert (both.verdict, both.words.endswith("manifest unknown")) == (image.MISSING, True)


def test_a_host_that_is_silent_proves_nothing_and_is_asked_once() -> None:
    server = Mirror()
    server.silent = {MIRROR}
    names = [BY_DIGEST, *(f"nvcr.io/nvidia/other@{DIGEST}" for _turn in range(20))]
    wanted = [(Wanted(name, "", (), ("amd64",)), rules.route(name, SETS)) for name in names]
    found = Registries(api_on(server), AUTHS, []).look_up(wanted)
    assert {one.verdict for one in found} == {image.NOT_ASKED}
    words = f'driver@{DIGEST}: Get "https://{MIRROR}/v2/": connection refused (asked from here)'
    assert found[0].words == f"{MIRROR}/nvcr/nvidia/{words}"
    # As many at once as there are threads.
    assert len(server.asked) <= 8


def test_a_tag_that_only_sets_for_digests_cover_has_no_way() -> None:
    server = Mirror()
    server.silent = {"nvcr.io"}
    sets = [mirror_set(nvcr_dot_io=f"{MIRROR}/nvcr")]
    assert ask(server, BY_TAG, sets).verdict == image.UNREACHABLE
    # A digest that only sets for tags cover is by no set's fault out of reach.
    tags = [mirror_set("ImageTagMirrorSet", nvcr_dot_io=f"{MIRROR}/nvcr")]
    assert ask(server, BY_DIGEST, tags).verdict == image.NOT_ASKED


def test_what_only_this_machine_reaches_proves_nothing() -> None:
    sets = [mirror_set(nvcr_dot_io=f"{MIRROR}/nvcr")]
    gone = {f"manifests/{DIGEST}": error(404, "MANIFEST_UNKNOWN", "gone")}
    assert ask(Mirror(**gone), sets=sets).verdict == image.MISSING
    alone = Mirror(**gone)
    alone.silent = {"nvcr.io"}
    assert ask(alone, sets=sets).verdict == image.MISSING
    reached = Mirror(**gone)
    usual = reached.ask

    def elsewhere(method: str, url: str, **more: t.Any) -> Answer:
        return Answer(200, IMAGE) if urlsplit(url).netloc == "nvcr.io" else usual(method, url, **more)

    reached.request = elsewhere
    found = ask(reached, sets=sets)
    assert (found.verdict, "nodes may not reach it" in found.words) == (image.NOT_ASKED, True)
    # The set has no mirror for tags, and says nothing about the source.
    assert ask(reached, BY_TAG, sets).verdict == image.NOT_ASKED
    # Without a mirror nodes have no other way than this machine.
    assert ask(reached, sets=()).verdict == image.THERE


def test_an_image_that_nobody_is_asked_for_is_no_proof() -> None:
    found = ask(Mirror(), BY_TAG)
    assert (found.verdict, found.words.startswith("no mirror serves it")) == (image.UNREACHABLE, True)
