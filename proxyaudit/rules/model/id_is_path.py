"""model.id_is_path"""

import re
from collections.abc import Iterator

from proxyaudit.core.exchange import Exchange
from proxyaudit.core.finding import Place
from proxyaudit.core.json import JSON
from proxyaudit.core.turn import Turn
from proxyaudit.dialects.read import body_json
from proxyaudit.rules.base import Facts, Found, Outcome, at, rule
from proxyaudit.rules.model.substituted import model_place
from proxyaudit.rules.wording import count

# A root, a home, a drive, or a file of weights in a folder. `vendor/name` is no path.
_PATH = re.compile(
    r"""^(/|\./|\.\./|~|file:|[a-z]:[\\/]|\\\\) | \\ | /snapshots/[0-9a-f]{8}
    | /[^/]+\.(gguf|ggml|bin|pt|pth|safetensors|onnx)$""",
    re.IGNORECASE | re.VERBOSE,
)
_LISTS = re.compile(r"/(models|tags|model)(/[^/?]+)*/?$")
_SHOWN = ("id", "name", "model")


@rule("model.id_is_path", severity="warn", on=Exchange)
def in_list(exchange: Exchange, facts: Facts) -> Iterator[Outcome]:
    """A file-system path is shown as model id.

    What it does
        Looks at the ids in lists of models (`GET /v1/models`, `/api/tags`) and at the model that a
        reply names. A path is what begins at a root, a home or a drive, or ends in a file of
        weights within a folder; `vendor/name` is none.

    Why it matters
        Harnesses choose the context size, the prompt and the tools by the model's name; by a path
        they know nothing. It also shows strangers how the machine is laid out, and breaks clients
        that put the id into a URL.

    Example
        Bad: {"data": [{"id": "/srv/weights/tern-large-fp8"}]}
        Good: {"data": [{"id": "tern-large"}]}

    What to look at next
        The name under which the server serves the model (`--served-model-name`, `--alias`).
    """
    request, response = exchange.request, exchange.response
    listed = _LISTS.search(request.url.partition("?")[0])
    if request.method.upper() != "GET" or not listed or response is None or response.status != 200:
        return
    found = [(pointer, id_) for pointer, id_ in _ids(body_json(response)) if is_path(id_)]
    if not found:
        return
    ids: list[JSON] = [id_ for _, id_ in found]
    yield Found(
        f"{count(len(found), 'model')} in the list of models bear a path as id: {found[0][1][:80]}",
        places=tuple(Place(exchange.id, f"{exchange.tap}.response", p) for p, _ in found),
        evidence={"ids": ids},
    )


@rule("model.id_is_path", severity="warn", on=Turn)
def in_reply(turn: Turn, facts: Facts) -> Iterator[Outcome]:
    named = turn.reply.model if turn.reply and turn.ok else None
    if named and is_path(named):
        yield Found(
            f"the reply names a path as its model: {named[:80]}",
            places=(model_place(turn),),
            before=(at(turn, "request", "/model"),),
            evidence={"asked": turn.prompt.model, "answered": named},
        )


def is_path(name: str) -> bool:
    """Whether a model's name is a place in a file system."""
    return bool(_PATH.search(name.strip()))


def _ids(body: JSON) -> Iterator[tuple[str, str]]:
    if not isinstance(body, dict):
        return
    for key in ("data", "models"):
        items = body.get(key)
        for number, item in enumerate(items if isinstance(items, list) else []):
            yield from _named(item, f"/{key}/{number}")
    yield from _named(body, "")


def _named(item: JSON, pointer: str) -> Iterator[tuple[str, str]]:
    """The first of the fields that may hold the id."""
    if isinstance(item, dict):
        names = ((f"{pointer}/{key}", item.get(key)) for key in _SHOWN)
        yield from [(place, name) for place, name in names if isinstance(name, str)][:1]
