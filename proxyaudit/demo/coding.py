"""A script that keeps a real coding harness busy: it writes a file, reads it back and answers."""

import re

from proxyaudit.demo.script import (
    Body,
    Call,
    ScriptedReply,
    last_user_text,
    results_since_user,
    texts,
    tools,
    user_turns,
)

_WRITERS, _READERS, _SHELLS = ("write", "write_file"), ("read", "read_file"), ("bash", "shell")
_PATH_WORDS = ("filePath", "file_path", "path")
_TEXT_WORDS = ("content", "text", "file_text")
_LOOKS_BACK = re.compile(r"\b(again|continue|earlier|previous)\b", re.IGNORECASE)
_FILE_NAME = re.compile(r"[\w-]+\.(?:py|txt|md|json|js|html|css|toml)\b")


def coding_script(body: Body) -> ScriptedReply:
    """Write, read back, answer: one step for each tool result since the user spoke.

    The file holds every request of the conversation so far, so that a request without its history
    gives another file. Without tools it gives a title, or a summary where none is asked for.
    """
    asked = last_user_text(body) or ""
    if not tools(body):
        return _aside(body)
    turn = user_turns(body)
    if turn <= 1 and not results_since_user(body) and _LOOKS_BACK.search(asked):
        return ScriptedReply(
            "This looks like the very first message in our conversation: I see no earlier work.",
            "The user speaks of something earlier, but the request holds none of it.",
        )
    path = _path(body, asked, turn)
    steps = (_write(body, path), _read(body, path))
    done = len(results_since_user(body))
    if done < len(steps) and (call := steps[done]):
        words = (f"I write {path}.", "First I write the file."), ("", "Now I read it back.")
        text, thought = words[done]
        return ScriptedReply(text, f"Request {turn}. {thought}", (call,))
    return ScriptedReply(
        f"Done: request {turn} of our conversation is answered, and {path} is written and read.",
        f"Request {turn}. Both steps are behind me.",
    )


def _aside(body: Body) -> ScriptedReply:
    if "title" in " ".join(texts(body, "system", "developer", "user")).lower():
        return ScriptedReply("A small file, written and read")
    said = texts(body, "user")
    return ScriptedReply(f"Summary: {len(said)} requests, the last one: {said[-1] if said else ''}")


def _path(body: Body, asked: str, turn: int) -> str:
    """The file that the user names, in the harness's working directory if it names one."""
    named = _FILE_NAME.search(asked)
    name = named[0] if named else f"request-{turn}.txt"
    folder = re.search(r"[Ww]orking directory: (/[^\s<]+)", "\n".join(texts(body, "system")))
    return f"{folder[1].rstrip('/')}/{name}" if folder else name


def _text(body: Body) -> str:
    """One line for each thing the user has said."""
    said = [" ".join(text.split()) for text in texts(body, "user")]
    return "".join(f"request {n}: {text[:200]}\n" for n, text in enumerate(said, 1))


def _write(body: Body, path: str) -> Call | None:
    if found := _tool(body, _WRITERS):
        return Call(found, {_word(body, found, _PATH_WORDS): path, **_filled(body, found)})
    quoted = _text(body).replace("'", "'\\''")
    return _shell(body, f"printf '%s' '{quoted}' > '{path}'", "write the file")


def _filled(body: Body, name: str) -> Body:
    return {_word(body, name, _TEXT_WORDS): _text(body)}


def _read(body: Body, path: str) -> Call | None:
    if found := _tool(body, _READERS):
        return Call(found, {_word(body, found, _PATH_WORDS): path})
    return _shell(body, f"cat '{path}'", "read the file")


def _shell(body: Body, command: str, description: str) -> Call | None:
    found = _tool(body, _SHELLS)
    return Call(found, {"command": command, "description": description}) if found else None


def _tool(body: Body, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if name in tools(body)), None)


def _word(body: Body, name: str, words: tuple[str, ...]) -> str:
    """What this harness calls the argument."""
    schema = tools(body)[name].get("properties")
    known = schema if isinstance(schema, dict) else {}
    return next((word for word in words if word in known), words[0])
