"""The memo of readers: the same JSON at the same place is read once, within a limit."""

from proxyaudit.core.json import JSON
from proxyaudit.dialects.memo import Memo
from proxyaudit.dialects.openai_chat import DIALECT


def test_a_value_is_read_once_at_each_place() -> None:
    memo, reads = Memo[int](), [0]

    def reader(wire: str) -> int:
        reads[0] += 1
        return reads[0]

    same: list[JSON] = [{"a": 1}, {"a": 1}]
    assert [memo.read(value, "/0", reader) for value in same] == [1, 1]
    assert memo.read({"a": 1}, "/1", reader) == 2
    assert memo.read({"a": 2}, "/0", reader) == 3


def test_the_order_of_keys_makes_another_value() -> None:
    memo = Memo[str]()
    values: list[JSON] = [{"a": 1, "b": 2}, {"b": 2, "a": 1}]
    wires = {memo.read(value, "", str) for value in values}
    assert len(wires) == 2


def test_what_was_not_used_for_longest_is_forgotten_first() -> None:
    memo = Memo[str](limit=25)
    memo.read("a" * 8, "", lambda _: "first")
    memo.read("b" * 8, "", lambda _: "first")
    memo.read("a" * 8, "", str)
    memo.read("c" * 8, "", str)
    assert memo.read("a" * 8, "", lambda _: "again") == "first"
    assert memo.read("b" * 8, "", lambda _: "again") == "again"


def test_a_value_larger_than_the_limit_is_read_and_not_kept() -> None:
    memo = Memo[str](limit=3)
    assert memo.read("too large", "", lambda _: "first") == "first"
    assert memo.read("too large", "", lambda _: "second") == "second"


def test_a_growing_history_shares_its_messages() -> None:
    first: list[JSON] = [{"role": "user", "content": "a"}]
    one = DIALECT.read_prompt({"messages": list(first)})
    two = DIALECT.read_prompt({"messages": [*first, {"role": "user", "content": "b"}]})
    assert one.messages[0] is two.messages[0]
