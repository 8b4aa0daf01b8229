"""What comes from traffic must not reach a terminal as anything but visible text."""

import json
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.report.safe import is_harmful, safe, safe_json, safe_line

_ANY = st.text(st.characters(exclude_categories=()), max_size=80)


@given(_ANY)
def test_no_control_or_invisible_character_survives(text: str) -> None:
    """Line ends and tabs stay; every other control, format or surrogate character is escaped."""
    shown = safe(text)
    assert all(
        char in "\n\t" or unicodedata.category(char) not in {"Cc", "Cf", "Cs", "Zl", "Zp"}
        for char in shown
    )
    shown.encode("utf-8")


@given(_ANY)
def test_harmless_text_is_not_touched(text: str) -> None:
    """Only harmful characters are replaced; all others stay, in order."""
    kept = "".join(char for char in text if not is_harmful(char))
    assert safe(kept) == kept


@given(_ANY, st.integers(min_value=2, max_value=40))
def test_a_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    shown = safe_line(text, limit)
    assert len(shown.splitlines()) <= 1
    assert len(shown) <= limit


@given(st.dictionaries(_ANY, _ANY, max_size=4))
def test_json_keeps_its_value_and_becomes_harmless(value: dict[str, str]) -> None:
    document = safe_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(document) == value
    assert not any(is_harmful(char) for char in document)


def test_what_escapes_look_like() -> None:
    """As a programmer would write them."""
    assert safe("\x1b[2J\x9b1m") == "\\x1b[2J\\x9b1m"
    assert safe("a\r\nb\tc") == "a\\r\nb\tc"
    assert safe("\u202eevil\u200b\U000e0041\ud800") == "\\u202eevil\\u200b\\U000e0041\\ud800"
    assert safe("naïve “日本” 🙂") == "naïve “日本” 🙂"
