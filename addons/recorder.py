"""Record what passes a mitmproxy of your own.

    uv run mitmweb -s addons/recorder.py --listen-host 127.0.0.1 --mode reverse:http://127.0.0.1:4000
    uv run mitmdump -s addons/recorder.py --set recording=recordings/monday --mode reverse:http://…

A mitmproxy of your own needs this package in its environment. Without --listen-host it listens on
all interfaces.

Option: recording (folder to write to; by default recordings/ and the time of the first request).

An installed package has it too, as proxyaudit/capture/addon.py; but most users of one want
`proxyaudit record`, which brings its own mitmproxy, at half the cost.
"""

from proxyaudit.capture.addon import addons

__all__ = ["addons"]
