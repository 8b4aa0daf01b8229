"""Record what passes a mitmproxy of your own.

    mitmweb -s addons/recorder.py --mode reverse:http://127.0.0.1:8000
    mitmdump -s addons/recorder.py --set recording=recordings/monday --mode reverse:http://…

Option: recording (folder to write to; by default recordings/ and the time of the start).
"""

from proxyaudit.capture.addon import addons

__all__ = ["addons"]
