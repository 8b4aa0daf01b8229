"""auth.leaked"""

from collections.abc import Iterable, Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Skip
from proxyaudit.core.json import JSON
from proxyaudit.rules.auth.credentials import Credential, credentials, hidden
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule

UNKNOWN = "whom the client's credential is for is not stated (client_credential_is_for)"


@rule("auth.leaked", severity="error", on=Comparison, relations=(Relation.FORWARDED,))
def leaked(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    """The client's proxy credential was sent upstream.

    What it does
        Looks for the keys and tokens that the client sent, in any header or in the query, in the
        request at the upstream tap, and in its body if they are not in the client's. They are
        compared by value, or by the fingerprint that the recorder put in their place. Needs the
        fact that they are meant for the proxy (`--assume client_credential_is_for=proxy`); without
        it, a key that goes on beside another one is told at info.

    Why it matters
        The provider, and everyone who reads its logs, gets a key that opens your gateway.

    Example
        Bad: authorization: Bearer pk-1 at both taps, and the proxy's own key beside it
        Good: authorization: Bearer pk-1 at the client tap, Bearer uk-7 upstream

    What to look at next
        How the proxy handles `Authorization` where the upstream key goes into another header.
    """
    meant_for = facts.assume.client_credential_is_for
    if meant_for == "upstream":
        return
    sent = {c.secret: c for c in credentials(found.left.exchange.request)}
    arrived = list(credentials(found.right.exchange.request))
    gone_on = [c for c in arrived if c.secret in sent]
    if not sent:
        yield Skip("the client sent no credential")
        return
    if meant_for is None and len(gone_on) in (0, len(arrived)):
        yield Skip(UNKNOWN)
        return
    if meant_for == "proxy" and not gone_on:
        gone_on = list(_elsewhere(found, sent))
    if not gone_on:
        return
    names = ", ".join(c.name for c in gone_on)
    evidence: dict[str, JSON] = {"credentials": [c.fingerprint for c in gone_on]}
    yield Found(
        f"the proxy sent the client's own credential upstream, in {names}",
        places=tuple(at(found.right, "request", c.pointer) for c in gone_on),
        before=tuple(at(found.left, "request", sent[c.secret].pointer) for c in gone_on),
        severity=None if meant_for == "proxy" else "info",
        confidence="certain" if meant_for == "proxy" else "possible",
        evidence=evidence,
    )


def _elsewhere(found: Comparison, secrets: Iterable[str]) -> Iterator[Credential]:
    for secret in secrets:
        own = {c.pointer for c in hidden(found.left.exchange.request, secret)}
        there = hidden(found.right.exchange.request, secret)
        yield from (c for c in there if c.pointer or "" not in own)
