"""The section about tokens, word for word."""

from typing import Any

from inline_snapshot import snapshot
from rich.console import Group

from proxyaudit.core.json import JSON
from proxyaudit.core.report import Report
from proxyaudit.engine.accounting import Account, Entry, account_json
from proxyaudit.report.background import Background
from proxyaudit.report.console import plain
from proxyaudit.report.encoding import HANDLER
from proxyaudit.report.spark import spark
from proxyaudit.report.tokens import tokens_text


def shown(*accounts: Account, verbose: bool = False) -> str:
    measured: list[JSON] = [account_json(a) for a in accounts]
    report = Report(target="t", verdict="clean", measurements={"tokens": measured})
    return plain(Group(*tokens_text(report, Background(verbose=verbose))))


def entry(turn: int, tokens: int | None = None, **more: Any) -> Entry:
    return Entry(turn, f"e{turn}", tokens, **more)


FALLING = Account(
    "c1",
    3.42,
    4,
    (
        entry(1, 1200, characters=4000, cached_tokens=0, cached_share=0.0),
        entry(
            2,
            1500,
            tokens_grown=300,
            characters=5100,
            characters_grown=1100,
            cached_tokens=1180,
            cached_share=0.787,
        ),
        entry(
            3,
            600,
            tokens_grown=-900,
            characters=6000,
            characters_grown=900,
            cached_tokens=12,
            cached_share=0.02,
            seconds_since=731.0,
            upstream_prompt_tokens=590,
            marks=("fell", "cache_dropped", "counted_otherwise"),
        ),
    ),
)
QUIET = Account("c2", None, 0, (entry(1, 90), entry(2, None), entry(3, 130)))
SINGLE = Account("c3", None, 0, (entry(1, 40),))
SILENT = Account("c4", None, 0, (entry(1), entry(2)))


def test_a_line_for_each_conversation_and_one_for_each_oddity() -> None:
    assert shown(FALLING, QUIET, SINGLE, SILENT) == snapshot("""\

Tokens, as the replies count them
  c1  ▇█▄  1,200 → 600 · 3.4 characters a token (4 turns) · cached 2 % to 79 %
    turn 3: 1,500 → 600 prompt tokens, though the history grew by 900 characters
    turn 3: 1,180 → 12 tokens read from the cache, 731 s later: something early was changed, or
    another server answered
    turn 3: 600 prompt tokens at the client tap, 590 upstream
  c2  ▆·█  90 → 130 · not told in 1 turn · cached tokens not told
""")


def test_verbose_shows_every_turn() -> None:
    assert shown(FALLING, SINGLE, SILENT, verbose=True) == snapshot("""\

Tokens, as the replies count them
  c1  ▇█▄  1,200 → 600 · 3.4 characters a token (4 turns) · cached 2 % to 79 %
    turn  prompt  more  characters    more  cached  share
       1   1,200             4,000               0    0 %
       2   1,500  +300       5,100  +1,100   1,180   79 %
       3     600  -900       6,000    +900      12    2 %  1,500 → 600 prompt tokens, though the
                                                           history grew by 900 characters; 1,180 →
                                                           12 tokens read from the cache, 731 s
                                                           later: something early was changed, or
                                                           another server answered; 600 prompt
                                                           tokens at the client tap, 590 upstream
  c3  █  40 · cached tokens not told
    turn  prompt  more  characters  more  cached  share
       1      40                 –             –      –
  c4  no prompt tokens reported
""")


def test_counts_that_never_came_are_said_to_be_absent() -> None:
    assert shown(SILENT, verbose=True) == snapshot("""\

Tokens, as the replies count them
  no reply reports prompt tokens
""")
    assert shown(SILENT) == "\n"


def test_conversations_of_one_turn_have_nothing_to_tell() -> None:
    assert shown(SINGLE) == "\n"


def test_five_conversations_are_shown_the_odd_ones_among_them() -> None:
    many = [Account(f"q{n}", None, 0, (entry(1, 5), entry(2, 6))) for n in range(9)]
    text = shown(*many, FALLING)
    assert [line.split()[0] for line in text.splitlines() if "█" in line] == [
        "q0",
        "q1",
        "q2",
        "q3",
        "c1",
    ]


def test_a_report_made_elsewhere_may_hold_anything() -> None:
    report = Report(target="t", verdict="clean", measurements={"tokens": {"odd": 1}})
    assert plain(Group(*tokens_text(report, Background()))) == "\n"


def test_bars_go_from_zero_to_the_largest() -> None:
    assert spark([0, 10, 20, None, 80]) == "▁▂▃·█"
    assert spark([]) == ""
    assert spark([0, 0]) == "▁▁"
    assert spark([-5, 7]) == "▁█"


def test_many_bars_are_thinned_out_and_the_last_is_kept() -> None:
    bars = spark(list(range(1000)), width=10)
    assert len(bars) == 10
    assert bars[0] < bars[-1] == "█"


def test_bars_have_plain_letters_where_the_output_has_no_others() -> None:
    assert spark([0, 20, 80]).encode("ascii", HANDLER) == b"_:#"
