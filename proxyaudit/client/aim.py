"""Aim a recorded request at another target: host, path prefix, credentials, model; nothing else."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from urllib.parse import unquote, urlsplit

from proxyaudit.client.headers import outgoing_headers
from proxyaudit.client.model_name import with_model
from proxyaudit.core.errors import UserError
from proxyaudit.core.exchange import Headers, Request, header
from proxyaudit.wire.redact import is_secret_header, is_secret_parameter

# Where a key belongs; the target's own is put into the first of these that was recorded.
_CREDENTIALS = frozenset({"authorization", "x-api-key", "api-key", "x-goog-api-key"})
_REDACTED = "[redacted sha256:"
_VERSION = re.compile(r"v\d[\w.-]*")
_KNOWN_TAILS = ("/chat/completions", "/completions", "/responses", "/messages", "/api/chat")


@dataclass(frozen=True, slots=True)
class Aim:
    """Where to send. `key` gives the credential for a dialect, None for no credential."""

    target: str
    model: str | None = None
    key: Callable[[str], str | None] = lambda _: None


def checked_target(url: str) -> str:
    """The target without a trailing slash; UserError if it cannot be one."""
    hint = "Give it as http://host:port or http://host:port/prefix."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise UserError(f"the target {url!r} is not a URL: {error}", hint) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or port == 0:
        raise UserError(f"the target {url!r} is not an http:// or https:// URL", hint)
    if parts.username is not None:
        # Not repeated in the message: it would show the password.
        raise UserError("the target holds a user name", "Name a key's variable: --api-key-env.")
    if parts.query or parts.fragment:
        raise UserError(f"the target {url!r} holds a query", hint)
    return url.rstrip("/")


def aimed(request: Request, aim: Aim, dialect: str) -> Request | str:
    """The request to send instead, or the reason (a few words) why there is none.

    Its headers are those that will be on the wire. Only URL, credentials and (asked for) the
    model name differ from the recorded request, and cookies are left out.
    """
    body = request.body
    if aim.model is not None:
        if header(request.headers, "content-encoding"):
            return "its body is compressed, so the model name cannot be replaced in place"
        renamed = with_model(body, aim.model)
        if renamed is None:
            return "its body has no model name to replace"
        body = renamed
    headers = _with_credential(request.headers, aim.key(dialect), dialect)
    url = aimed_url(request.url, aim.target)
    ready = replace(request, url=url, headers=headers, body=body, chunks=())
    return replace(ready, headers=outgoing_headers(ready))


def aimed_url(recorded: str, target: str) -> str:
    """The recorded URL at the target.

    A target without a path replaces scheme, host and port. A target with a path replaces the
    prefix too, that is, what stands before the API's own path: `/v1/chat/completions`, or only
    `/chat/completions` where the target names a version itself (`/v1`, `/api/paas/v4`). A target
    that ends in the API's path is taken as it is. The query stays, without credentials in it.
    """
    old, new = urlsplit(recorded), urlsplit(target)
    base = new.path.rstrip("/")
    path = f"{base}{_api_path(old.path, base)}" if base else old.path
    query = "&".join(p for p in old.query.split("&") if p and not _is_secret(p))
    return f"{new.scheme}://{new.netloc}{path}" + (f"?{query}" if query else "")


def _api_path(path: str, base: str) -> str:
    segments = path.split("/")
    versions = [i for i, word in enumerate(segments) if _VERSION.fullmatch(word)]
    if versions:
        tail = "/" + "/".join(segments[versions[-1] + 1 :])
        api = f"/{segments[versions[-1]]}{tail}"
    else:
        known = (t for t in _KNOWN_TAILS if path.endswith(t))
        tail = api = next(known, path)
    if base.endswith(tail):
        return ""
    return tail if any(_VERSION.fullmatch(word) for word in base.split("/")) else api


def _is_secret(parameter: str) -> bool:
    name, _, value = parameter.partition("=")
    return is_secret_parameter(name) or _REDACTED in unquote(value)


def _with_credential(headers: Headers, key: str | None, dialect: str) -> Headers:
    """The key in the place of the recorded credential; all else that is secret or state is gone.

    By name, not only by fingerprint: imported recordings can hold real keys, which are nobody's
    business at another target.
    """
    sent: list[tuple[str, str]] = []
    for name, value in headers:
        low = name.lower()
        if low in _CREDENTIALS and key is not None:
            sent.append((name, f"Bearer {key}" if low == "authorization" else key))
            key = None
        elif not (is_secret_header(low) or _REDACTED in value or value.startswith("Bearer ")):
            sent.append((name, value))
    if key is not None and dialect.startswith("anthropic"):
        sent.append(("x-api-key", key))
    elif key is not None and dialect == "gemini":
        sent.append(("x-goog-api-key", key))
    elif key is not None:
        sent.append(("Authorization", f"Bearer {key}"))
    return tuple(sent)
