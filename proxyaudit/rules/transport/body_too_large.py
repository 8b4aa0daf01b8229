"""transport.body_too_large"""

import re
from collections.abc import Iterator

from proxyaudit.core.exchange import Response, header
from proxyaudit.core.turn import Turn
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.wording import excerpt
from proxyaudit.wire.content import decoded

# Bodies, never contexts: a prompt that is too long for the model is refused by the model's server.
_TOLD = re.compile(
    r"(request )?(entity|payload|body)[\w ]{0,20} too large|PayloadTooLarge|exceeds? the maximum "
    r"(request|body|payload) size|(request|body|payload) (size )?(limit )?exceed",
    re.IGNORECASE,
)


@rule("transport.body_too_large", severity="error", on=Turn)
def body_too_large(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    """413 from a hop before the model.

    What it does
        Reports status 413, and other refusals that name the size of the body. A prompt that has too
        many tokens for the model is another matter.

    Why it matters
        The history of an agent grows until a limit of one megabyte stops it for good. Seen from the
        harness, the model "forgot" everything, for it never got the request.

    Example
        Bad: status 413, <title>413 Request Entity Too Large</title>
        Good: status 200; or status 400 of the server that names the context length

    What to look at next
        nginx `client_max_body_size` (1 MB unless set), limits of the gateway or of a firewall.
        `server` in the headers tells whose page it is.
    """
    response = turn.exchange.response
    if response is None or response.status < 400:
        return
    text = _text(response)
    if response.status != 413 and not _TOLD.search(text):
        return
    size = len(turn.exchange.request.body)
    yield Found(
        f"a hop refused the request for its size: {size:,} bytes, status {response.status}",
        places=(at(turn, "response", "/status"),),
        before=(at(turn, "request", ""),),
        evidence={
            "bytes": size,
            "server": header(response.headers, "server"),
            "text": excerpt(text),
        },
    )


def _text(response: Response) -> str:
    return decoded(response.headers, response.body).data[:2000].decode("utf-8", "replace")
