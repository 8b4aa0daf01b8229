"""Bodies in little room: each is kept as what it has that an earlier one had not.

A harness sends its whole history with every turn: a recording of gigabytes holds megabytes of
words. So a recording that outgrows the room it is given is kept compressed, each body with an
earlier one of its kind as dictionary, and a body is unpacked when somebody looks at it.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, replace

from proxyaudit.core.exchange import Exchange, Kept
from proxyaudit.store.zstd import zstd

ROOM = 256 * 1024 * 1024
"""So many bytes of bodies stay as they are; what is read after them is packed."""

# Smaller bodies are not worth it; in the largest ones nothing is shared that matters.
_SMALL, _LARGE = 2048, 32 * 1024 * 1024
# Models that serve as dictionary: so many, and so many bytes of them, are at hand.
_MODELS, _MODEL_BYTES = 64, 64 * 1024 * 1024
# A body whose packed form is more than this share of it becomes a model for those to come.
_STRANGE = 0.1
_LEVEL = 1


@dataclass(frozen=True, slots=True, eq=False)
class _Packed:
    """A zstd frame, and the body that it was made with, itself packed without any."""

    frame: bytes
    model: "_Packed | None" = None

    def load(self) -> bytes:
        """The body; those that were asked for last are at hand."""
        data = _RECENT.pop(self, None) or self._unpacked()
        _RECENT[self] = data
        while len(_RECENT) > _AT_HAND:
            _RECENT.popitem(last=False)
        return data

    def _unpacked(self) -> bytes:
        if self.model is None:
            return zstd.decompress(self.frame)
        model = zstd.ZstdDict(self.model.load(), is_raw=True)
        return zstd.decompress(self.frame, zstd_dict=model.as_prefix, options=_WIDE)


_WIDE: dict[int, int] = {zstd.DecompressionParameter.window_log_max: 31}
_RECENT: OrderedDict[_Packed, bytes] = OrderedDict()
_AT_HAND = 8


class Shelf:
    """Takes exchanges as they are read, and gives back equal ones whose bodies take little room."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._models: deque[tuple[_Packed, bytes]] = deque()

    def put(self, exchange: Exchange) -> Exchange:
        """The exchange; its bodies are packed if there is no more room for them."""
        request, response = exchange.request, exchange.response
        size = len(request.body) + (len(response.body) if response else 0)
        self._room -= size
        if self._room >= 0 or size < _SMALL:
            return exchange
        packed = replace(request, body=self._pack(request.body))
        if response:
            response = replace(response, body=self._pack(response.body))
        return replace(exchange, request=packed, response=response)

    def _pack(self, body: bytes) -> bytes | Kept:
        if not _SMALL <= len(body) <= _LARGE:
            return body
        found = self._model(body)
        if found:
            packed = _Packed(_compress(body, found[1]), found[0])
            if len(packed.frame) <= _STRANGE * len(body):
                return packed
        alone = _Packed(zstd.compress(body, _LEVEL))
        self._models.appendleft((alone, body))
        while (
            len(self._models) > _MODELS or sum(len(b) for _, b in self._models) > _MODEL_BYTES
        ) and len(self._models) > 1:
            self._models.pop()
        return alone

    def _model(self, body: bytes) -> tuple[_Packed, bytes] | None:
        """The model that has most in common with a body, from the start on."""
        alike = [(p, data) for p, data in self._models if data[:64] == body[:64]]
        return max(alike, key=lambda pair: _common(pair[1], body), default=None)


def _common(model: bytes, body: bytes) -> int:
    """How much both have in common at their start, in bytes, by powers of two."""
    size = 64
    while size <= min(len(model), len(body)) and model[:size] == body[:size]:
        size *= 2
    return size


def _compress(body: bytes, model: bytes) -> bytes:
    parameter = zstd.CompressionParameter
    options: dict[int, int] = {
        parameter.compression_level: _LEVEL,
        parameter.window_log: min(31, max(10, (len(body) + len(model)).bit_length())),
        parameter.enable_long_distance_matching: 1,
    }
    prefix = zstd.ZstdDict(model, is_raw=True).as_prefix
    return zstd.compress(body, options=options, zstd_dict=prefix)
