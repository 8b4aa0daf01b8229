"""auth.leaked, auth.dropped"""

import json
from dataclasses import replace

import pytest
from rules.builders import MESSAGES, findings, headed, hop, pointers, skips, turn

from proxyaudit.core.comparison import Comparison
from proxyaudit.core.message import user
from proxyaudit.core.turn import Turn
from proxyaudit.wire.redact import Redactor

LEAKED, DROPPED = "auth.leaked", "auth.dropped"
CLIENT, PROVIDER = "pk-client-invented-1", "uk-provider-invented-2"
HASH = "[redacted sha256:1a2b3c4d]"


def forwarded(
    sent: dict[str, str], arrived: dict[str, str], status: int = 200, url: str | None = None
) -> Comparison:
    client = headed(turn(user("Hello."), dialect=MESSAGES), **sent)
    upstream = headed(turn(user("Hello."), tap="upstream", status=status), url, **arrived)
    return hop(client, upstream)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        (bearer(CLIENT), bearer(CLIENT) | {"x_upstream_key": PROVIDER}),
        (bearer(CLIENT), bearer(CLIENT)),
        (bearer(CLIENT), {"x_api_key": CLIENT}),
        ({"x_api_key": CLIENT}, {"Authorization": f"bearer {CLIENT}"}),
        (bearer(HASH), bearer(HASH) | {"x_api_key": "[redacted sha256:99999999]"}),
    ],
)
def test_the_proxy_s_key_goes_on(sent: dict[str, str], arrived: dict[str, str]) -> None:
    found = findings(LEAKED, forwarded(sent, arrived), client_credential_is_for="proxy")
    assert [f.severity for f in found] == [None]
    assert pointers(found)[0].startswith("/headers/")


def test_a_key_in_the_query_goes_on() -> None:
    comparison = forwarded(bearer(CLIENT), {}, url=f"http://u.test/v1/x?key={CLIENT}")
    assert pointers(findings(LEAKED, comparison, client_credential_is_for="proxy")) == ["/url"]


@pytest.mark.parametrize(
    ("sent", "arrived"),
    [
        (bearer(CLIENT), bearer(PROVIDER)),
        (bearer(CLIENT), {}),
        (bearer("EMPTY"), bearer("EMPTY")),
        (bearer(CLIENT) | {"x_session_id": "s-1"}, bearer(PROVIDER) | {"x_session_id": "s-1"}),
        (bearer(HASH), bearer("[redacted sha256:99999999]")),
    ],
)
def test_near_miss_the_proxy_swapped_the_key(sent: dict[str, str], arrived: dict[str, str]) -> None:
    assert findings(LEAKED, forwarded(sent, arrived), client_credential_is_for="proxy") == []


def test_near_miss_a_key_for_the_upstream_may_go_on() -> None:
    same = forwarded(bearer(CLIENT), bearer(CLIENT))
    assert findings(LEAKED, same, client_credential_is_for="upstream") == []
    assert findings(DROPPED, same, client_credential_is_for="upstream") == []


def test_without_the_fact_nothing_is_alarmed() -> None:
    same = forwarded(bearer(CLIENT), bearer(CLIENT))
    both = forwarded(bearer(CLIENT), bearer(CLIENT) | {"x_upstream_key": PROVIDER})
    assert "client_credential_is_for" in skips(LEAKED, same)[0]
    assert "client_credential_is_for" in skips(DROPPED, same)[0]
    assert [f.severity for f in findings(LEAKED, both)] == ["info"]
    assert [f.severity for f in findings(DROPPED, forwarded(bearer(CLIENT), {}, 403))] == ["info"]


def test_a_request_without_any_key_that_is_refused_for_it() -> None:
    """Whomever the client's own key is for: the upstream was given none, and asks for one."""
    assert [f.severity for f in findings(DROPPED, forwarded(bearer(CLIENT), {}, 401))] == [None]


@pytest.mark.parametrize("status", [200, 401])
def test_a_key_for_the_upstream_that_does_not_arrive(status: int) -> None:
    comparison = forwarded(bearer(CLIENT), {"accept": "*/*"}, status)
    found = findings(DROPPED, comparison, client_credential_is_for="upstream")
    assert [f.severity for f in found] == [None]
    assert pointers(found) == ["/headers"]
    assert found[0].before[0].pointer == "/headers/authorization"


def test_a_proxy_without_a_key_of_its_own() -> None:
    refused = forwarded(bearer(CLIENT), {}, 401)
    assert findings(DROPPED, refused, client_credential_is_for="proxy")[0].severity is None


def test_near_miss_nobody_asked_for_a_key() -> None:
    open_door = forwarded(bearer(CLIENT), {})
    assert findings(DROPPED, open_door, client_credential_is_for="proxy") == []
    assert skips(DROPPED, forwarded({}, {}, 401)) == ["the client sent no credential"]


def test_near_miss_one_of_two_keys_was_for_the_proxy() -> None:
    two = bearer(CLIENT) | {"x_api_key": PROVIDER}
    comparison = forwarded(two, {"x_api_key": PROVIDER})
    found = findings(DROPPED, comparison, client_credential_is_for="upstream")
    assert [f.severity for f in found] == ["info"]


@pytest.mark.parametrize("rule", [LEAKED, DROPPED])
def test_no_secret_is_told(rule: str) -> None:
    fact = "proxy" if rule == LEAKED else "upstream"
    arrived = bearer(CLIENT) if rule == LEAKED else {}
    found = findings(rule, forwarded(bearer(CLIENT), arrived), client_credential_is_for=fact)
    told = found[0].message + json.dumps(dict(found[0].evidence))
    assert CLIENT not in told
    assert "sha256:" in told


def test_a_recording_of_ours_gives_the_same_verdict() -> None:
    redactor = Redactor(b"salt")
    sent, arrived = (
        dict(redactor.headers((("authorization", f"Bearer {key}"),))) for key in (CLIENT, CLIENT)
    )
    assert "invented" not in str(sent)
    assert findings(LEAKED, forwarded(sent, arrived), client_credential_is_for="proxy")


def in_body(made: Turn, body: bytes) -> Turn:
    return replace(
        made,
        exchange=replace(made.exchange, request=replace(made.exchange.request, body=body)),
    )


def test_a_key_that_goes_on_where_no_key_is_looked_for() -> None:
    packed = forwarded(bearer(CLIENT), bearer(PROVIDER) | {"x_seen": f"a: Bearer {CLIENT}"})
    found = findings(LEAKED, packed, client_credential_is_for="proxy")
    assert pointers(found) == ["/headers/x-seen"]
    both = forwarded(bearer(CLIENT), bearer(PROVIDER))
    body = json.dumps({"api_key": CLIENT}).encode()
    upstream = in_body(both.right, body)
    leaked = findings(LEAKED, hop(both.left, upstream), client_credential_is_for="proxy")
    assert pointers(leaked) == [""]
    pasted = hop(in_body(both.left, body), upstream)
    assert findings(LEAKED, pasted, client_credential_is_for="proxy") == []
