"""The cases in cases/, by the harness of tests/spark."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "spark"))
sys.path.insert(0, str(HERE))

pytest_plugins = ["harness.collect", "harness.startup"]
