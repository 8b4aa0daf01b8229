"""The text report, word for word, in one hundred columns without colour."""

from inline_snapshot import snapshot

from proxyaudit.core.report import (
    Checked,
    Report,
    ReportedConversation,
    ReportedFinding,
    ReportedPlace,
)
from proxyaudit.report.background import Background
from proxyaudit.report.console import plain
from proxyaudit.report.text import report_text

_NUMBERS = {f"{tap}{n}": n for tap in "eu" for n in range(1, 9)}


def _place(exchange: str, side: str, pointer: str) -> ReportedPlace:
    return ReportedPlace(exchange=exchange, side=side, pointer=pointer)


LOST = ReportedFinding(
    rule="message.dropped",
    severity="error",
    confidence="certain",
    suspect="proxy",
    message="the proxy lost 4 of 9 messages between the taps",
    places=[_place(f"u{n}", "upstream.request", "/messages") for n in (5, 6, 7)],
    before=[_place("e5", "client.request", f"/messages/{n}") for n in (1, 2, 3, 4)],
    conversation="c1",
    turn=5,
    evidence={
        "lost": 4,
        "of": 9,
        "text": "My name is Zorblax\x1b]52;c;ZXZpbA==\x07\n✓ No context was lost",
        "also": ["the proxy lost 6 of 11 messages", "the proxy lost 8 of 13 messages"],
        "times": 5,
    },
)
CHANGED = ReportedFinding(
    rule="message.rewritten",
    severity="warn",
    confidence="likely",
    suspect="upstream",
    message="the user message was changed",
    places=[_place("e4", "client.request", "/messages/3/content")],
    before=[_place("e3", "client.request", "/messages/3/content")],
    conversation="c1",
    turn=4,
    evidence={"before": "Add two cans, both green", "after": "Add two cans", "alike": 0.66},
)
FORKED = ReportedFinding(
    rule="history.forked",
    severity="info",
    confidence="certain",
    suspect="harness",
    message="the user went back to turn 2",
    places=[_place("e3", "client.request", "/messages")],
    conversation="c1",
    turn=3,
)
CONVERSATIONS = [
    ReportedConversation(id="c2", parent="c1", kind="side", exchanges=["s1"], turns=1),
    ReportedConversation(
        id="c1",
        parent=None,
        kind="main",
        exchanges=[f"e{n}" for n in range(1, 9)],
        session="ses_1",
        turns=7,
    ),
]


def test_findings_come_first_and_worst_first() -> None:
    """Verdict, conversations, findings, what was checked, what was not, what next."""
    report = Report(
        target="recordings/demo",
        verdict="findings",
        headline="The proxy lost 4 of 9 messages between the taps at turn 5.",
        conversations=CONVERSATIONS,
        findings=[FORKED, CHANGED, LOST],
        checked=[
            Checked(rule="message.dropped", subjects=20),
            Checked(rule="message.rewritten", subjects=20),
            Checked(rule="stream.buffered", subjects=9, skipped={"no chunk times": 9}),
            Checked(rule="system.dropped", subjects=0),
            Checked(rule="tool.id_reused", subjects=3, broke=1),
        ],
        measurements={"exchanges": {"client": 9, "upstream": 8}, "not_turns": {"not a POST": 2}},
        flaws=["exchanges-0001.jsonl.zst:14: torn line, left out"],
    )
    families = {"message.dropped": "history", "message.rewritten": "history"}
    shown = plain(report_text(report, Background(_NUMBERS, families)))
    assert shown == snapshot("""\
✗ The proxy lost 4 of 9 messages between the taps at turn 5.
  recordings/demo · 1 error, 1 warning, 1 note · 17 exchanges at both taps · 8 turns in 2
  conversations

Conversations
  main    c1  7 turns  ✗ 1 error, 1 warning, 1 note  session ses_1 · 1 more attempt
    side  c2   1 turn  ✓ clean

Findings

  error  message.dropped  turn 5  suspect: the proxy
    the proxy lost 4 of 9 messages between the taps
    where   turn 5 · upstream.request /messages
            and 2 more, turns 6–7
    before  turn 5 · client.request /messages/1, /messages/2, /messages/3 and 1 more
    again   the proxy lost 6 of 11 messages
    again   … and 3 more like these
    │ My name is Zorblax\\x1b]52;c;ZXZpbA==\\a
    │ ✓ No context was lost

  warn  message.rewritten  turn 4  suspect: proxy or server (one tap cannot tell), likely
    the user message was changed
    where   turn 4 · client.request /messages/3/content
    before  turn 3 · client.request /messages/3/content
    alike   0.66
    │ Add two cans[-, both green-]

  info  history.forked  turn 3  the user went back to turn 2

Checked
  history  2 rules  40 checks  3 findings
  tool      1 rule   2 checks

Could not be checked
  no chunk times                         9 times      stream.buffered
  nothing of the kind in this recording               system.dropped
  the rule broke (a bug)                 1 time       tool.id_reused
  not a POST                             2 exchanges  not judged

Flaws
  exchanges-0001.jsonl.zst:14: torn line, left out

Next
  proxyaudit diff recordings/demo c1 --hop --turn 5  both sides of the proxy
  proxyaudit show recordings/demo c1 --turn 5        the whole exchange
  proxyaudit rule message.dropped                    why it matters, where to look
  proxyaudit replay recordings/demo --target URL     the same requests, without the proxy
""")


def test_a_clean_report_says_what_it_does_not_prove() -> None:
    """With one tap only, half of the way is out of sight."""
    report = Report(
        target="a session.flow",
        verdict="clean",
        headline="No context was lost: 7 turns of 1 conversation seen at one tap.",
        conversations=CONVERSATIONS[1:],
        checked=[Checked(rule="message.dropped", subjects=6)],
        measurements={"exchanges": {"client": 8, "upstream": 0}},
    )
    assert plain(report_text(report)) == snapshot("""\
✓ No context was lost: 7 turns of 1 conversation seen at one tap.
  a session.flow · 8 exchanges at the client tap · 7 turns in 1 conversation

Conversations
  main  c1  7 turns  ✓ clean  session ses_1 · 1 more attempt

Checked
  message  1 rule  6 checks

What this does not prove
  Only the client tap was recorded. What happens behind it, to the request on its way to the model,
  is out of sight: `proxyaudit record --backend URL` sees both sides.

Next
  proxyaudit show 'a session.flow'                 the conversations and their turns
  proxyaudit replay 'a session.flow' --target URL  ask again and compare the answers
""")


def test_nothing_to_judge_is_not_clean() -> None:
    report = Report(
        target="empty.jsonl",
        verdict="inconclusive",
        headline="Nothing could be judged: none of 2 exchanges is a request to a language model.",
        measurements={"exchanges": {"client": 2, "upstream": 0}, "not_turns": {"not JSON": 2}},
    )
    assert plain(report_text(report)) == snapshot("""\
? Nothing could be judged: none of 2 exchanges is a request to a language model.
  empty.jsonl · 2 exchanges at the client tap

Checked
  nothing: no rule found anything to look at

Could not be checked
  not JSON  2 exchanges  not judged

Next
  proxyaudit show empty.jsonl  what was recorded
  proxyaudit record --help     how to put the recorder in between
""")


def test_traffic_cannot_pass_for_the_report() -> None:
    """Neither by escape sequences nor by a line that looks like one of ours."""
    report = Report(
        target="x",
        verdict="findings",
        headline="Changed: \x1b[2Jname\nVerdict: clean",
        findings=[LOST, CHANGED.model_copy(update={"message": "a\nb\x9b1m"})],
    )
    shown = plain(report_text(report))
    assert "\x1b" not in shown
    assert "\x9b" not in shown
    assert "\nVerdict" not in shown
    assert "\n✓" not in shown
    assert "│ ✓ No context was lost" in shown


def test_verbose_leaves_nothing_out() -> None:
    report = Report(target="x", verdict="findings", findings=[LOST, FORKED])
    shown = plain(report_text(report, Background(_NUMBERS, verbose=True)))
    for turn in (5, 6, 7):
        assert f"turn {turn} · upstream.request /messages" in shown
    assert "/messages/4" in shown
    assert "suspect: the harness" in shown


def test_the_report_keeps_to_the_width() -> None:
    """Everything but commands, which have to be copied whole."""
    report = Report(
        target="recordings/demo",
        verdict="findings",
        headline="word " * 60,
        conversations=CONVERSATIONS,
        findings=[LOST, CHANGED, FORKED],
    )
    shown = plain(report_text(report, Background(_NUMBERS)), 60)
    assert max(len(line) for line in shown.splitlines()) <= 60


def test_many_conversations_are_cut_to_those_that_matter() -> None:
    many = [
        ReportedConversation(id=f"s{n}", parent=None, kind="side", exchanges=[], turns=1)
        for n in range(40)
    ]
    report = Report(target="x", verdict="clean", conversations=[*many, *CONVERSATIONS])
    shown = plain(report_text(report))
    assert "… and 41 more (--verbose lists them)" in shown
    assert "c1" in shown
    assert "s39" in plain(report_text(report, Background(verbose=True)))
