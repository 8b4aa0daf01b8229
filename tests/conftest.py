"""Settings for all tests."""

import os

from hypothesis import settings

# A time limit for each example measures the machine, not the code.
# A hundred examples of everything would take minutes: more where time allows.
EXAMPLES = int(os.environ.get("PROXYAUDIT_EXAMPLES", "30"))
settings.register_profile("proxyaudit", deadline=None, max_examples=EXAMPLES)
settings.load_profile("proxyaudit")

# A parallel run tells its workers the width of the terminal; what users read is tested at the
# width of a pipe.
os.environ.pop("COLUMNS", None)
