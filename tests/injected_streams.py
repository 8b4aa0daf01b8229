"""Faults in streamed answers, at one tap or on the way from the backend to the client."""

import json
from collections.abc import Callable, Sequence
from functools import partial

from injecting import Fault, Injected, Pick, calling, ends
from stories import EPOCH, Json, Step

from proxyaudit.core.exchange import Chunk, Exchange, Request, Response, Tap

DONE = "[DONE]"
SERVER = ("server", "upstream", "model")

type Frames = list[bytes]


def deltas(reply: Json) -> list[Json]:
    """A message in pieces: a word of text each, a few letters of arguments each."""
    made: list[Json] = [{"role": "assistant", "content": ""}]
    for key in ("reasoning_content", "content"):
        words = (reply.get(key) or "").split(" ")
        made += [{key: word if n == 0 else f" {word}"} for n, word in enumerate(words) if word]
    for index, call in enumerate(reply.get("tool_calls", ())):
        arguments = call["function"]["arguments"]
        head = {**call, "index": index, "function": {**call["function"], "arguments": ""}}
        made.append({"tool_calls": [head]})
        for at in range(0, len(arguments), 9):
            piece = {"index": index, "function": {"arguments": arguments[at : at + 9]}}
            made.append({"tool_calls": [piece]})
    return made


def frames(step: Step, number: int, pieces: Sequence[Json] | None = None) -> Frames:
    """The events of an answer, finish, usage and sentinel among them."""
    finish = "tool_calls" if step.reply.get("tool_calls") else "stop"
    tokens = len(json.dumps(step.body)) // 4
    told = deltas(step.reply) if pieces is None else pieces
    said = 2 * len(told)
    usage = {"prompt_tokens": tokens, "completion_tokens": said, "total_tokens": tokens + said}
    head = {"id": f"r-{number}", "object": "chat.completion.chunk", "model": "m"}
    chunks: list[Json] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in told
    ]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    chunks.append({**head, "choices": [], "usage": usage})
    return [frame(json.dumps(chunk, ensure_ascii=False)) for chunk in chunks] + [frame(DONE)]


def frame(data: str) -> bytes:
    return f"data: {data}\n\n".encode()


def streamed(
    step: Step,
    number: int,
    sent: Frames,
    *,
    tap: Tap = "client",
    times: Sequence[float] = (),
) -> Exchange:
    """The exchange of a stream; its events come 30 ms apart, or at these times."""
    body = {**step.body, "stream": True, "stream_options": {"include_usage": True}}
    late = 0.0 if tap == "upstream" else 0.002
    at = times or [0.3 + 0.03 * n + late for n in range(len(sent))]
    kind = (("content-type", "text/event-stream"),)
    return Exchange(
        f"{number}-{tap}",
        tap,
        EPOCH + 60 * number + (0.01 if tap == "upstream" else 0.0),
        Request("POST", "http://model.test/v1/chat/completions", (), json.dumps(body).encode()),
        Response(
            200,
            kind,
            b"".join(sent),
            "HTTP/1.1",
            tuple(Chunk(t, len(f)) for t, f in zip(at, sent, strict=True)),
            max(at, default=0.3) + 0.01,
        ),
    )


def one_tap(
    fits: Callable[[list[Step]], list[int]],
    change: Callable[[Step, int], Frames],
    steps: list[Step],
    pick: Pick,
) -> Injected | None:
    """One stream of the conversation, its last, is another one."""
    spots = fits(steps)
    if not spots:
        return None
    number = pick.of(spots)
    made = [streamed(s, n, frames(s, n)) for n, s in enumerate(steps[:number])]
    made.append(streamed(steps[number], number, change(steps[number], number)))
    return Injected(made, f"{number}-client")


def hop(
    change: Callable[[Frames], Frames], steps: list[Step], pick: Pick, *, held: bool = False
) -> Injected:
    """The client gets another stream than the backend sent; `held`: the same, all at its end."""
    number = pick.of(ends(steps))
    made: list[Exchange] = []
    for n, step in enumerate(steps[: number + 1]):
        sent = frames(step, n, longer(step) if n == number else None)
        got = change(sent) if n == number else sent
        end = 0.3 + 0.03 * len(sent)
        times = [end + 0.0001 * k for k in range(len(got))] if held and n == number else ()
        made.append(streamed(step, n, sent, tap="upstream"))
        made.append(streamed(step, n, got, times=times))
    return Injected(made, f"{number}-client")


def longer(step: Step) -> list[Json]:
    """An answer of some forty pieces, so that there is time to hold back."""
    return [*deltas(step.reply), *({"content": f" and {n}"} for n in range(40))]


def same_index(step: Step, number: int) -> Frames:
    pieces = deltas(step.reply)
    for delta in pieces:
        for call in delta.get("tool_calls", ()):
            call["index"] = 0
    return frames(step, number, pieces)


def no_index(step: Step, number: int) -> Frames:
    pieces = deltas(step.reply)
    for delta in pieces:
        for call in delta.get("tool_calls", ()):
            del call["index"]
    return frames(step, number, pieces)


def no_sentinel(step: Step, number: int) -> Frames:
    return frames(step, number)[:-1]


def cut_off(step: Step, number: int) -> Frames:
    whole = frames(step, number)
    return whole[: len(whole) // 2]


def bad_json(step: Step, number: int) -> Frames:
    whole = frames(step, number)
    whole[2] = whole[2].rstrip()[:-3] + b"\n\n"
    return whole


def failed(step: Step, number: int) -> Frames:
    error = frame(json.dumps({"error": {"message": "worker died", "code": 500}}))
    return [*frames(step, number)[:3], error]


def split_letter(step: Step, number: int) -> Frames:
    return [*frames(step, number)[:3], *corrupted(frames(step, number)[3:])]


def corrupted(sent: Frames) -> Frames:
    """A letter that was cut in two became two replacement characters."""
    chunk = {"choices": [{"index": 0, "delta": {"content": " Æbel\ufffd\ufffd"}}]}
    return [frame(json.dumps(chunk, ensure_ascii=False)), *sent]


def lost_piece(sent: Frames) -> Frames:
    return sent[:20] + sent[21:]


def torn_letters(sent: Frames) -> Frames:
    return [*sent[:5], *corrupted(sent[5:])]


def in_bursts(step: Step, number: int) -> Frames:
    return frames(step, number, longer(step))


def late_burst(steps: list[Step], pick: Pick) -> Injected:
    """Forty pieces within a few milliseconds, after five seconds of silence."""
    number = pick.of(ends(steps))
    made = [streamed(s, n, frames(s, n)) for n, s in enumerate(steps[:number])]
    sent = in_bursts(steps[number], number)
    times = [5.0 + 0.0002 * n for n in range(len(sent))]
    made.append(streamed(steps[number], number, sent, times=times))
    return Injected(made, f"{number}-client")


FAULTS = {
    "calls on one index": Fault(
        "tool.index_collision", SERVER, partial(one_tap, partial(calling, least=2), same_index)
    ),
    "calls without index": Fault("tool.index_missing", SERVER, partial(one_tap, calling, no_index)),
    "no sentinel": Fault("stream.done_missing", SERVER, partial(one_tap, ends, no_sentinel)),
    "a stream cut off": Fault("stream.truncated", SERVER, partial(one_tap, ends, cut_off)),
    "a frame that is no JSON": Fault("stream.bad_frame", SERVER, partial(one_tap, ends, bad_json)),
    "an error in the stream": Fault("stream.error_in_200", SERVER, partial(one_tap, ends, failed)),
    "letters cut in two": Fault(
        "stream.utf8_corrupt", SERVER, partial(one_tap, ends, split_letter)
    ),
    "letters cut in two by the proxy": Fault(
        "stream.utf8_corrupt", ("proxy",), partial(hop, torn_letters)
    ),
    "a piece lost on the way": Fault("stream.delta_changed", ("proxy",), partial(hop, lost_piece)),
    "a stream held by the proxy": Fault(
        "stream.buffered", ("proxy",), partial(hop, list, held=True)
    ),
    "a stream in one burst": Fault("stream.buffered", SERVER, late_burst),
}
