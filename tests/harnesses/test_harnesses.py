"""Profiles of harnesses: how they are known, and what they lawfully do."""

from time import perf_counter

import pytest
from comparing import across_hop, across_turns, compared
from turns import turn

from proxyaudit.core.exchange import Exchange, Headers, Request
from proxyaudit.core.message import Message, ToolCall, assistant, system, tool, user
from proxyaudit.core.recording import Assume
from proxyaudit.harnesses.base import REMINDER, UNKNOWN, all_harnesses, harness_of

S = system("You keep a shed.")
A, B, C, D = user("three rakes"), assistant("noted"), user("add two cans"), assistant("added")
OPENCODE = (("User-Agent", "opencode/1.18.33 ai-sdk/provider-utils/4.0.23"),)
CLAUDE = (("User-Agent", "claude-cli/2.1.197 (external, cli)"),)
QWEN = (("User-Agent", "QwenCode/0.15.10 (linux; x64)"),)
CALL = assistant("", ToolCall("1", "read", "{}"))
NOTE = "<system-reminder>Plan only.</system-reminder>\n"


def sent(headers: Headers) -> Exchange:
    return Exchange("1", "client", 0.0, Request("POST", "http://m.test/", headers))


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        (OPENCODE, "opencode"),
        (CLAUDE, "claude-code"),
        (QWEN, "qwen-code"),
        ((("user-agent", "codex_exec/0.171.0 (Debian)"),), "codex"),
        ((("X-Claude-Code-Session-Id", "1"),), "claude-code"),
        ((("user-agent", "OpenAI/JS 6.26.0"),), UNKNOWN.name),
        ((), UNKNOWN.name),
    ],
)
def test_a_harness_is_known_by_what_it_sends(headers: Headers, name: str) -> None:
    assert harness_of(sent(headers)).name == name


def test_a_harness_that_shows_nothing_can_be_stated() -> None:
    assert harness_of(sent(()), "aider").rewrites
    assert harness_of(sent(OPENCODE), "continue").echoes_reasoning is False


def test_names_are_unique() -> None:
    names = [harness.name for harness in all_harnesses()]
    assert len(set(names)) == len(names) >= 8


def severities(rule: str, before: Message, after: Message, headers: Headers) -> list[str | None]:
    """What a rule says where a message of an earlier turn changed."""
    found = across_turns(
        rule,
        turn(S, A, CALL, before, reply=B, headers=headers)
        if before.role == "tool"
        else turn(S, before, reply=B, headers=headers),
        turn(S, A, CALL, after, B, C, headers=headers)
        if after.role == "tool"
        else turn(S, after, B, C, headers=headers),
    )
    return [f.severity for f in found]


@pytest.mark.parametrize("headers", [OPENCODE, CLAUDE, QWEN])
def test_a_reminder_taken_out_again_is_lawful(headers: Headers) -> None:
    before, after = user(NOTE + "list the shed"), user("list the shed")
    assert severities("message.rewritten", before, after, headers) == ["info"]


@pytest.mark.parametrize(
    ("before", "after", "did"),
    [
        (NOTE + "list the shed", "list the shed", "took a reminder out of"),
        ("list the shed", "list the shed\n" + NOTE, "put a reminder into"),
        (NOTE + "list", NOTE.replace("Plan", "Build") + "list", "changed a reminder in"),
    ],
)
def test_reminders_of_an_unknown_client_come_and_go(before: str, after: str, did: str) -> None:
    found = across_turns(
        "message.rewritten",
        turn(S, user(before), reply=B),
        turn(S, user(after), B, C),
    )
    assert [f.severity for f in found] == ["info"]
    assert found[0].message == f"the harness {did} a user message"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (NOTE.replace("system-reminder", "note") + "list the shed", "list the shed"),
        (NOTE + "list the whole shed", "list it"),
        ("<system-reminder>Plan only. list the shed", "list the shed"),
        ("list the shed", "list the shed  "),
    ],
)
def test_near_miss_other_changes_of_an_unknown_client(before: str, after: str) -> None:
    assert severities("message.rewritten", user(before), user(after), ()) == [None]


def test_a_proxy_has_no_reminders() -> None:
    left, right = turn(S, user(NOTE + "list")), turn(S, user("list"), tap="upstream")
    assert [f.severity for f in across_hop("message.rewritten", left, right)] == [None]


def test_reminders_that_never_close_cost_no_time() -> None:
    begun = perf_counter()
    assert REMINDER.sub("", "<system-reminder>" * 50_000 + "a")
    assert perf_counter() - begun < 2


def test_near_miss_more_than_the_reminder_is_gone() -> None:
    before, after = user(NOTE + "list the whole shed"), user("list it")
    assert severities("message.rewritten", before, after, OPENCODE) == [None]


def test_opencode_prunes_old_results() -> None:
    before, after = tool("1", "rake\n" * 90), tool("1", "[Old tool result content cleared]")
    assert severities("tool.result_cleared", before, after, OPENCODE) == ["info"]
    assert severities("tool.result_cleared", before, after, CLAUDE) == [None]


def test_qwen_code_rebuilds_its_environment() -> None:
    before = user("This is the Qwen Code. Files: a, b")
    after = user("This is the Qwen Code. Files: a, b, c and the log")
    assert severities("message.rewritten", before, after, QWEN) == ["info"]


def test_codex_says_in_a_header_that_it_compacted() -> None:
    def window(number: int) -> Headers:
        return (
            ("user-agent", "codex_exec/0.171.0"),
            ("session-id", "s"),
            ("x-codex-window-id", f"s:{number}"),
        )

    found = compared(
        turn(S, A, B, C, reply=D, headers=window(0)),
        turn(S, A, C, user("Kif jeb fodi: what was done."), headers=window(1)),
    )
    assert found.compacted
    same = compared(
        turn(S, A, B, C, reply=D, headers=window(0)),
        turn(S, A, C, user("Kif jeb fodi: what was done."), headers=window(0)),
    )
    assert not same.compacted


def test_aider_makes_no_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stated to be aider, a history that is built anew is told at info."""
    from proxyaudit.core.recording import Recording
    from proxyaudit.engine import audit, subjects

    one, two = turn(S, A, B, C, reply=D), turn(S, B, C, D, user("more"))
    by_id = {one.id: one, two.id: two}
    monkeypatch.setattr(subjects, "read_turns", lambda exchange: (by_id[exchange.id],))
    exchanges = (one.exchange, two.exchange)
    strict = audit(Recording("x", exchanges)).report
    stated = audit(Recording("x", exchanges, Assume(harness="aider"))).report
    assert {f.severity for f in strict.findings if f.rule == "message.dropped"} == {"error"}
    assert {f.severity for f in stated.findings if f.rule == "message.dropped"} == {"info"}
