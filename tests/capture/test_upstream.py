"""Upstream URLs, and paths in front of paths."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.capture.upstream import Upstream, checked_upstream, joined_path
from proxyaudit.core.errors import UserError


@pytest.mark.parametrize(
    ("url", "parts", "authority"),
    [
        ("http://127.0.0.1:8000", Upstream("http", "127.0.0.1", 8000, ""), "127.0.0.1:8000"),
        ("http://localhost", Upstream("http", "localhost", 80, ""), "localhost"),
        (
            "https://llm.example/api/v1/",
            Upstream("https", "llm.example", 443, "/api/v1"),
            "llm.example",
        ),
        ("https://llm.example:80/", Upstream("https", "llm.example", 80, ""), "llm.example:80"),
        ("http://[::1]:9/", Upstream("http", "::1", 9, ""), "[::1]:9"),
    ],
)
def test_urls_taken_apart(url: str, parts: Upstream, authority: str) -> None:
    """Default ports are filled in, and left out of `Host` again."""
    assert checked_upstream(url) == parts
    assert parts.authority == authority


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8000",
        "localhost:8000",
        "ftp://host/",
        "http://",
        "http://host:99999",
        "http://host:port",
        "http://[::1",
        "http://host/v1?key=1",
        "http://host/#here",
        "",
    ],
)
def test_urls_that_cannot_be_used(url: str) -> None:
    """A wrong URL is the user's to put right, and the hint shows a right one."""
    with pytest.raises(UserError) as caught:
        checked_upstream(url)
    assert "http://127.0.0.1:8000" in caught.value.hint


def test_credentials_in_a_url_are_not_quoted() -> None:
    """They would stand in a terminal or a log."""
    with pytest.raises(UserError) as caught:
        checked_upstream("http://me:secret@host/")
    assert "secret" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    ("prefix", "path", "joined"),
    [
        ("", "/v1/x", "/v1/x"),
        ("/api", "/v1/x", "/api/v1/x"),
        ("/api/", "/v1/x", "/api/v1/x"),
        ("/v1", "/v1/x", "/v1/x"),
        ("/v1", "/v1", "/v1"),
        ("/v1", "/v1?a=/v1", "/v1?a=/v1"),
        ("/api/v1", "/v1/x?a=1", "/api/v1/x?a=1"),
        ("/api/v1", "/v1?a=1", "/api/v1?a=1"),
        ("/api/v1", "/api/v1/x", "/api/v1/x"),
        ("/api/v1", "/v10/x", "/api/v1/v10/x"),
        ("/api", "/", "/api/"),
        ("/openai", "*", "/openai*"),
    ],
)
def test_joined_path(prefix: str, path: str, joined: str) -> None:
    """A prefix is put in front; where the client's path begins with its end, not twice."""
    assert joined_path(prefix, path) == joined


_paths = st.lists(st.sampled_from(["v1", "api", "chat", "v10", ""]), max_size=4).map(
    lambda parts: "/" + "/".join(parts)
)


@given(_paths, _paths)
def test_joining_twice_is_joining_once(prefix: str, path: str) -> None:
    """The joined path begins with the prefix, ends with the path's end, and stays as it is."""
    joined = joined_path(prefix, path)
    assert joined.startswith(prefix.rstrip("/"))
    assert joined.endswith(path.rsplit("/", 1)[-1])
    assert joined_path(prefix, joined) == joined
