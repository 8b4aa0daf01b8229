"""The old completions format: one prompt text, which a model goes on writing."""

from collections.abc import Sequence

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.json import JSON, JSONObject
from proxyaudit.core.message import Message, Part, Text
from proxyaudit.core.turn import Prompt, Reply, StreamEvent, StreamFault
from proxyaudit.dialects.base import Framing
from proxyaudit.dialects.chat_stream import read_chat_stream
from proxyaudit.dialects.fields import opaque, path_of, wire_of, word
from proxyaudit.dialects.memo import Memo
from proxyaudit.dialects.openai_chat import DIALECT as CHAT
from proxyaudit.dialects.settings import read_settings

_STRUCTURE = frozenset({"model", "stream", "prompt"})
_MEMO = Memo[tuple[Message, ...]]()


class OpenAICompletions:
    """See `dialects.base.Dialect`. The prompt is one user message, the completion the reply."""

    name = "openai-completions"
    framing: Framing = "events"

    def matches(self, exchange: Exchange, body: JSONObject) -> bool:
        """By the path ending alone: many other services take a `prompt`."""
        path = path_of(exchange)
        old = path.endswith("/completions") and not path.endswith("/chat/completions")
        return old and "prompt" in body and "messages" not in body

    def read_prompt(self, body: JSONObject) -> Prompt:
        """Several prompts are parts of the message; one given as token numbers is opaque."""
        settings, pointers = read_settings(body, _STRUCTURE)
        prompt = body.get("prompt")
        return Prompt(
            messages=_MEMO.read(prompt, "/prompt", lambda _: _messages(prompt)),
            model=word(body.get("model")),
            stream=body.get("stream") is True,
            settings=settings,
            setting_pointers=pointers,
            messages_pointer="/prompt",
        )

    def read_reply(self, body: JSONObject) -> Reply:
        return CHAT.read_reply(body)

    def read_stream(self, events: Sequence[StreamEvent], faults: Sequence[StreamFault]) -> Reply:
        return read_chat_stream(events, faults)

    def write_prompt(self, prompt: Prompt) -> JSONObject:
        """Text is all that the format has: a history is written as its texts, a paragraph each."""
        body: JSONObject = {"model": prompt.model} if prompt.model is not None else {}
        if prompt.stream:
            body["stream"] = True
        texts: list[JSON] = [
            part.text for m in prompt.messages for part in m.parts if isinstance(part, Text)
        ]
        if len(prompt.messages) > 1:
            body["prompt"] = "\n\n".join(m.text for m in prompt.messages)
        else:
            body["prompt"] = texts[0] if len(texts) == 1 else texts
        return {**body, **prompt.settings}


def _messages(prompt: JSON) -> tuple[Message, ...]:
    parts = tuple(_parts(prompt))
    return (Message("user", parts, "/prompt", "user", wire_of(prompt)),) if parts else ()


def _parts(prompt: JSON) -> Sequence[Part]:
    if isinstance(prompt, str):
        return [Text(prompt, "/prompt")] if prompt else []
    if isinstance(prompt, list) and prompt and all(isinstance(item, str) for item in prompt):
        placed = enumerate(prompt)
        return [
            Text(item, f"/prompt/{at}") for at, item in placed if isinstance(item, str) and item
        ]
    return [] if prompt is None or prompt == [] else [opaque("prompt", prompt, "/prompt")]


DIALECT = OpenAICompletions()
