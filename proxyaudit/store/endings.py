"""How an exchange ended, from what mitmproxy says about it."""

import re

from proxyaudit.core.exchange import End

# In order: the first that fits decides. The words are those of mitmproxy, h11, h2 and the system.
_WORDS: dict[End, str] = {
    "client_abort": r"client disconnected|reset by client",
    "timeout": r"timed? ?-?out",
    "upstream_refused": (
        r"refused|connect call failed|errno 111|multiple exceptions|name or service not known"
        r"|nodename nor servname|getaddrinfo|no address|unreachable|no route to host"
    ),
    "upstream_reset": r"\breset\b|broken pipe|rst_stream|connection aborted",
    "upstream_eof": r"closed connection|connection closed|incomplete|unexpected eof|\beof\b",
}


def end_of_error(message: str) -> End:
    """The end that an error text of mitmproxy stands for; `error` if it is none of the known."""
    low = message.lower()
    return next((end for end, words in _WORDS.items() if re.search(words, low)), "error")
