"""The cases in cases/; see harness/collect.py."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

pytest_plugins = ["harness.collect", "harness.startup"]
