"""Real opencode, run by run, with a home of its own and no way out of this machine."""

import json
from pathlib import Path

from real.parts import need
from real.processes import Finished, finish, plain_environment

MODEL, SMALL_MODEL = "demo-model", "demo-small"
KEY = "sk-fake-0001"
_NOWHERE = "http://127.0.0.1:9/"


class Opencode:
    """`base_url` is what a user would put into its configuration, with /v1."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.program = need("opencode")
        self.folder, self.home, self.work = folder, folder / "home", folder / "work"
        self.work.mkdir(parents=True)
        settings = self.home / ".config" / "opencode" / "opencode.json"
        settings.parent.mkdir(parents=True)
        settings.write_text(json.dumps(_settings(base_url)), "utf-8")

    def run(self, *words: str, seconds: float = 60) -> Finished:
        """`opencode run …`; it has to end well, and in time."""
        # The last two keep its look-up of new plugins on this machine.
        env = plain_environment(
            HOME=self.home,
            OPENCODE_DISABLE_MODELS_FETCH="1",
            npm_config_registry=_NOWHERE,
            BUN_CONFIG_REGISTRY=_NOWHERE,
        )
        command: list[str | Path] = [self.program, "run", *words]
        done = finish(command, self.folder, work=self.work, env=env, seconds=seconds)
        assert done.code == 0, done
        return done


def _settings(base_url: str) -> object:
    model = {"tool_call": True, "reasoning": True, "limit": {"context": 32768, "output": 4096}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "mock",
        "options": {"baseURL": base_url, "apiKey": KEY},
        "models": {MODEL: model, SMALL_MODEL: model},
    }
    return {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "permission": {"*": "allow"},
        "model": f"mock/{MODEL}",
        "small_model": f"mock/{SMALL_MODEL}",
        "provider": {"mock": provider},
    }
