"""The demo's conversation: what its user says, and a model that answers from what it was sent.

The model knows nothing but the request. Where the request has lost its beginning it says so.
"""

import re

from proxyaudit.demo.board import draw, play
from proxyaudit.demo.script import (
    Body,
    Call,
    ScriptedReply,
    last_user_text,
    results_since_user,
    texts,
    tools,
)

SYSTEM = (
    "You are a patient helper who plays board games and keeps small text files. "
    "Use the tools for files. Answer in one short paragraph, and draw the board after each move."
)
TITLE_SYSTEM = "Give this conversation a short title of at most six words. Answer with it alone."
FOLDER_NOTE = "Files in the folder of this conversation: house-rules.txt, players.txt"
USER_TURNS = (
    "Let us play tic-tac-toe: I am X and you are O, columns a to c, rows 1 to 3. "
    'Please keep a code word for later, it is "kestrel". I take b2.',
    "Before we go on, please read house-rules.txt and players.txt.",
    "Thank you. I take c1.",
    "Now I take a2.",
    "Save the code word in codeword.txt and the names of the players in names.txt.",
    "What was the code word I gave you, and which house rule is about draws?",
    "Write the board as it stands, with the code word under it, to result.txt, "
    "then read the file back and show me what it holds.",
)
FILES = {
    "house-rules.txt": (
        "House rules of the Thursday table\n"
        "1. X begins, and nobody takes back a move once the hand has left the board.\n"
        "2. A move is named by column and row, the column first, in a clear voice.\n"
        "3. After a draw the cocoa goes to whoever moved second, since that is harder.\n"
        "4. The board is drawn again after each move, so that latecomers can follow.\n"
        "5. Games are written down, and the notes are kept until the season is over.\n"
    ),
    "players.txt": "X: Ines\nO: Tomas\nPlace: café at the lock, second table from the door\n",
}
CODE_WORD = "kestrel"
TITLE = "Tic-tac-toe with a code word"


def demo_script(body: Body) -> ScriptedReply:
    """The model of the story; a pure function of the request."""
    asked = last_user_text(body)
    if not tools(body) and any("short title" in text for text in texts(body, "system")):
        return ScriptedReply(TITLE)
    if asked is None:
        return _lost("anything but the result of a tool")
    if "result.txt" in asked:
        return _write_result(body)
    if "codeword.txt" in asked:
        return _save(body)
    if "players.txt" in asked:
        return _read(body)
    if "What was the code word" in asked:
        return _recall(body)
    if "I take" in asked:
        return _move(body)
    return ScriptedReply("I am ready — tell me your move, or which file to read or write.")


def expected_result() -> str:
    """What result.txt holds at the end, if nothing was lost on the way."""
    return _result_text(draw(play(re.findall(r"I take ([abc][123])", " ".join(USER_TURNS)))))


def _result_text(board: str, word: str = CODE_WORD) -> str:
    return f"{board}\ncode word: {word}\n"


def _lost(what: str) -> ScriptedReply:
    return ScriptedReply(
        f"This looks like the very first message in our conversation — I see no {what}. "
        "Could you tell me once more what came before?",
        f"The request holds no {what}. I had better say so than make something up.",
    )


def _said(body: Body) -> str:
    return "\n".join(texts(body, "user"))


def _code_word(body: Body) -> str | None:
    found = re.search(r'code word for later, it is "(\w+)"', _said(body))
    return found[1] if found else None


def _board(body: Body) -> str | None:
    """The board that follows from the moves in the request; None where no game was begun."""
    said = _said(body)
    return draw(play(re.findall(r"I take ([abc][123])", said))) if "tic-tac-toe" in said else None


def _need(body: Body, *names: str) -> ScriptedReply | None:
    """What to say where a tool is not on offer."""
    missing = [name for name in names if name not in tools(body)]
    if not missing:
        return None
    return ScriptedReply(f"I was given no tool called {missing[0]}, so I cannot do that — sorry.")


def _move(body: Body) -> ScriptedReply:
    board = _board(body)
    if board is None:
        return _lost("game before this move")
    thought = "I go through the moves from the start, then look for a line that X could close."
    return ScriptedReply(f"My answer is on the board — your turn:\n\n{board}", thought)


def _read(body: Body) -> ScriptedReply:
    results = results_since_user(body)
    if not results:
        paths = ("house-rules.txt", "players.txt")
        calls = tuple(Call("read_file", {"path": path}) for path in paths)
        thought = "Two files that do not depend on each other: I read both at once."
        return _need(body, "read_file") or ScriptedReply("I read both files.", thought, calls)
    names = _names(body)
    if not names:
        return ScriptedReply("I have read what there was, but found no players in it — sorry.")
    return ScriptedReply(f"Both files are read: {names[0]} plays X, {names[1]} plays O — shall we?")


def _names(body: Body) -> tuple[str, str] | None:
    found = re.search(r"X: (\w+)\nO: (\w+)", "\n".join(texts(body, "tool")))
    return (found[1], found[2]) if found else None


def _save(body: Body) -> ScriptedReply:
    word, names = _code_word(body), _names(body)
    if word is None:
        return _lost("code word")
    if names is None:
        return _lost("players")
    results = results_since_user(body)
    if not results:
        calls = (
            Call("write_file", {"path": "codeword.txt", "text": f"{word}\n"}),
            Call("write_file", {"path": "names.txt", "text": f"{names[0]}, {names[1]}\n"}),
        )
        thought = "The code word came with the first move, the names stood in players.txt."
        return _need(body, "write_file") or ScriptedReply("I write both.", thought, calls)
    if any(result.startswith("error") for result in results):
        return ScriptedReply(f"That did not work — the tool says: {results[-1]}")
    return ScriptedReply("Both are saved — the code word and the two names, each in its own file.")


def _recall(body: Body) -> ScriptedReply:
    word = _code_word(body)
    if word is None:
        return _lost("code word")
    found = re.search(r"^(\d)\. After a draw", "\n".join(texts(body, "tool")), re.MULTILINE)
    rule = f"house rule {found[1]} is about draws" if found else "I see no house rule about draws"
    thought = "The word stands in the first message, the rules in the file that I read."
    return ScriptedReply(f"The code word is “{word}” — and {rule}.", thought)


def _write_result(body: Body) -> ScriptedReply:
    board, word = _board(body), _code_word(body)
    if board is None or word is None:
        return _lost("board and no code word that I could write down")
    results, path = results_since_user(body), "result.txt"
    if not results:
        text = _result_text(board, word)
        thought = "The board follows from the moves, the code word stands in the first message."
        call = Call("write_file", {"path": path, "text": text})
        return _need(body, "write_file") or ScriptedReply("I write it down.", thought, (call,))
    if results[-1].startswith("error"):
        return ScriptedReply(f"That did not work — the tool says: {results[-1]}")
    if len(results) == 1:
        call = Call("read_file", {"path": path})
        return _need(body, "read_file") or ScriptedReply("", "Now I read it back.", (call,))
    return ScriptedReply(f"result.txt is written — it holds:\n\n{results[-1]}")
