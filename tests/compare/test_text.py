"""Word diff and likeness."""

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.compare.text import similarity, word_diff


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_word_diff_holds_both_texts(before: str, after: str) -> None:
    edits = word_diff(before, after)
    assert "".join(e.before for e in edits) == before
    assert "".join(e.after for e in edits) == after


def test_a_word_diff_names_the_words() -> None:
    edits = word_diff("Add two cans, both green.", "Add two cans.")
    assert [(e.kind, e.before, e.after) for e in edits] == [
        ("equal", "Add two cans", "Add two cans"),
        ("delete", ", both green", ""),
        ("equal", ".", "."),
    ]


@given(st.text(max_size=40))
def test_a_text_is_like_itself(text: str) -> None:
    assert similarity(text, text) == 1.0


def test_nothing_in_common_is_zero() -> None:
    assert similarity("aaaa", "bbbb") == 0.0
    assert similarity("", "b") == 0.0


def test_long_texts_are_judged_by_their_ends() -> None:
    long = "word " * 50_000
    assert similarity(long, long + "tail") > 0.99
