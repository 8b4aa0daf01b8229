"""stream.bad_frame"""

import pytest
from rules.builders import findings, pointers, said, streamed

RULE = "stream.bad_frame"


@pytest.mark.parametrize(
    "frame",
    [
        "data: : gateway working\n\n",
        "data: working\n\n",
        'data: {"choices": [\n\n',
        "data: <html>busy</html>\n\n",
        "upstream connected\n\n",
        "data: [END]\n\n",
    ],
)
def test_a_frame_that_is_no_json_is_found(frame: str) -> None:
    assert pointers(findings(RULE, streamed(frame, said("Port Arlo.")))) == ["/stream/0"]


@pytest.mark.parametrize(
    "frame", [": ping\n\n", "event: ping\n\n", "data:\n\n", "id: 3\n\n", "retry: 100\n\n"]
)
def test_lawful_lines_are_not(frame: str) -> None:
    assert findings(RULE, streamed(frame, said("Port Arlo."))) == []


def test_two_bad_frames_are_one_finding() -> None:
    found = findings(RULE, streamed("data: a\n\n", "data: b\n\n", said("x")))
    assert pointers(found) == ["/stream/0", "/stream/1"]
    assert found[0].evidence["frames"] == 2


def test_a_frame_torn_by_the_end_is_another_matter() -> None:
    here = streamed(said("Port"), 'data: {"choices": [{"del', finish=None, done=False)
    assert findings(RULE, here) == []
