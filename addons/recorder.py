"""Record what passes a mitmproxy of your own.

    mitmweb -s addons/recorder.py --mode reverse:http://127.0.0.1:8000
    mitmdump -s addons/recorder.py --set recording=recordings/monday --mode reverse:http://…

Option: recording (folder to write to; by default recordings/ and the time of the first request).

An installed package has it too, as proxyaudit/capture/addon.py; but most users of one want
`proxyaudit record`, which brings its own mitmproxy, at half the cost.
"""

from proxyaudit.capture.addon import addons

__all__ = ["addons"]
