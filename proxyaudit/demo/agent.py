"""A scripted agent: seven user turns with a tool loop, over real sockets, append-only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from proxyaudit.demo import story
from proxyaudit.demo.chat import dumps
from proxyaudit.demo.reading import ReadReply, read_reply
from proxyaudit.demo.script import Body
from proxyaudit.demo.sender import Answer, Connection

MODEL = "demo-model"
KEY = "sk-demo-not-a-secret"
_MOST_STEPS = 8


@dataclass(slots=True)
class Sent:
    """One request of the agent, its bytes, and the answer to it."""

    body: bytes
    answer: Answer
    reply: ReadReply


@dataclass(slots=True)
class AgentTurn:
    """A user turn: what was said, every request it took (retries too) and the last text."""

    number: int
    user: str
    sent: list[Sent] = field(default_factory=list)
    text: str = ""


@dataclass(slots=True)
class AgentLog:
    """What the agent lived through. `stopped` tells why it gave up early, else None."""

    session: str
    title: str = ""
    turns: list[AgentTurn] = field(default_factory=list)
    messages: list[Body] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    stopped: str | None = None

    @property
    def final_text(self) -> str:
        return self.turns[-1].text if self.turns else ""

    @property
    def succeeded(self) -> bool:
        """Whether the file that the user asked for in the end holds what it should."""
        return self.files.get("result.txt") == story.expected_result()


def _tool(name: str, description: str, **properties: str) -> Body:
    fields = {key: {"type": "string", "description": text} for key, text in properties.items()}
    schema = {"type": "object", "properties": fields, "required": list(properties)}
    function = {"name": name, "description": description, "parameters": schema}
    return {"type": "function", "function": function}


TOOLS = (
    _tool("read_file", "Read a text file.", path="name of the file"),
    _tool("write_file", "Write a text file.", path="name of the file", text="what it will hold"),
)


async def run_agent(
    base_url: str,
    *,
    session: str = "ses_demo_1",
    model: str = MODEL,
    key: str = KEY,
    turns: Sequence[str] = story.USER_TURNS,
) -> AgentLog:
    """Play the story against `base_url` (with /v1, as a harness is given it).

    A cut reply is asked for once more, then the agent goes on with what it has. A refused
    request or an error status ends the run; `stopped` says which.
    """
    agent = _Agent(base_url, session, model, key)
    try:
        await agent.ask_title(turns[0])
        for number, text in enumerate(turns, 1):
            if agent.log.stopped:
                break
            await agent.take_turn(number, text)
    finally:
        await agent.connection.close()
    return agent.log


class _Agent:
    def __init__(self, base_url: str, session: str, model: str, key: str) -> None:
        self.connection = Connection(base_url)
        self.log = AgentLog(session, files=dict(story.FILES))
        self.log.messages = [
            {"role": "system", "content": story.SYSTEM},
            {"role": "user", "content": story.FOLDER_NOTE},
        ]
        self._path = urlsplit(base_url).path.rstrip("/") + "/chat/completions"
        self._headers = (
            ("content-type", "application/json"),
            ("authorization", f"Bearer {key}"),
            ("user-agent", "proxyaudit-demo-agent"),
            ("x-session-id", session),
        )
        self._fixed: Body = {
            "model": model,
            "temperature": 0.2,
            "max_tokens": 600,
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    async def ask_title(self, first: str) -> None:
        """The side request: a title, without tools and apart from the history."""
        asked = [{"role": "system", "content": story.TITLE_SYSTEM}, _user(first)]
        sent = await self._send({**self._fixed, "messages": asked})
        self.log.title = sent.reply.text
        self._note_failure(sent)

    async def take_turn(self, number: int, text: str) -> None:
        """One user turn: ask, run the tools that are called, until a reply calls none."""
        turn = AgentTurn(number, text)
        self.log.turns.append(turn)
        self.log.messages.append(_user(text))
        for _ in range(_MOST_STEPS):
            reply = await self._ask(turn)
            if self.log.stopped:
                return
            turn.text = reply.text
            if not reply.calls:
                return
            self.log.messages += [_run(self.log.files, call) for call in reply.calls]
        self.log.stopped = f"turn {number}: no end after {_MOST_STEPS} steps"

    async def _ask(self, turn: AgentTurn) -> ReadReply:
        body = {**self._fixed, "messages": self.log.messages, "tools": list(TOOLS)}
        for _ in range(2):
            sent = await self._send(body)
            turn.sent.append(sent)
            if sent.reply.finish or self._note_failure(sent):
                break
        reply = sent.reply
        if not reply.finish:
            # Half a call cannot be run, and one without its result would not be lawful.
            reply.calls = []
        if not self.log.stopped and (reply.text or reply.calls):
            self.log.messages.append(reply.message)
        return reply

    async def _send(self, body: Body) -> Sent:
        data = dumps(body)
        answer = await self.connection.post(self._path, self._headers, data)
        return Sent(data, answer, read_reply(answer.body))

    def _note_failure(self, sent: Sent) -> bool:
        status = sent.answer.status
        if status is None:
            self.log.stopped = "the connection was refused or closed without an answer"
        elif status >= 400:
            self.log.stopped = f"status {status}: {sent.reply.error or 'no reason given'}"
        return self.log.stopped is not None


def _user(text: str) -> Body:
    return {"role": "user", "content": text}


def _run(files: dict[str, str], call: Body) -> Body:
    """Run a tool call on the files in memory; a wrong call gives an error text to the model."""
    result = _result(files, call["function"]["name"], _arguments(call["function"]["arguments"]))
    return {"role": "tool", "tool_call_id": call["id"], "content": result}


def _arguments(raw: str) -> dict[str, Any] | None:
    try:
        value = json.loads(raw)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _result(files: dict[str, str], name: str, arguments: dict[str, Any] | None) -> str:
    match name, arguments:
        case _, None:
            return "error: the arguments are not a JSON object"
        case "read_file", {"path": str(path)}:
            return files.get(path, f"error: there is no file {path}")
        case "write_file", {"path": str(path), "text": str(text)}:
            files[path] = text
            return f"wrote {len(text.encode())} bytes to {path}"
    return f"error: no such tool, or an argument is missing: {name}"
