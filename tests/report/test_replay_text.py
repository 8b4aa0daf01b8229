"""What a replay says, as text and as JSON."""

import json
from dataclasses import replace

from inline_snapshot import snapshot

from proxyaudit.core.replay import (
    Both,
    CallsCompared,
    NotReplayed,
    ReplayedTurn,
    ReplayResult,
    TextCompared,
)
from proxyaudit.report.console import plain
from proxyaudit.report.replay_text import headline, replay_json, replay_view

SAME = ReplayedTurn(
    number=1,
    exchange="a",
    replayed_as="a.replay",
    conversation="c1",
    turn=1,
    verdict="same",
    summary="the same prompt_tokens, the same reply",
    prompt_tokens=Both(113, 113),
    status=Both(200, 200),
    end=Both("complete", "complete"),
    model=Both("m", "m"),
    structure=(),
    finish=Both("stop", "stop"),
    calls=CallsCompared(Both((), ()), True, True),
    text=TextCompared(True, 1.0),
    reasoning=Both(False, False),
    first_byte=Both(0.12, 0.1),
    total=Both(0.3, None),
)
WORDS = replace(
    SAME, number=2, turn=2, verdict="other text", text=TextCompared(False, 0.73, 3, Both("a", "b"))
)
LOST = replace(
    SAME,
    number=3,
    turn=5,
    verdict="other prompt",
    summary="the same request gave prompt_tokens 812 here and 311 when recorded: "
    "the model did not see the same prompt",
    prompt_tokens=Both(311, 812),
    text=TextCompared(False, 0.2, 0, Both("Who are you?", "Zorblax.")),
)
EVIL = replace(
    SAME,
    number=4,
    turn=None,
    verdict="other tool calls",
    summary="call 1: read(\x1b[2J) when recorded, none here",
    calls=CallsCompared(Both(("re\x1bad",), ()), False, False),
    finish=Both("tool_calls", "stop"),
)
UNCOUNTED = replace(SAME, prompt_tokens=Both(113, None))


def result(*turns: ReplayedTurn, **more: object) -> ReplayResult:
    base = ReplayResult("recordings/old", "http://b/v1", "client", None, len(turns), turns)
    return replace(base, **more)  # type: ignore[arg-type]


def shown(found: ReplayResult) -> str:
    return plain(replay_view(found, "recordings/new"), 110)


def test_lost_prompt_leads() -> None:
    """The headline names the turn, the counts and the suspect; each turn has its line."""
    text = shown(result(SAME, WORDS, LOST, not_replayed=(NotReplayed("x", "GET"),)))
    assert text == snapshot("""\
turn 5: the same request gave prompt_tokens 812 here and 311 when recorded: the model did not see the same
prompt. Suspect: what stood between the harness and the model when it was recorded: the model got 501 tokens
fewer then.

turn  verdict       prompt_tokens  finish  tool calls  text   first byte s  total s
1     same          113            stop    –           equal  0.12 → 0.10   0.30 → –
2     other text    113            stop    –           73%    0.12 → 0.10   0.30 → –
5     other prompt  311 → 812      stop    –           20%    0.12 → 0.10   0.30 → –

turn 5: text, from character 0: “Who are you?” when recorded, “Zorblax.” here
3 turns replayed against http://b/v1 (model name as recorded); recorded → here.
Not replayed: 1 (GET).
New recording: recordings/new (proxyaudit audit recordings/new)
""")


def test_text_from_traffic_is_harmless() -> None:
    """Escape sequences in names and arguments come out visible."""
    text = shown(result(EVIL, interrupted=True, planned=9))
    assert "\x1b" not in text
    assert text == snapshot("""\
request 4: other tool calls: call 1: read(\\x1b[2J) when recorded, none here. prompt_tokens is equal in this
turn: nothing says that the model saw another prompt.

turn         verdict           prompt_tokens  finish             tool calls    text   first byte s  total s
(request 4)  other tool calls  113            tool_calls → stop  re\\x1bad → –  equal  0.12 → 0.10   0.30 → –

1 turn replayed against http://b/v1 (model name as recorded); recorded → here.
Ended early: 1 of 9 requests were replayed.
New recording: recordings/new (proxyaudit audit recordings/new)
""")


def test_headlines() -> None:
    """One answer for each way it can end."""
    plus = [replace(LOST, turn=n, prompt_tokens=Both(100 * n, 100 * n + 7)) for n in (1, 2)]
    less = replace(LOST, prompt_tokens=Both(812, 311))
    found = {
        "same": headline(result(SAME)),
        "words": headline(result(SAME, WORDS)),
        "uncounted": headline(result(UNCOUNTED)),
        "some uncounted": headline(result(SAME, UNCOUNTED)),
        "calls": headline(result(SAME, EVIL)),
        "fixed addition": headline(result(*plus)),
        "fewer here": headline(result(less)),
        "other model": headline(result(LOST, model="n")),
        "at the upstream tap": headline(result(LOST, tap="upstream")),
        "nothing": headline(result()),
    }
    assert found == snapshot(
        {
            "same": "prompt_tokens is equal in this turn: nothing says that the model saw another prompt. The replies are the same.",
            "words": "prompt_tokens is equal in every turn: nothing says that the model saw another prompt. Replies differ in their words alone, which is no fault: a model that samples says something else each time.",
            "uncounted": "prompt_tokens was not reported on both sides, so it cannot be said whether the model saw the same prompt. The replies are the same.",
            "some uncounted": "prompt_tokens is equal in 1 of 2 turns, unknown in the others. The replies are the same.",
            "calls": "request 4: other tool calls: call 1: read(\x1b[2J) when recorded, none here. 1 of 2 turns differ. prompt_tokens is equal in every turn: nothing says that the model saw another prompt.",
            "fixed addition": "turn 1: the same request gave prompt_tokens 812 here and 311 when recorded: the model did not see the same prompt. Suspect: what stood between the harness and the model when it was recorded: the model got 7 tokens fewer then. So in every turn. The difference is the same in each: a fixed addition (another chat template, a system message put in) explains it better than lost history.",
            "fewer here": "turn 5: the same request gave prompt_tokens 812 here and 311 when recorded: the model did not see the same prompt. Suspect: what stands between http://b/v1 and its model, which lost 501 tokens here, or what added them when it was recorded.",
            "other model": "turn 5: the same request gave prompt_tokens 812 here and 311 when recorded: the model did not see the same prompt. Suspect: what stood between the harness and the model when it was recorded: the model got 501 tokens fewer then. The model names differ, though: another tokenizer or chat template may explain it.",
            "at the upstream tap": "turn 5: the same request gave prompt_tokens 812 here and 311 when recorded: the model did not see the same prompt. Suspect: the server, or what stood between the proxy and it: the model got 501 tokens fewer then.",
            "nothing": "Nothing was replayed.",
        }
    )


def test_json_document() -> None:
    """The schema, the headline and every pair, with escapes for what a terminal would obey."""
    text = replay_json(result(EVIL), "recordings/new")
    assert "\x1b" not in text
    document = json.loads(text)
    assert document["schema"] == "proxyaudit.replay/1"
    assert document["headline"] == headline(result(EVIL))
    turn = document["turns"][0]
    assert turn["prompt_tokens"] == {"recorded": 113, "here": 113}
    assert turn["calls"]["names"] == {"recorded": ["re\x1bad"], "here": []}
    assert turn["total"] == {"recorded": 0.3, "here": None}
