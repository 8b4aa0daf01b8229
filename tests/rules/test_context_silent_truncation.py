"""context.silent_truncation"""

from dataclasses import replace
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rules.builders import conversation, findings, pointers, skips, turn

from proxyaudit.core.json import JSON
from proxyaudit.core.message import Message, assistant, user
from proxyaudit.core.turn import Turn, Usage
from proxyaudit.rules.context.tokens import least_tokens

RULE = "context.silent_truncation"
BOOK = "The keeper wrote the wind, the tide and the light into the book each hour. " * 300


def counted(tokens: int | None, *messages: Message, cached: int | None = None) -> Turn:
    return turn(*messages, usage=Usage(tokens, 10, cached=cached))


def test_a_long_prompt_counted_as_a_few_tokens_is_found() -> None:
    found = findings(RULE, counted(512, user(BOOK), user("Is the light on?")))
    assert pointers(found) == ["/usage"]
    assert found[0].evidence["at_least"] == 4504


@pytest.mark.parametrize("tokens", [5400, 4600, 9000])
def test_a_count_that_fits_is_lawful(tokens: int) -> None:
    assert findings(RULE, counted(tokens, user(BOOK))) == []


def test_a_short_prompt_says_nothing() -> None:
    assert findings(RULE, counted(3, user("The keeper wrote the wind. " * 20))) == []


@pytest.mark.parametrize(
    "text",
    [" \n" * 9000, "-" * 9000, "=" * 40 + "\n", "x" * 20000, "|---|\n" * 3000, "aGVsbG8=" * 5000],
)
def test_runs_that_are_few_tokens_count_little(text: str) -> None:
    """Blank space, rulers and unbroken strings may be a token each."""
    assert least_tokens(text) <= 1


def test_scripts_without_spaces_are_counted_by_letters() -> None:
    assert least_tokens("守灯人每小时都把风向记在本子里。" * 100) > 300
    assert findings(RULE, counted(60, user("守灯人每小时都把风向记在本子里。" * 200)))


def test_a_count_without_its_cached_part_is_completed() -> None:
    assert findings(RULE, counted(40, user(BOOK), cached=5300)) == []


def test_without_a_count_the_rule_is_skipped() -> None:
    assert skips(RULE, turn(user(BOOK))) == ["no prompt tokens were reported"]
    assert skips(RULE, counted(0, user(BOOK))) == ["no prompt tokens were reported"]


def test_a_client_that_asks_for_truncation_gets_it() -> None:
    wish: dict[str, JSON] = {"truncation": "auto"}
    assert findings(RULE, turn(user(BOOK), usage=Usage(512, 10), settings=wish)) == []


@given(st.lists(st.text("abcdefg", min_size=1, max_size=12), min_size=1))
def test_a_token_a_word_is_the_bound(words: list[str]) -> None:
    """No more is ever demanded than one token for each word between spaces."""
    assert least_tokens(" ".join(words)) <= len(words)


def growing(*counts: int, part: str = "Log part {}: the ferry and its load. " * 40) -> list[Turn]:
    """A conversation that adds a part of about 300 words each turn."""
    turns, history = [], []
    for number, count in enumerate(counts, 1):
        history.append(user(part.format(*[number] * 40)))
        turns.append(
            turn(*history, reply=f"Part {number} noted.", usage=Usage(count, 5), id=f"{number}")
        )
        history.append(assistant(f"Part {number} noted."))
    return turns


def test_a_count_that_stands_still_is_found_with_all_its_turns() -> None:
    found = findings(RULE, conversation(*growing(500, 1000, 1000, 1000)))
    assert [p.exchange for f in found for p in f.places] == ["3", "4"]
    assert [p.exchange for p in found[0].before] == ["2"]


def test_a_count_that_shrinks_is_found() -> None:
    assert findings(RULE, conversation(*growing(900, 1400, 700)))


def test_a_count_that_grows_is_lawful() -> None:
    assert findings(RULE, conversation(*growing(450, 900, 1350, 1800))) == []


def test_small_additions_say_nothing() -> None:
    turns = growing(450, 450, 450, part="Part {} has nothing new.")
    assert findings(RULE, conversation(*turns)) == []


def test_after_a_compaction_less_is_lawful() -> None:
    first, second = growing(4000, 4500)
    third = turn(user("Summary: " + "logs " * 400), usage=Usage(600, 5), id="3")
    assert findings(RULE, conversation(first, second, third)) == []


def test_old_reasoning_may_be_dropped_by_the_template() -> None:
    """A template drops 2,000 tokens of thought when the user speaks again."""
    thought = assistant("Noted.", reasoning="The ferry was late again. " * 400)
    more = user("Now add this: " + "another ferry and its load " * 50)
    left = turn(user("Log."), thought, user("On."), usage=Usage(2600, 5), id="1")
    right = turn(
        user("Log."), thought, user("On."), assistant("Fine."), more, usage=Usage(900, 5), id="2"
    )
    assert findings(RULE, conversation(left, right)) == []


def test_another_model_counts_in_its_own_way() -> None:
    one, _ = growing(900, 900)
    history = (*one.prompt.messages, assistant("Part 1 noted."), user("word " * 300))
    two = turn(*history, usage=Usage(900, 5), model="other", id="2")
    assert findings(RULE, conversation(one, two)) == []


def test_one_count_is_not_enough() -> None:
    here = conversation(turn(user("Hi."), usage=Usage(5, 1)), turn(user("Hi."), id="2"))
    assert skips(RULE, here) == ["fewer than two turns report prompt tokens"]


def test_a_megabyte_of_punctuation_costs_no_time() -> None:
    """Runs without a letter are read once, not once more for every mark."""
    begun = perf_counter()
    assert least_tokens("." * 1_000_000) == 0
    assert least_tokens("…,_" * 300_000 + "a b") == 2
    assert perf_counter() - begun < 2


def kept_by_server(*counts: int) -> list[Turn]:
    """A conversation of which the server keeps the history, put back from the recording."""
    turns = growing(*counts)
    referring = [
        replace(t, prompt=replace(t.prompt, previous_id=f"r{n}", rebuilt=True))
        for n, t in enumerate(turns[1:])
    ]
    return [turns[0], *referring]


def test_a_history_kept_by_the_server_and_put_back_is_judged_by_its_growth() -> None:
    found = findings(RULE, conversation(*kept_by_server(400, 800, 800)))
    assert [p.exchange for f in found for p in f.places] == ["3"]
    assert findings(RULE, conversation(*kept_by_server(400, 800, 1200))) == []


def test_fewer_tokens_than_before_belong_to_state_ignored_there() -> None:
    assert findings(RULE, conversation(*kept_by_server(400, 380))) == []


def test_near_miss_a_history_that_the_recording_lacks_is_not_judged() -> None:
    turns = [
        replace(t, prompt=replace(t.prompt, previous_id="gone")) for t in growing(400, 400, 400)
    ]
    assert findings(RULE, conversation(*turns)) == []
