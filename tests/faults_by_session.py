"""A mitmproxy script for tests: the session label of a request names the fault it gets."""

from typing import Any

from proxyaudit.demo.faults import Faults, find


class FaultsBySession:
    """Hands each flow to the addon of the fault that its `x-session-id` names."""

    def __init__(self) -> None:
        self._addons: dict[str, Faults] = {}

    def load(self, loader: Any) -> None:
        loader.add_option("fault", str, "", "Not used: the session names the fault.")

    def _of(self, flow: Any) -> Faults:
        name = flow.request.headers.get("x-session-id", "none")
        if name not in self._addons:
            self._addons[name] = Faults(find(name).name)
        return self._addons[name]

    def requestheaders(self, flow: Any) -> None:
        self._hook("requestheaders", flow)

    def request(self, flow: Any) -> None:
        self._hook("request", flow)

    def responseheaders(self, flow: Any) -> None:
        self._hook("responseheaders", flow)

    def response(self, flow: Any) -> None:
        self._hook("response", flow)

    def _hook(self, name: str, flow: Any) -> None:
        hook = getattr(self._of(flow), name, None)
        if hook:
            hook(flow)


addons = [FaultsBySession()]
