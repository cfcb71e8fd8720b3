"""Pytest plugin: turns the cases in cases/ into items; each group of cases runs inside one spark-submit application."""

import re
import zlib

import lines
import pytest

from . import registry, submit
from .process import Application


def pytest_addoption(parser):
    parser.addoption("--format", choices=["quiver", "spark"], default="quiver", help="cache format under test")
    parser.addoption("--readers", default="row,fused,columnar", help="only these readers")
    parser.addoption("--every-codec", action="store_true", help="all codecs, with adaptive execution off and on; else one or two")
    parser.addoption("--quick", action="store_true", help="only the cases marked as quick")


def pytest_configure(config):
    config.applications = {}


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".py" and file_path.parent.name == "cases" and file_path.name != "__init__.py":
        return CaseFile.from_parent(parent, path=file_path)
    return None


class CaseFile(pytest.File):
    def collect(self):
        file_format = self.config.getoption("format")
        for case in registry.load(f"cases.{self.path.stem}"):
            for case_id, known_wrong in case.ids(file_format):
                yield CaseItem.from_parent(self, name=case_id, case=case, known_wrong=known_wrong)


class CaseItem(pytest.Item):
    def __init__(self, *, case, known_wrong, **kwargs):
        super().__init__(**kwargs)
        self.case = case
        self.known_wrong = known_wrong
        self.full_id = f"{self.parent.path.stem}::{self.name}"
        self.missing = lines.reason(self.full_id, submit.LINE)

    def application(self) -> Application:
        config = self.config
        key = self.case.group
        if key not in config.applications:
            home = self.path.parent.parent
            config.applications[key] = Application(
                key, config.getoption("format"), config.getoption("readers"), home, config.getoption("every_codec")
            )
        return config.applications[key]

    def runtest(self):
        if self.missing:
            pytest.skip(f"Spark {submit.LINE}: {self.missing}")
        result = self.application().result(self.full_id)
        if self.known_wrong:
            if result["ok"]:
                raise CaseFailure("Spark's own format is said to be wrong here, yet gave the right answer")
        elif not result["ok"]:
            raise CaseFailure(result["message"])

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, CaseFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.name


class CaseFailure(Exception):
    pass


def pytest_collection_modifyitems(config, items):
    """Without --every-codec or -k, by the case's name only: cases about types with pack and one other codec, the others with one, which is
    pack for half of them; not the largest tables."""
    if config.getoption("quick"):
        slow = [item for item in items if isinstance(item, CaseItem) and not item.case.quick]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if item not in set(slow)]
    if config.getoption("every_codec") or config.getoption("keyword"):
        return
    others = registry.CODECS[1:]
    left_out = []
    for item in items:
        match = re.fullmatch(r"(.*[\[-])(pack|zstd|lz4|none)\]", item.name)
        too_long = item.name.startswith(("wide[8200", "large_strings_in_a_small_heap[10000"))
        if match:
            turn = zlib.crc32(match[1].encode())
            other = others[turn % len(others)]
            taken = ("pack", other) if item.path.stem == "types" else ("pack",) if turn // 3 % 2 else (other,)
        if too_long or (match and match[2] not in taken):
            left_out.append(item)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def pytest_collection_finish(session):
    if session.config.option.collectonly:
        return
    # cases of a group next to each other, so that one application is alive at a time
    order = {}
    for item in session.items:
        if isinstance(item, CaseItem):
            order.setdefault(item.case.group, len(order))
            if not item.missing:
                item.application().wanted.append(item.full_id)
    session.items.sort(key=lambda i: order.get(i.case.group, -1) if isinstance(i, CaseItem) else len(order))


def pytest_runtest_teardown(item, nextitem):
    if isinstance(item, CaseItem) and (not isinstance(nextitem, CaseItem) or nextitem.case.group != item.case.group):
        item.application().finish()


def pytest_sessionfinish(session):
    for application in getattr(session.config, "applications", {}).values():
        application.stop()
