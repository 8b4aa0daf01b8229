"""`proxyaudit.toml`: where it is found, what it says, what wins, and what is told of mistakes."""

import json
from pathlib import Path

import pytest
from chat_lines import forgetful_proxy, write
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from proxyaudit.cli.main import run
from proxyaudit.core.errors import UserError
from proxyaudit.core.recording import Assume
from proxyaudit.workflows.selection import with_facts
from proxyaudit.workflows.settings import Settings, find_settings, line_of, read_settings, stated

DOCS = Path(__file__).parents[2] / "docs" / "configuration.md"


def settings(tmp_path: Path, source: str) -> Settings:
    path = tmp_path / "proxyaudit.toml"
    path.write_text(source, "utf-8")
    return read_settings(path)


def complaint(tmp_path: Path, source: str) -> str:
    with pytest.raises(UserError) as caught:
        settings(tmp_path, source)
    text = f"{caught.value.message} | {caught.value.hint}"
    return text.replace(f"{tmp_path}/", "")


def test_the_example_of_the_documentation_is_right(tmp_path: Path) -> None:
    example = DOCS.read_text("utf-8").partition("```toml\n")[2].partition("```")[0]
    assert settings(tmp_path, example) == Settings.model_validate(
        {
            "select": ["history", "tools", "message.*"],
            "ignore": ["stream.buffered"],
            "fail_on": "error",
            "assume": {
                "reasoning_echo": "tool_turns",
                "client_credential_is_for": "proxy",
                "model_aliases": {"coder": ["qwen3-coder", "qwen3-coder-480b"]},
            },
        }
    )


def test_an_empty_file_and_a_table_of_targets_change_nothing(tmp_path: Path) -> None:
    assert settings(tmp_path, "") == Settings()
    other = settings(tmp_path, '[targets.local]\nurl = "http://127.0.0.1:8000"\nkey = 1\n')
    assert (other.assume, other.select, other.fail_on) == (Settings().assume, [], None)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (
            'select = ["history"]\nfial_on = "warn"\n',
            snapshot("proxyaudit.toml:2: unknown key 'fial_on' | did you mean fail_on?"),
        ),
        (
            '[assume]\n\nreasoning_eco = "always"\n',
            snapshot(
                "proxyaudit.toml:3: unknown key 'assume.reasoning_eco' | did you mean reasoning_echo?"
            ),
        ),
        (
            'assume.reasoning_echo = "sometimes"\n',
            snapshot(
                "proxyaudit.toml:1: 'sometimes' is no value of assume.reasoning_echo | one of: 'tool_turns', 'always' or 'forbidden'"
            ),
        ),
        (
            '# facts\n[assume.model_aliases]\na = ["b"]\nc = "d"\n',
            snapshot(
                'proxyaudit.toml:4: assume.model_aliases.c: input should be a valid list | write it as a list: ["…"]'
            ),
        ),
        (
            "fail_on = 3\n",
            snapshot(
                "proxyaudit.toml:1: 3 is no value of fail_on | one of: 'error', 'warn', 'info' or 'never'"
            ),
        ),
        (
            'select = [\n  "history",\n  "mesage.droped",\n]\n',
            snapshot(
                "proxyaudit.toml:3: no rule or family 'mesage.droped' | did you mean message.dropped or message.merged or message.reordered? `proxyaudit rule` lists all"
            ),
        ),
        (
            'ignore = "history"\n',
            snapshot(
                'proxyaudit.toml:1: ignore: input should be a valid list | write it as a list: ["…"]'
            ),
        ),
        (
            "\nselect = [history]\n",
            snapshot(
                "proxyaudit.toml:2: Invalid value | text values stand in quotes, lists in square brackets"
            ),
        ),
        ("[asume]\n", snapshot("proxyaudit.toml:1: unknown key 'asume' | did you mean assume?")),
        (
            "zzzzqqqq = 1\n",
            snapshot(
                "proxyaudit.toml:1: unknown key 'zzzzqqqq' | known: assume, select, ignore, fail_on, targets"
            ),
        ),
    ],
)
def test_mistakes_are_told_with_their_line_and_what_may_be_meant(
    tmp_path: Path, source: str, told: str
) -> None:
    assert complaint(tmp_path, source) == told


def test_a_file_that_is_no_text_is_a_mistake_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "proxyaudit.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(UserError, match="cannot read"):
        read_settings(tmp_path / "proxyaudit.toml")


def test_the_nearest_file_up_to_the_root_of_the_repository_counts(tmp_path: Path) -> None:
    """What stands above the repository is not the project's."""
    (tmp_path / "proxyaudit.toml").write_text('fail_on = "info"\n')
    inner = tmp_path / "repository" / "a" / "b"
    inner.mkdir(parents=True)
    assert find_settings(inner).path is None
    assert find_settings(tmp_path).path == tmp_path / "proxyaudit.toml"
    (tmp_path / "repository" / ".git").mkdir()
    assert find_settings(inner).path is None
    (tmp_path / "repository" / "proxyaudit.toml").write_text('fail_on = "error"\n')
    assert find_settings(inner).settings.fail_on == "error"
    (inner / "proxyaudit.toml").write_text('fail_on = "never"\n')
    assert find_settings(inner).settings.fail_on == "never"


def test_facts_of_the_file_win_over_the_recording_and_options_over_the_file(
    tmp_path: Path,
) -> None:
    recording = Assume(
        reasoning_echo="always",
        client_credential_is_for="proxy",
        model_aliases={"a": ["1"], "b": ["2"]},
    )
    file = settings(
        tmp_path, '[assume]\nreasoning_echo = "forbidden"\n[assume.model_aliases]\nb = ["3"]\n'
    )
    both = stated(recording, file)
    assert both.reasoning_echo == "forbidden"
    assert both.client_credential_is_for == "proxy"
    assert both.model_aliases == {"a": ["1"], "b": ["3"]}
    assert with_facts(both, ["reasoning_echo=tool_turns"]).reasoning_echo == "tool_turns"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a recording in which a proxy forgets."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "lost.jsonl", *forgetful_proxy())
    return tmp_path


def test_an_audit_takes_its_defaults_from_the_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And says so, for a report that ignores rules must not pass for a whole one."""
    assert run(["audit", "lost.jsonl"]) == 1
    assert "Settings" not in capsys.readouterr().err
    (project / "proxyaudit.toml").write_text('fail_on = "never"\nselect = ["tools"]\n')
    assert run(["audit", "lost.jsonl", "--format", "json"]) == 0
    shown = capsys.readouterr()
    assert shown.err == f"Settings of {project / 'proxyaudit.toml'} apply.\n"
    (report,) = json.loads(shown.out)["reports"]
    assert report["findings"] == []
    assert run(["audit", "lost.jsonl", "--fail-on", "warn"]) == 0
    assert run(["audit", "lost.jsonl", "--fail-on", "warn", "--select", "history"]) == 1


def test_an_audit_with_a_wrong_file_cannot_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "proxyaudit.toml").write_text("fail_on = maybe\n")
    assert run(["audit", "lost.jsonl"]) == 2
    assert "proxyaudit.toml:1: " in capsys.readouterr().err


@given(st.text(alphabet='[]="\n.a{} #,assume', max_size=80))
def test_any_text_is_read_or_refused_with_words(
    tmp_path_factory: pytest.TempPathFactory, source: str
) -> None:
    folder = tmp_path_factory.mktemp("t")
    refused = ""
    try:
        settings(folder, source)
    except UserError as error:
        refused = error.message
    assert not refused or "proxyaudit.toml" in refused


@given(st.text(max_size=80), st.lists(st.text(max_size=5), max_size=3))
def test_a_line_is_one_of_the_file(source: str, steps: list[str]) -> None:
    assert 1 <= line_of(source, tuple(steps), "x") <= max(1, len(source.splitlines()))
