"""Secrets become fingerprints; all else stays."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.wire.redact import Redactor

REDACTED = re.compile(r"\[redacted sha256:[0-9a-f]{8}\]")
redactor = Redactor(b"salt")

secrets = st.text("abcdefABCDEF0123456789-_.", min_size=12, max_size=60).filter(
    lambda text: not text.isspace()
)
secret_headers = st.sampled_from(
    [
        "Authorization",
        "proxy-authorization",
        "X-Api-Key",
        "api-key",
        "x-goog-api-key",
        "Cookie",
        "set-cookie",
        "x-auth-token",
        "X-Amz-Security-Token",
        "x-client-secret",
        "x-litellm-api-key-2",
        "Ocp-Apim-Subscription-Key",
        "helicone-auth",
        "cf-aig-authorization",
    ]
)
HARMLESS = [
    "x-session-id",
    "session_id",
    "x-session-affinity",
    "x-ratelimit-remaining-tokens",
    "anthropic-ratelimit-tokens-remaining",
    "anthropic-ratelimit-input-tokens-limit",
    "x-headroom-tokens-before",
    "x-time-to-first-token",
    "idempotency-key",
    "sec-websocket-key",
    "content-type",
    "user-agent",
    "openai-organization",
    "x-request-id",
    "author",
]


@given(secret_headers, secrets, st.sampled_from(["", "Bearer ", "bearer  ", "Basic ", "Token "]))
def test_no_secret_in_a_header_survives(name: str, secret: str, scheme: str) -> None:
    ((kept_name, value),) = redactor.headers(((name, scheme + secret),))
    assert kept_name == name
    assert secret not in value
    assert value.startswith(scheme)
    assert REDACTED.fullmatch(value.removeprefix(scheme))


@given(
    st.sampled_from(["key", "api_key", "apiKey", "api%5Fkey", "access_token", "token", "sig"]),
    secrets,
    st.sampled_from(["?{}={}", "?a=1&{}={}&b=2", "?a=1;{}={};b=2", "?alt=sse?{}={}"]),
)
def test_no_secret_in_a_query_survives(name: str, secret: str, query: str) -> None:
    url = "http://h:80/v1/x" + query.format(name, secret)
    redacted = redactor.url(url)
    assert secret not in redacted
    # All around it is as it was: putting the secret back gives the old URL.
    assert REDACTED.sub(secret, redacted, count=1) == url


@given(st.lists(st.tuples(st.sampled_from(HARMLESS), st.text(max_size=20)), max_size=5).map(tuple))
def test_other_headers_stay(headers: tuple[tuple[str, str], ...]) -> None:
    assert redactor.headers(headers) == headers


@given(st.text(st.characters(exclude_characters="?"), max_size=30).filter(lambda t: "@" not in t))
def test_a_url_without_secrets_stays(path: str) -> None:
    query = "?beta=true&session_id=9&max_tokens=5&page_token=3&key&keyboard=x&monkey=1&id=a%20b"
    url = "http://127.0.0.1:8080/" + path + query
    assert redactor.url(url) == url


@given(
    st.lists(st.tuples(secret_headers | st.text(max_size=9), st.text(max_size=40)), max_size=4),
    st.text(max_size=60).map(lambda t: "http://h/p?key=" + t) | st.text(max_size=60),
)
def test_redacting_twice_changes_nothing_more(headers: list[tuple[str, str]], url: str) -> None:
    once = redactor.headers(tuple(headers))
    assert redactor.headers(once) == once
    assert redactor.url(redactor.url(url)) == redactor.url(url)


def test_equal_secrets_are_equal_and_others_are_not() -> None:
    """Also across headers and URL: a key that wanders can be followed."""
    ((_, a), (_, b), (_, c)) = redactor.headers(
        (("authorization", "Bearer sk-1"), ("x-api-key", "sk-1"), ("x-api-key", "sk-2"))
    )
    assert a == f"Bearer {b}"
    assert b != c
    assert redactor.url("http://h/?key=sk-1") == f"http://h/?key={b}"


def test_the_salt_keeps_recordings_apart() -> None:
    headers = (("x-api-key", "sk-1"),)
    assert Redactor(b"one").headers(headers) != Redactor(b"two").headers(headers)


@pytest.mark.parametrize("value", ["", "  ", "Bearer ", "Bearer"])
def test_a_missing_secret_is_not_made_up(value: str) -> None:
    """An empty credential is evidence, and must not look like a key."""
    headers = (("x-api-key", value), ("authorization", value))
    assert redactor.headers(headers) == headers


@pytest.mark.parametrize(
    ("name", "value", "secret"),
    [
        ("sec-websocket-protocol", "realtime, openai-insecure-api-key.sk-77, b.v1", "sk-77"),
        ("x-forwarded-thing", "Bearer sk-77", "sk-77"),
        ("referer", "http://h/?api_key=sk-77&a=1", "sk-77"),
        (":path", "/v1beta/models?key=sk-77", "sk-77"),
    ],
)
def test_secrets_in_less_usual_places(name: str, value: str, secret: str) -> None:
    ((_, kept),) = redactor.headers(((name, value),))
    assert secret not in kept
    assert REDACTED.sub(secret, kept) == value
    assert redactor.headers(((name, kept),)) == ((name, kept),)


def test_user_and_password_in_a_url_are_hidden() -> None:
    kept = redactor.url("http://me:pa@ss@h:1/x@y?a=b@c")
    assert REDACTED.sub("", kept) == "http://@h:1/x@y?a=b@c"


def test_a_challenge_is_not_a_credential() -> None:
    challenge = (("WWW-Authenticate", 'Bearer realm="x"'), ("proxy-authenticate", "Bearer"))
    assert redactor.headers(challenge) == challenge
