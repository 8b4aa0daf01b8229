"""Settings for all tests."""

import os

from hypothesis import settings

# A time limit for each example measures the machine, not the code.
settings.register_profile("proxyaudit", deadline=None)
settings.load_profile("proxyaudit")

# A parallel run tells its workers the width of the terminal; what users read is tested at the
# width of a pipe.
os.environ.pop("COLUMNS", None)
