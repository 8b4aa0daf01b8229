"""Tic-tac-toe for the story: where O answers, and how the board looks."""

from collections.abc import Iterable

_CELLS = tuple(f"{column}{row}" for row in "123" for column in "abc")
_LINES = (
    *(tuple(f"{column}{row}" for column in "abc") for row in "123"),
    *(tuple(f"{column}{row}" for row in "123") for column in "abc"),
    ("a1", "b2", "c3"),
    ("c1", "b2", "a3"),
)
_PREFERRED = ("b2", "a1", "c1", "a3", "c3", *_CELLS)

type Board = dict[str, str]


def play(moves: Iterable[str]) -> Board:
    """The board after these moves of X, each answered by O. A move on a taken cell is skipped."""
    board: Board = {}
    for move in moves:
        if move in _CELLS and move not in board:
            board[move] = "X"
            if answer := _answer(board):
                board[answer] = "O"
    return board


def draw(board: Board) -> str:
    """The board as four lines of text."""
    rows = [" ".join(board.get(f"{column}{row}", "·") for column in "abc") for row in "123"]
    return "\n".join(["  a b c", *(f"{n} {row}" for n, row in enumerate(rows, 1))])


def _answer(board: Board) -> str | None:
    """Where O goes: win, else stop X, else the first free cell that it likes."""
    for mark in "OX":
        for line in _LINES:
            free = [cell for cell in line if cell not in board]
            if len(free) == 1 and sum(board.get(cell) == mark for cell in line) == 2:
                return free[0]
    return next((cell for cell in _PREFERRED if cell not in board), None)
