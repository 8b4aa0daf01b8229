"""A mitmproxy addon that stands before the first tap when samples are made.

It puts stand-ins for the texts of a harness that are not ours to publish: its system prompt, the
descriptions of its tools, its request for a title. What the recorder then sees is real, byte for
byte; nothing in a sample is edited afterwards.

    mitmdump -s tests/real/standins.py --set ours='first words of our user message|…'
"""

import hashlib
import json
from typing import Any

_SYLLABLES = [first + second for first in "bdfgklmnprstvz" for second in "aeiou"]
_KEPT_TOOLS = ("read", "write")
TITLE_REQUEST = "Write a title for the conversation."


def stand_in(text: str) -> str:
    """One made-up word for each line, so that equal texts stay equal and small edits small."""
    return " ".join(_word(line) for line in text.splitlines() if line.strip())


def _word(line: str) -> str:
    raw = hashlib.sha256(line.strip().encode()).digest()
    return "".join(_SYLLABLES[byte % len(_SYLLABLES)] for byte in raw[: 2 + raw[31] % 3])


def with_stand_ins(body: dict[str, Any], ours: tuple[str, ...]) -> dict[str, Any]:
    """A chat request without its harness's own texts. User messages that hold one of `ours` stay.

    Most tools are left out, which keeps samples small.
    """
    changed = {**body, "messages": [_message(m, ours) for m in body["messages"]]}
    if "tools" in body:
        kept = [t for t in body["tools"] if t["function"]["name"] in _KEPT_TOOLS]
        changed["tools"] = [_described(tool) for tool in kept]
    elif changed["messages"][0]["role"] == "system":
        changed["messages"][0] = {"role": "system", "content": TITLE_REQUEST}
    return changed


def _message(message: dict[str, Any], ours: tuple[str, ...]) -> dict[str, Any]:
    content = message["content"]
    is_theirs = message["role"] == "system" or (
        message["role"] == "user" and not any(text in str(content) for text in ours)
    )
    return {**message, "content": stand_in(str(content))} if is_theirs else message


def _described(value: Any) -> Any:
    """A JSON schema, its descriptions replaced."""
    match value:
        case dict():
            return {
                k: stand_in(v) if k == "description" and isinstance(v, str) else _described(v)
                for k, v in value.items()
            }
        case list():
            return [_described(item) for item in value]
        case _:
            return value


class StandIns:
    """Rewrites chat requests; lets replies through as they come."""

    def load(self, loader: Any) -> None:
        """Declare the option `ours`; the loader's master holds its value."""
        self._options = loader.master.options
        loader.add_option("ours", str, "", "User messages that hold one of these (|) stay.")

    def request(self, flow: Any) -> None:
        """Replace the harness's texts in a chat request."""
        if flow.request.path.endswith("/chat/completions"):
            ours = tuple(text for text in self._options.ours.split("|") if text)
            body = with_stand_ins(json.loads(flow.request.content), ours)
            raw = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
            flow.request.content = raw.encode()

    def responseheaders(self, flow: Any) -> None:
        """No buffering."""
        flow.response.stream = True


addons = [StandIns()]
