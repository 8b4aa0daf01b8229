"""auth.dropped"""

from collections.abc import Iterator

from proxyaudit.core.comparison import Comparison, Relation
from proxyaudit.core.finding import Skip
from proxyaudit.core.json import JSON
from proxyaudit.rules.auth.credentials import Credential, credentials
from proxyaudit.rules.auth.leaked import UNKNOWN
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule

_REFUSED = frozenset({401, 403, 407})


@rule("auth.dropped", severity="error", on=Comparison, relations=(Relation.FORWARDED,))
def dropped(found: Comparison, facts: Facts) -> Iterator[Outcome]:
    """A credential header the upstream needs did not arrive.

    What it does
        Looks whether the keys and tokens that the client sent are in the request at the upstream
        tap, wherever they stand. Needs the fact that they are meant for the upstream
        (`--assume client_credential_is_for=upstream`). If they are meant for the proxy, or nothing
        is stated, it looks whether a request that was refused bore any credential.

    Why it matters
        The upstream refuses the request, and the client blames its own key.

    Example
        Bad: authorization: Bearer uk-9 at the client tap, no such header upstream, status 401
        Good: authorization: Bearer uk-9 at both taps

    What to look at next
        Lists of headers that the proxy passes on; underscores in header names (nginx drops those);
        the key that the proxy should have of its own.
    """
    meant_for = facts.assume.client_credential_is_for
    sent = list(credentials(found.left.exchange.request))
    arrived = {c.secret for c in credentials(found.right.exchange.request)}
    if not sent:
        yield Skip("the client sent no credential")
        return
    refused = found.right.status in _REFUSED
    missing = [c for c in sent if c.secret not in arrived]
    if meant_for == "upstream":
        if missing:
            # Of several keys one may be for the proxy after all, if the upstream does not object.
            part = len(missing) < len(sent) and not refused
            yield _found(found, missing, bool(arrived), known=not part)
    elif refused and not arrived:
        # Whomever the client's own is for: a request without any was refused for that.
        yield _found(found, missing, bool(arrived), known=bool(meant_for) or _unknown(found))
    elif meant_for is None:
        yield Skip(UNKNOWN)


def _unknown(found: Comparison) -> bool:
    """Whether the upstream said that it does not know who asked."""
    return found.right.status == 401


def _found(found: Comparison, missing: list[Credential], other: bool, *, known: bool) -> Found:
    names = ", ".join(c.name for c in missing)
    instead = "another one arrived in its place" if other else "none arrived"
    evidence: dict[str, JSON] = {
        "credentials": [c.fingerprint for c in missing],
        "status": found.right.status,
    }
    return Found(
        f"the proxy did not pass on the client's credential ({names}); {instead}",
        places=(at(found.right, "request", "/headers"),),
        before=tuple(at(found.left, "request", c.pointer) for c in missing),
        severity=None if known else "info",
        confidence="certain" if known else "possible",
        evidence=evidence,
    )
