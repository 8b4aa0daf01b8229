"""The scripted backend in a thread of its own, for tests that wait for other programs."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from proxyaudit.demo.backend import Backend


@contextmanager
def served(backend: Backend) -> Iterator[Backend]:
    """The backend, open for as long as the context is."""
    opened, closing = threading.Event(), asyncio.Event()
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        async with backend:
            opened.set()
            await closing.wait()

    def run() -> None:
        try:
            loop.run_until_complete(serve())
        finally:
            opened.set()
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    opened.wait()
    try:
        yield backend
    finally:
        loop.call_soon_threadsafe(closing.set)
        thread.join()
