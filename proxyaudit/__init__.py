"""proxyaudit finds out who lost the context: the harness, the proxy, the server or the model."""

__version__ = "0.1.0"
