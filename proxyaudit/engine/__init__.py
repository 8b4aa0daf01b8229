"""Subjects × rules → outcomes → report."""

from proxyaudit.engine.run import Audited, audit

__all__ = ["Audited", "audit"]
