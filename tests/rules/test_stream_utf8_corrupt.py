"""stream.utf8_corrupt"""

import pytest
from rules.builders import ask, back, findings, pointers, raw_call, said, skips, streamed, turn

from proxyaudit.core.message import assistant, user

RULE = "stream.utf8_corrupt"
TORN = "Z��rich and more"


def test_a_pair_of_replacement_characters_is_found_at_its_event() -> None:
    assert pointers(findings(RULE, streamed(said("Hm. "), said(TORN)))) == ["/stream/1"]


def test_they_may_stand_in_arguments() -> None:
    here = turn(reply=assistant("", raw_call("k", "write", '{"text": "Z��rich"}')))
    assert findings(RULE, here)


def test_bytes_that_are_no_utf8_are_found() -> None:
    frame = b'data: {"choices":[{"index":0,"delta":{"content":"Z\xc3rich"}}]}\n\n'
    found = findings(RULE, streamed(frame))
    assert pointers(found) == ["/stream/0"]
    assert found[0].confidence == "certain"


def test_a_letter_cut_between_two_chunks_is_lawful() -> None:
    whole = 'data: {"choices":[{"index":0,"delta":{"content":"Zürich"}}]}\n\n'.encode()
    middle = whole.index(b"\xc3") + 1
    assert findings(RULE, streamed(whole[:middle], whole[middle:])) == []


def test_a_single_one_is_information() -> None:
    assert [f.severity for f in findings(RULE, streamed(said("odd � here")))] == ["info"]


def test_a_request_with_such_characters_may_be_quoted() -> None:
    here = streamed(said(TORN), body=ask("What is Z��rich?"))
    assert findings(RULE, here) == []
    assert skips(RULE, here) == ["the request holds replacement characters itself"]


def test_whoever_made_them_between_the_taps_is_named() -> None:
    upstream = streamed(said("Zürich"), id="u", tap="upstream")
    client = streamed(said("Z��rich"), id="c")
    found = findings(RULE, back(upstream, client))
    assert [(p.exchange, p.pointer) for p in found[0].places] == [("c", "/stream/0")]
    assert findings(RULE, back(upstream, streamed(said("Zürich")))) == []
    assert findings(RULE, back(streamed(said(TORN), tap="upstream"), client)) == []


@pytest.mark.parametrize(
    ("text", "severity"),
    [("Die M\ufffdhle.", None), ("caf\ufffd!", None), ("Done \ufffd.", "info")],
)
def test_a_single_mark_in_a_word(text: str, severity: str | None) -> None:
    assert [f.severity for f in findings(RULE, turn(user("hi"), reply=text))] == [severity]
