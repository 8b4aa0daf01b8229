"""A recorded request aimed at another target: what changes, and that nothing else does."""

import pytest

from proxyaudit.client.aim import Aim, aimed, aimed_url, checked_target
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Headers, Request

BODY = b'{"model": "m",  "messages": []}'
FINGERPRINT = "[redacted sha256:1a2b3c4d]"


@pytest.mark.parametrize(
    ("recorded", "target", "expected"),
    [
        ("http://a:1/v1/chat/completions", "http://b:2", "http://b:2/v1/chat/completions"),
        ("http://a:1/v1/chat/completions", "http://b:2/v1", "http://b:2/v1/chat/completions"),
        ("http://a/p/q/v1/chat/completions", "http://b/v1", "http://b/v1/chat/completions"),
        ("http://a/p/v1/chat/completions", "http://b/x", "http://b/x/v1/chat/completions"),
        ("http://a/v1/chat/completions", "http://b/api/v4", "http://b/api/v4/chat/completions"),
        (
            "http://a/v1/chat/completions",
            "http://b/v1beta/openai",
            "http://b/v1beta/openai/chat/completions",
        ),
        ("http://a/chat/completions", "http://b/v1", "http://b/v1/chat/completions"),
        ("http://a/p/chat/completions", "http://b/v1", "http://b/v1/chat/completions"),
        (
            "http://a/v1/chat/completions",
            "http://b/v1/chat/completions",
            "http://b/v1/chat/completions",
        ),
        ("https://a/v1/messages?beta=true", "http://b/an", "http://b/an/v1/messages?beta=true"),
        ("http://a/odd", "http://b/v1", "http://b/v1/odd"),
        ("http://a/v1/x?key=s&a=%7e&t=[redacted sha256:1]", "http://b", "http://b/v1/x?a=%7e"),
        ("http://a/v1//x/../y", "http://[::1]:8", "http://[::1]:8/v1//x/../y"),
    ],
)
def test_where_a_request_goes(recorded: str, target: str, expected: str) -> None:
    """The prefix is replaced, never doubled; the query stays, but for keys in it."""
    assert aimed_url(recorded, target) == expected


@pytest.mark.parametrize(
    "url", ["", "host:1", "ftp://h", "http://", "http://h:0", "http://h:x", "http://h/?q=1"]
)
def test_unusable_target_is_the_users_to_mend(url: str) -> None:
    """With a hint of what a target looks like."""
    with pytest.raises(UserError) as caught:
        checked_target(url)
    assert "http://host:port" in caught.value.hint


def test_password_in_the_target_is_not_shown() -> None:
    """A message can end up in a log."""
    with pytest.raises(UserError) as caught:
        checked_target("http://me:hunter2@h")
    assert "hunter2" not in caught.value.message + caught.value.hint
    assert checked_target("http://h/v1/") == "http://h/v1"


def sent(headers: Headers, key: str | None, dialect: str = "openai-chat") -> Headers:
    request = Request("POST", "http://a/v1/chat/completions", headers, BODY)
    result = aimed(request, Aim("http://b", key=lambda _: key), dialect)
    assert isinstance(result, Request)
    assert result.body == BODY
    return result.headers


@pytest.mark.parametrize("value", [FINGERPRINT, "Bearer real-and-imported"])
def test_recorded_credentials_never_leave(value: str) -> None:
    """Neither a fingerprint nor a key that an import brought along; nor cookies."""
    headers = (
        ("Host", "a"),
        ("X-A", "1"),
        ("Authorization", value),
        ("Cookie", value),
        ("x-goog-api-key", value),
        ("X-Odd", FINGERPRINT),
        ("X-Upstream", "Bearer abc"),
        ("x-litellm-key", value),
        ("Content-Length", "9"),
    )
    length = ("Content-Length", str(len(BODY)))
    assert sent(headers, None) == (("Host", "b"), ("X-A", "1"), length)
    with_key = (("Host", "b"), ("X-A", "1"), ("Authorization", "Bearer k"), length)
    assert sent(headers, "k") == with_key


def test_key_goes_where_the_dialect_or_the_recording_has_it() -> None:
    """The place of the recorded credential first, else the dialect's own."""
    dialects = ("openai-chat", "anthropic-messages", "gemini")
    names = {dialect: dict(sent((), "k", dialect)) for dialect in dialects}
    assert names["openai-chat"]["Authorization"] == "Bearer k"
    assert names["anthropic-messages"]["x-api-key"] == "k"
    assert names["gemini"]["x-goog-api-key"] == "k"
    assert ("api-key", "k") in sent((("api-key", FINGERPRINT),), "k")


def test_model_name_is_replaced_only_when_asked_for() -> None:
    """And a body in which that cannot be done is not sent at all."""
    request = Request("POST", "http://a/v1/chat/completions", (), BODY)
    result = aimed(request, Aim("http://b", model="other"), "openai-chat")
    assert isinstance(result, Request)
    assert result.body == b'{"model": "other",  "messages": []}'
    assert dict(result.headers)["Content-Length"] == str(len(result.body))
    for headers, body in (((("Content-Encoding", "gzip"),), BODY), ((), b"{}")):
        odd = Request("POST", "http://a/v1/x", headers, body)
        assert "model name" in str(aimed(odd, Aim("http://b", model="other"), "openai-chat"))
        assert isinstance(aimed(odd, Aim("http://b"), "openai-chat"), Request)
