"""tool.index_collision and tool.index_missing"""

from rules.builders import call, chunk, findings, piece, pointers, said, streamed, turn

from proxyaudit.core.message import assistant

COLLISION, MISSING = "tool.index_collision", "tool.index_missing"


def test_a_second_id_under_the_same_index_is_a_collision() -> None:
    here = streamed(
        chunk({"role": "assistant"}),
        piece(0, '{"path": "a"}', id="p-1", name="read_file"),
        piece(0, '{"path": "c"}', id="p-2", name="read_file"),
    )
    assert pointers(findings(COLLISION, here)) == ["/stream/2"]


def test_a_second_call_without_id_is_a_collision_if_the_first_is_complete() -> None:
    here = streamed(
        piece(0, '{"path": "a"}', id="", name="read_file"),
        piece(0, '{"path": "c"}', id="", name="read_file"),
    )
    assert pointers(findings(COLLISION, here)) == ["/stream/1"]


def test_calls_under_their_own_index_are_lawful() -> None:
    here = streamed(
        piece(0, '{"path": "a"}', id="p-1", name="read_file"),
        piece(1, '{"path": "c"}', id="p-2", name="read_file"),
    )
    assert findings(COLLISION, here) == findings(MISSING, here) == []


def test_an_id_that_is_repeated_with_each_piece_is_lawful() -> None:
    here = streamed(
        piece(0, '{"pa', id="p-1", name="read_file"),
        piece(0, 'th": "a"}', id="p-1"),
    )
    assert findings(COLLISION, here) == []


def test_an_id_that_changes_within_one_call_is_no_second_call() -> None:
    here = streamed(
        piece(0, '{"pa', id="p-1", name="read_file"),
        piece(0, 'th": "a"}', id="p-2", name="read_file"),
    )
    assert findings(COLLISION, here) == []


def test_a_piece_without_index_is_found() -> None:
    here = streamed(said("Hm."), piece(None, "{}", id="i-1", name="list_dir"))
    assert pointers(findings(MISSING, here)) == ["/stream/1"]


def test_a_plain_call_needs_no_index() -> None:
    assert findings(MISSING, turn(reply=assistant("", call("k-1")))) == []
