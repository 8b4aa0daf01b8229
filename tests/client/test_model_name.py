"""The model name is replaced in the raw bytes, and no other byte moves."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxyaudit.client.model_name import with_model

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["model", "a", '"']), inner),
    max_leaves=8,
)
MEMBERS = st.lists(st.tuples(st.sampled_from(["model", "messages", "Model", "{"]), JSON_VALUES))
GAPS = st.sampled_from(["", " ", "\r\n\t"])


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b'{"model":"a"}', b'{"model":"N"}'),
        (b'{ "x": 1.0 ,"model" :\n "a\\"}" , "x":1e0}', b'{ "x": 1.0 ,"model" :\n "N" , "x":1e0}'),
        (b'{"mod\\u0065l":"a"}', b'{"mod\\u0065l":"N"}'),
        (b'{"model":"a","model":null}', b'{"model":"N","model":"N"}'),
        (b'{"model":{"model":"a"},"z":[{"model":"b"}]}', b'{"model":"N","z":[{"model":"b"}]}'),
        (b'{"t":"\\"model\\":\\"a\\"","model":"b"}', b'{"t":"\\"model\\":\\"a\\"","model":"N"}'),
        (b'{"t":"\xff\xfe","model":"b"}', b'{"t":"\xff\xfe","model":"N"}'),
    ],
)
def test_only_the_top_level_value_changes(body: bytes, expected: bytes) -> None:
    """Escapes, duplicates, nested keys, spacing, bytes that are no UTF-8."""
    assert with_model(body, "N") == expected


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'"model"', b'{"a":{"model":"x"}}', b'[{"model":"x"}]', b'{"model"}']
)
def test_body_without_a_top_level_model(body: bytes) -> None:
    """Nothing to replace is told from a replacement."""
    assert with_model(body, "N") is None


@given(MEMBERS, GAPS, st.booleans(), st.text(max_size=8))
def test_any_object_keeps_its_spelling(
    members: list[tuple[str, object]], gap: str, ascii_only: bool, name: str
) -> None:
    """The oracle spells the same object with the other name in the places of the old ones."""

    def spelled(pairs: list[tuple[str, str]]) -> bytes:
        inner = f"{gap},{gap}".join(f"{json.dumps(k)}{gap}:{gap}{v}" for k, v in pairs)
        return f"{gap}{{{gap}{inner}{gap}}}{gap}".encode("utf-8", "surrogatepass")

    raw = [(key, json.dumps(value, ensure_ascii=ascii_only)) for key, value in members]
    fresh = [(key, json.dumps(name) if key == "model" else value) for key, value in raw]
    has_model = any(key == "model" for key, _ in members)
    assert with_model(spelled(raw), name) == (spelled(fresh) if has_model else None)


@given(st.binary(max_size=40) | st.text('{}[]":,\\model ', max_size=40).map(str.encode))
def test_broken_bodies_never_raise(body: bytes) -> None:
    """Bytes that are no JSON give nothing, or keep all that is not a model value."""
    result = with_model(body, "N")
    assert result is None or b'"N"' in result


def test_long_string_takes_one_pass() -> None:
    """Megabytes of a torn string with many escapes are read in linear time."""
    torn = b'{"a":"' + b'\\"' * 500_000
    assert with_model(torn, "N") is None
