"""The library under test, and the rule that every test leaves no native memory behind."""

import gc
import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from quiver import Library  # noqa: E402

#: folder with the library, and with that which has test hooks
LIBRARIES = Path(os.environ.get("QUIVER_LIBRARIES") or HERE.parents[1] / "build")
EXTENSION = "dylib" if sys.platform == "darwin" else "so"


@pytest.fixture(scope="session")
def library_process() -> Library:
    return Library(LIBRARIES / f"libquiver.{EXTENSION}")


@pytest.fixture(scope="session")
def library_with_hooks() -> Library:
    return Library(LIBRARIES / "hooks" / f"libquiver.{EXTENSION}")


@pytest.fixture
def library(library_process):
    assert library_process.native_bytes() == 0
    yield library_process
    gc.collect()  # pyarrow releases what it imported when the last view goes
    assert library_process.native_bytes() == 0, "native memory is still in use after the test"
