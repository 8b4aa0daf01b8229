"""stream.buffered"""

from collections.abc import Sequence
from dataclasses import replace

from rules.builders import back, call, findings, pointers, skips, stream_of, turn

from proxyaudit.core.message import assistant
from proxyaudit.core.turn import Turn

RULE = "stream.buffered"


def at(times: Sequence[float], **more: object) -> Turn:
    return turn(stream=stream_of(times=times), **more)  # type: ignore[arg-type]


SPREAD = [0.4 + 0.3 * n for n in range(36)]
BURST = [10.95 + 0.001 * n for n in range(36)]


def test_a_burst_after_long_silence_is_found_at_one_tap() -> None:
    assert pointers(findings(RULE, at(BURST))) == ["/stream"]


def test_a_steady_stream_is_lawful() -> None:
    assert findings(RULE, at(SPREAD)) == []


def test_a_long_prefill_and_a_quick_decoder_are_lawful() -> None:
    """Six seconds of silence, then 150 tokens a second."""
    assert findings(RULE, at([6 + n / 150 for n in range(60)])) == []


def test_lumps_are_found_at_one_tap() -> None:
    """A hop that passes on sixteen pieces at a time."""
    lumps = [1.2 + 2 * (n // 16) + 0.0002 * (n % 16) for n in range(64)]
    assert pointers(findings(RULE, at(lumps))) == ["/stream"]


def test_several_tokens_a_step_are_no_lumps() -> None:
    assert findings(RULE, at([0.3 + 0.6 * (n // 6) for n in range(60)])) == []
    assert findings(RULE, at([0.3 + 0.1 * (n // 20) for n in range(60)])) == []


def test_a_pause_for_thought_is_no_lump() -> None:
    steady = [0.3 + 0.02 * n for n in range(40)]
    assert findings(RULE, at([*steady, *(t + 5 for t in steady)])) == []


def test_a_short_reply_says_nothing() -> None:
    assert findings(RULE, at(BURST[:8])) == []


def test_a_burst_at_once_is_a_fast_server() -> None:
    assert findings(RULE, at([0.1 + 0.001 * n for n in range(36)])) == []


def test_a_call_may_be_released_as_a_whole() -> None:
    here = at(BURST, reply=assistant("", call("k")))
    assert skips(RULE, here) == ["servers often release a tool call as a whole"]


def test_without_times_nothing_is_said() -> None:
    assert skips(RULE, at(BURST, timed=False)) == ["chunk times were not recorded"]
    assert skips(RULE, turn()) == ["the reply is no stream"]


def hop(sent: Sequence[float], got: Sequence[float]) -> list[object]:
    return list(findings(RULE, back(at(sent, tap="upstream"), at(got))))


def test_a_stream_held_back_between_the_taps_is_found() -> None:
    assert hop(SPREAD, BURST)


def test_a_stream_in_few_pieces_or_joined_into_one_is_found_too() -> None:
    assert hop([0.5, 1.0, 1.5, 2.0, 2.5, 3.0], [3.1] * 6)
    assert hop(SPREAD, [11.0])


def test_what_was_taken_out_took_its_time_with_it() -> None:
    """Ten seconds of reasoning that the client never gets are not held back."""
    whole = assistant("Open at noon.", reasoning="The gate is shut in the morning. " * 5)
    sent = at(SPREAD, tap="upstream", reply=whole)
    got = at(SPREAD[-6:], reply="Open at noon.")
    assert skips(RULE, back(sent, got)) == ["a part of the reply is gone, and its time with it"]


def test_a_stream_that_broke_off_says_nothing() -> None:
    cut = replace(at(SPREAD[:6]), exchange=replace(at(SPREAD).exchange, end="upstream_reset"))
    assert skips(RULE, back(at(SPREAD, tap="upstream"), cut)) == ["the reply broke off"]


def test_a_few_bursts_are_found_too() -> None:
    """Every ten pieces come together, spread over the whole time."""
    lumps = [SPREAD[min(35, 10 * (n // 10) + 9)] for n in range(36)]
    assert hop(SPREAD, lumps)


def test_a_steady_delay_is_lawful() -> None:
    assert hop(SPREAD, [t + 0.8 for t in SPREAD]) == []


def test_jitter_is_lawful() -> None:
    """Now and then two pieces arrive together."""
    assert hop(SPREAD, [t + (0.3 if n % 5 == 0 else 0.0) for n, t in enumerate(SPREAD)]) == []


def test_what_came_in_a_burst_from_upstream_is_not_the_proxy_s_doing() -> None:
    assert hop(BURST, BURST) == []


def test_another_clock_at_the_other_tap_does_not_matter() -> None:
    sent = at(SPREAD, tap="upstream", started_at=500.0)
    assert findings(RULE, back(sent, at([t + 0.01 for t in SPREAD]))) == []
    assert findings(RULE, back(sent, at(BURST)))
