"""Settings for all tests."""

from hypothesis import settings

# A time limit for each example measures the machine, not the code.
settings.register_profile("proxyaudit", deadline=None)
settings.load_profile("proxyaudit")
