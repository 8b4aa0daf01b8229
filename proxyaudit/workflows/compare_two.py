"""Compare two recordings of the same work."""

from pathlib import Path

from proxyaudit.compare.recordings import ConversationPair, compare_recordings
from proxyaudit.core.errors import UserError
from proxyaudit.report.recordings_text import TwoRecordings
from proxyaudit.store.find import resolve
from proxyaudit.workflows.look import Looked, find, look


def second_recording(seen: Looked, word: str | None, root: Path) -> Looked | None:
    """The recording that a word means; None if it is a conversation or exchange of the first.

    UserError where it is neither.
    """
    if word is None:
        return None
    try:
        find(seen, word)
    except UserError as no_conversation:
        try:
            path = resolve(word, root)
        except UserError:
            hint = f"{no_conversation.hint}; and there is no recording of this name"
            raise UserError(no_conversation.message, hint) from None
        return look(str(path), root)
    return None


def compare_two(
    left: Looked, right: Looked, *, turn: int | None = None, hop: bool = False
) -> TwoRecordings:
    """Conversations of both, turn by turn; `turn` keeps only that turn of the left side.

    UserError for `hop`, which is about one recording, and for a turn that there is not.
    """
    if hop:
        raise UserError("--hop compares the taps of one recording", "leave out the second one")
    pairs = compare_recordings(left.audited.conversations, right.audited.conversations)
    if not pairs:
        raise UserError("neither recording holds a conversation", "there is nothing to compare")
    if turn is not None:
        pairs = [_only(pair, turn) for pair in pairs]
        if not any(pair.turns for pair in pairs):
            raise UserError(f"no conversation that both hold has a turn {turn}", "leave out --turn")
    return TwoRecordings(left.recording.target, right.recording.target, pairs)


def _only(pair: ConversationPair, turn: int) -> ConversationPair:
    kept = tuple(t for t in pair.turns if t.left is not None and t.left[0] == turn)
    return ConversationPair(pair.left, pair.right, kept)
