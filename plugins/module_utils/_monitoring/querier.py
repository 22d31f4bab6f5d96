# Copyright: Contributors to the accelerators.openshift collection
# SPDX-License-Identifier: GPL-3.0-or-later
"""Ask the monitoring API of the cluster, which answers PromQL. It only reads.

OpenShift serves it as the Route of the Thanos querier. The API server's proxy to the same service does not
help: the API server takes the token out of each request, and the querier refuses a request without one.
"""

from __future__ import annotations

import re
import ssl
import typing as t
from dataclasses import replace
from urllib.parse import urlencode, urlsplit

from .._core.errors import AcceleratorError, ForbiddenError, InputError
from .._kube import answer as kube_answer
from .._kube.answer import Answer
from .._kube.client import Api
from .._kube.connection import TRANSPORT_ERRORS, Connection, fast_pool
from .._kube.http_errors import certificate_problem, describe_transport
from .._kube.kinds import known
from .manifest import CONSOLE

# What the cluster's monitoring operator shares with others: the address, and the authority of the ingress.
_SHARED, _ADDRESS = "monitoring-shared-config", "thanosPublicURL"
_INGRESS, _BUNDLE = "default-ingress-cert", "ca-bundle.crt"
_CONNECT, _READ = 10.0, 130.0  # the querier gives up after 120 seconds
# Seconds between two tries of a request, for those who cannot do without an answer.
PATIENT: t.Final = (1.0, 3.0, 9.0)
_AGAIN: t.Final = frozenset((429, 500, 502, 503, 504))
_URL: t.Final = re.compile(r"https?://[\w.\-\[\]:]+(/[\w./\-]*)?")

Data = dict[str, t.Any]


class Series(t.NamedTuple):
    """One series of an answer. values: pairs of a moment (seconds since 1970) and a value."""

    labels: dict[str, str]
    values: list[tuple[float, float]]

    @property
    def last(self) -> float:
        """The newest value."""
        return self.values[-1][1]


class Querier:
    """The monitoring API. Its methods raise AcceleratorError if it does not answer.

    pauses: seconds between two tries of a request.
    """

    def __init__(self, api: Api, connection: Connection, pauses: t.Sequence[float]) -> None:
        self._api, self._connection, self._pauses = api, connection, pauses
        self._has_token = connection.host.startswith("https:")

    @property
    def host(self) -> str:
        """The address, without a path."""
        return self._connection.host

    def instant(self, expression: str, moment: float | None = None) -> list[Series]:
        """Return the series of an expression at a moment (seconds since 1970), or now."""
        given = {"query": expression, **({} if moment is None else {"time": f"{moment:.0f}"})}
        return [Series(series["metric"], [_pair(series["value"])]) for series in self._ask("query", given)]

    def over(self, expression: str, start: float, end: float, step: float) -> list[Series]:
        """Return the series of an expression from start to end (seconds since 1970), each step seconds."""
        given = {"query": expression, "start": f"{start:.0f}", "end": f"{end:.0f}", "step": f"{step:.0f}"}
        found = self._ask("query_range", given)
        return [Series(series["metric"], [_pair(value) for value in series["values"]]) for series in found]

    def _ask(self, path: str, given: t.Mapping[str, str]) -> list[Data]:
        answer = self._answered(f"/api/v1/{path}?{urlencode(given)}")
        body = answer.body if isinstance(answer.body, dict) else {}
        if answer.status in (401, 403):
            raise self._forbidden(answer.status)
        if body.get("status") == "error" or (answer.status == 200 and body.get("status") != "success"):
            answer_text = body.get("error") or f"HTTP {answer.status}, {answer.kind or 'no content type'}"
            raise _refused(self.host, str(answer_text), given["query"])
        if answer.status != 200:
            raise AcceleratorError("MON-API", host=self.host, problem=f"HTTP {answer.status}")
        for text in body.get("warnings") or ():
            self._api.warn(f"The monitoring API may not have asked every Prometheus: {text}")
        return list(body["data"]["result"])

    def _answered(self, target: str) -> Answer:
        """Return the answer to a request. An outage and credentials that expired get further tries."""
        problem, renewed = "", False
        for pause in (*self._pauses, None):
            try:
                answer = self._once(target)
                if answer.status == 401 and not renewed:
                    renewed = True
                    self._connection.renew()
                    answer = self._once(target)
            except TRANSPORT_ERRORS as exc:
                if cause := certificate_problem(exc):
                    raise _untrusted(self.host, cause) from exc
                problem = describe_transport(exc)
            else:
                if answer.status not in _AGAIN or _is_final(answer):
                    return answer
                problem = f"HTTP {answer.status}"
            if pause is None or self._api.deadline.passed:
                break
            self._api.deadline.sleep(pause)
        raise AcceleratorError("MON-API", host=self.host, problem=problem)

    def _once(self, target: str) -> Answer:
        seconds = max(1.0, min(_READ, self._api.deadline.remaining()))
        until = self._api.clock() + seconds
        headers = {"User-Agent": "accelerators.openshift", "Accept": "application/json"}
        raw = self._connection.send(
            *("GET", target, headers, None, _CONNECT, seconds, seconds), anonymous=not self._has_token
        )
        return kube_answer.read(raw, lambda: until - self._api.clock())

    def _forbidden(self, status: int) -> AcceleratorError:
        refusal = "does not accept the token" if status == 401 else "does not let the identity read metrics"
        return AcceleratorError("MON-API-FORBIDDEN", host=self.host, refusal=f"{refusal} (HTTP {status})")


def opened(api: Api, url: str | None, pauses: t.Sequence[float] = PATIENT) -> Querier:
    """Return the monitoring API at an address, or at the cluster's own. Raises AcceleratorError."""
    if url:
        check_url(url)
    address = (url or _address(api)).rstrip("/")
    bundle = _bundle(api) if address.startswith("https:") else ""
    here = api.http.connection
    if address.startswith("https:") and not any(
        pair[0].lower() == "authorization" for pair in here.headers()
    ):
        raise AcceleratorError("MON-API-TOKEN", address=address)
    try:
        return Querier(api, connection_to(address, here, bundle), pauses)
    except OSError as exc:
        raise _untrusted(address, exc) from exc


def check_url(url: str) -> None:
    """Raise InputError if the address is no URL, or would send a token over a network in plain text."""
    if not _URL.fullmatch(url):
        message = f"url is {url!r}, which is no address of an API."
        raise InputError("INPUT-VALUE", message, "Set gpu_monitoring_url: https://NAME, or leave it out.")
    parts = urlsplit(url)
    if parts.scheme == "http" and parts.hostname not in ("127.0.0.1", "localhost", "::1"):
        message = f"url is {url!r}: without TLS anybody on the way can change the answers."
        remedy = "Set gpu_monitoring_url: https://NAME, or forward a port and set http://127.0.0.1:9090."
        raise InputError("INPUT-VALUE", message, remedy)


def _address(api: Api) -> str:
    try:
        found = api.get(known("ConfigMap"), _SHARED, CONSOLE)
    except ForbiddenError as exc:
        exc.remedy = f"Set gpu_monitoring_url: https://NAME (module option url), or: {exc.remedy}"
        raise
    address = str(((found or {}).get("data") or {}).get(_ADDRESS) or "")
    if not address:
        why = f"ConfigMap {CONSOLE}/{_SHARED} does not say where it is ({_ADDRESS})"
        raise AcceleratorError("MON-API", host="of the cluster", problem=why)
    return address


def _bundle(api: Api) -> str:
    """Return the authorities of the ingress, or "" if the identity may not read them: others may do."""
    try:
        found = api.get(known("ConfigMap"), _INGRESS, CONSOLE)
    except ForbiddenError:
        return ""
    return str(((found or {}).get("data") or {}).get(_BUNDLE) or "")


def _pair(value: t.Sequence[t.Any]) -> tuple[float, float]:
    return float(value[0]), float(value[1])


def _is_final(answer: Answer) -> bool:
    """Return whether the querier itself says what is wrong with the query, or that it took too long."""
    kind = answer.body.get("errorType") if isinstance(answer.body, dict) else None
    return kind in ("bad_data", "execution", "timeout", "canceled")


def _untrusted(host: str, problem: object) -> AcceleratorError:
    return AcceleratorError("API-TLS-INGRESS", server=f"the monitoring API {host}", answer=problem)


def _refused(host: str, answer: str, expression: str) -> AcceleratorError:
    return AcceleratorError("MON-QUERY", evidence=[expression], host=host, answer=answer)


def connection_to(host: str, here: Connection, authorities: str) -> Connection:
    """Return a connection to a server, with the token of `here` and no other identity.

    host: URL without a trailing slash. authorities: PEM text of the authorities of its certificate that
    neither the system nor `here` has. Raises OSError for a text that is no certificate.
    """

    def token() -> list[tuple[str, str]]:
        return [(name, value) for name, value in here.headers() if name.lower() == "authorization"]

    made = replace(here, host=host, headers=token, tokens=list, expiry=None, nobody="")
    if not hasattr(here.pool, "connection_pool_kw"):  # no PoolManager: it cares for certificates itself
        return made
    return replace(made, pool=_pool_beside(here.pool, authorities, made.is_near))


def _pool_beside(pool: t.Any, authorities: str, is_near: bool) -> t.Any:
    """Return a pool that trusts the authorities of a pool, of the system and of a PEM text.

    It goes through the same proxy, unless the server is on this machine, and has no client certificate.
    """
    import urllib3

    known = pool.connection_pool_kw.get("ssl_context")
    tls = ssl.create_default_context()
    # A bundle may have no more than the certificate of the ingress itself.
    tls.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    # CAs of older installers do not pass the strict check.
    tls.verify_flags &= ~getattr(ssl, "VERIFY_X509_STRICT", 0)
    if known is not None:
        if trusted := b"".join(known.get_ca_certs(binary_form=True)):
            tls.load_verify_locations(cadata=trusted)
        if known.verify_mode == ssl.CERT_NONE:
            tls.check_hostname = False
            tls.verify_mode = ssl.CERT_NONE
    if authorities:
        tls.load_verify_locations(cadata=authorities)
    proxy = None if is_near else getattr(pool, "proxy", None)
    made = (
        urllib3.PoolManager()
        if proxy is None
        else urllib3.ProxyManager(proxy.url, proxy_headers=pool.proxy_headers)
    )
    fast_pool(made, tls)
    return made
