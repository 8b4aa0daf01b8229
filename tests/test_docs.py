"""The documents tell the truth: pages made from code are fresh, and commands in them exist."""

import importlib.util
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer
from shared import SHARED

from proxyaudit.cli.main import build, run
from proxyaudit.rules.base import all_rules

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(
    r"^(?:pip install uv && )?(?:uv run )?proxyaudit (.+?)(?:\s+#.*)?$", re.MULTILINE
)


def commands() -> list[str]:
    """Each command line in a fenced block of a page."""
    blocks = [
        block
        for page in PAGES
        for block in re.findall(r"^```(?:sh)?\n(.*?)^```", page.read_text("utf-8"), re.M | re.S)
    ]
    return [line for block in blocks for line in COMMAND.findall(block)]


def test_the_page_of_rules_is_fresh() -> None:
    """`uv run python docs/make_rules.py` makes it."""
    spec = importlib.util.spec_from_file_location("make_rules", ROOT / "docs" / "make_rules.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert (ROOT / "docs" / "rules.md").read_text("utf-8") == module.document()


@pytest.mark.parametrize("line", commands())
def test_a_command_in_the_documents_can_be_parsed(line: str) -> None:
    """Its command exists and takes these options; it is not run."""
    group: Any = typer.main.get_command(build())
    name, *arguments = shlex.split(line)
    assert name in group.commands
    group.commands[name].make_context(name, arguments)


def _examples(beginning: str) -> list[Any]:
    """The JSON blocks of the page about the format that begin with these words."""
    page = (ROOT / "docs" / "recording-format.md").read_text("utf-8")
    blocks = re.findall(r"^```json\n(.*?)^```", page, re.M | re.S)
    return [json.loads(block) for block in blocks if block.startswith(beginning)]


def test_the_example_of_the_format_audits_clean(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Put on one line each, the examples are a recording without a flaw."""
    examples = [
        *_examples('{"format": "proxyaudit.recording/1"'),
        *_examples('{"format": "proxyaudit.ex'),
    ]
    assert len(examples) == 2
    path = tmp_path / "example.jsonl"
    path.write_text("".join(json.dumps(example) + "\n" for example in examples))
    assert run(["audit", str(path), "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)["reports"][0]
    assert (report["verdict"], report["findings"], report["flaws"]) == ("clean", [], [])
    assert report["conversations"][0]["turns"] == 1


def test_there_are_commands_to_check() -> None:
    assert len(commands()) >= 8


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.skipif(not SHARED.exists(), reason="no list of kinds beside this checkout")
def test_rules_have_the_names_families_and_severities_of_the_kinds() -> None:
    """A rule of a kind is in its family and, by default, of its severity."""
    kinds = json.loads((SHARED / "corpus" / "kinds.json").read_text("utf-8"))
    for rule in all_rules():
        if rule.name in kinds:
            assert rule.family == kinds[rule.name]["family"], rule.name
    severities = {
        r.name: {s.severity for s in all_rules() if s.name == r.name} for r in all_rules()
    }
    for name, given in severities.items():
        if name in kinds:
            assert kinds[name]["severity"] in given, name


@pytest.mark.skipif(not SHARED.exists(), reason="no list of kinds beside this checkout")
def test_every_kind_of_the_built_families_has_its_rule() -> None:
    kinds = json.loads((SHARED / "corpus" / "kinds.json").read_text("utf-8"))
    built = {"history", "reasoning", "tools", "system", "stream"}
    wanted = {name for name, kind in kinds.items() if kind["family"] in built}
    assert wanted <= {rule.name for rule in all_rules()}
