"""Word-level diffs as people read them, without colour."""

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from proxyaudit.compare.text import WordEdit
from proxyaudit.report import words
from proxyaudit.report.words import edits_of, tidy, word_text

_WORDS = st.lists(st.sampled_from(["a", "bb", " ", "  ", "\n", ".", "é"]), max_size=20).map("".join)


def test_changed_words_stand_in_marks() -> None:
    diff = word_text(
        "My name is Zorblax, and I like green tea.", "My name is Bob, and I really like tea."
    )
    assert diff.plain == snapshot(
        "My name is [-Zorblax-]{+Bob+}, and I {+really +}like[- green-] tea."
    )


def test_a_phrase_is_not_chopped_into_words() -> None:
    """A blank that happens to be equal does not keep two changes apart."""
    diff = word_text("Read the file config.toml", "Summarise everything")
    assert diff.plain == snapshot("[-Read the file config.toml-]{+Summarise everything+}")


def test_changed_white_space_is_visible() -> None:
    assert word_text("a  b", "a b").plain == snapshot("a[-··-]{+·+}b")
    assert word_text("a\tb", "a\u00a0b").plain == snapshot("a[-→-]{+\\xa0+}b")
    assert word_text("end", "end\n").plain == snapshot("end{+↵\n+}")


def test_escape_sequences_in_changed_words_are_visible() -> None:
    assert word_text("x", "x \x1b[2J").plain == snapshot("x{+ \\x1b[2J+}")


def test_long_equal_stretches_are_counted() -> None:
    """The words beside a change stay."""
    around = "lorem ipsum " * 100
    diff = word_text(f"{around}cat {around}", f"{around}dog {around}")
    assert diff.plain == snapshot(
        "… 1,146 characters equal … ipsum lorem ipsum lorem ipsum lorem ipsum lorem ipsum "
        "[-cat-]{+dog+} lorem ipsum lorem ipsum lorem ipsum lorem ipsum lorem … 1,147 characters "
        "equal …"
    )
    assert f"{around}[-cat-]" in word_text(f"{around}cat", f"{around}dog", whole=True).plain


def test_what_the_evidence_left_out_is_counted_too() -> None:
    """Evidence comes cut; its own note must not be shown as text of the message."""
    head, tail = "[… 1,000 equal characters …] ", " [… 500 equal characters …]"
    diff = word_text(f"{head}so red it is{tail}", f"{head}so green it is{tail}")
    assert diff.plain == snapshot(
        "… 1,000 characters equal … so [-red-]{+green+} it is … 500 characters equal …"
    )


def test_a_long_change_is_cut_in_its_middle() -> None:
    diff = word_text("keep", "keep " + "word" * 1000)
    assert len(diff.plain) < 800
    assert "3,401 characters" in diff.plain


def test_texts_too_long_for_words_are_compared_by_lines() -> None:
    """Cost must not grow with the product of two very long texts."""
    before = "".join(f"line {n} {'x' * 50}\n" for n in range(3000))
    after = before.replace("line 1500 ", "line fifteen hundred ").replace("line 2900 ", "")
    changed = [e for e in edits_of(before, after) if e.kind != "equal"]
    assert [(e.before, e.after) for e in changed] == snapshot(
        [("1500", "fifteen hundred"), ("line 2900 ", "")]
    )


@given(_WORDS, _WORDS)
def test_edits_give_back_both_texts(before: str, after: str) -> None:
    """Tidied or not, by words or by lines."""
    lines = words._LINES
    by_lines = list(words._by_lines(lines.findall(before), lines.findall(after)))
    for edits in (edits_of(before, after), tidy(edits_of(before, after)), by_lines):
        assert "".join(edit.before for edit in edits) == before
        assert "".join(edit.after for edit in edits) == after


def test_tidy_leaves_equal_words_between_changes() -> None:
    edits = [
        WordEdit("delete", "a", ""),
        WordEdit("equal", " word ", " word "),
        WordEdit("insert", "", "b"),
    ]
    assert tidy(edits) == edits
