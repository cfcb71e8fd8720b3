"""One Spark application that runs the selected cases of a group, seen from pytest."""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from pathlib import Path

from . import submit
from .groups import GROUPS, STANDALONE
from .standalone import Standalone

#: Seconds that one case may take.
CASE_TIMEOUT = 900
#: Seconds until the application has started.
START_TIMEOUT = 600


class Application:
    """Starts the application when the first result is asked for; starts it anew if it dies, for the cases that are left."""

    def __init__(self, group: str, file_format: str, readers: str, home: Path, every: bool = False):
        """home: the folder that has cases/. every: each reader with both planners (see Tables.readers)."""
        self.home = home
        self.cluster: Standalone | None = None
        self.group = group
        self.file_format = file_format
        self.readers = readers
        self.every = every
        self.wanted: list[str] = []
        self.results: dict[str, dict] = {}
        self.process: subprocess.Popen | None = None
        self.starts = 0
        self.seen = 0
        self.results_file = Path()
        self.log_file = Path()

    def start(self) -> None:
        self.starts += 1
        folder = submit.WORK / self.file_format / self.group
        if self.starts == 1:
            shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        self.results_file = folder / f"results-{self.starts}.jsonl"
        self.results_file.touch()
        self.seen = 0
        self.log_file = folder / f"log-{self.starts}.txt"
        todo = folder / f"todo-{self.starts}.json"
        todo.write_text(json.dumps([c for c in self.wanted if c not in self.results]))
        group, extra = GROUPS[self.group], {}
        if group.master == STANDALONE:
            self.cluster = Standalone(folder, workers=group.executors)
            extra["spark.master"] = self.cluster.url
        line = submit.command(group, self.file_format, folder, extra)
        line += [str(Path(__file__).parent / "main.py"), "--group", self.group, "--format", self.file_format, "--readers", self.readers]
        line += ["--todo", str(todo), "--results", str(self.results_file), "--home", str(self.home)]
        line += ["--every"] if self.every else []
        with self.log_file.open("w") as log:
            home = submit.spark_home(folder) if group.master.startswith("local-cluster") else submit.SPARK_HOME
            self.process = subprocess.Popen(
                line, cwd=folder, env=submit.environment(home), stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )

    def result(self, case_id: str) -> dict:
        """{"ok": bool, "message": str, "seconds": float} of a case; waits for it."""
        if case_id in self.results:
            return self.results[case_id]
        if self.process is None or self.process.poll() is not None:
            self.start()
        deadline = time.monotonic() + START_TIMEOUT + CASE_TIMEOUT
        while True:
            dead = self.process.poll() is not None
            count = len(self.results)
            self.read()
            if case_id in self.results:
                return self.results[case_id]
            if len(self.results) > count:
                deadline = time.monotonic() + CASE_TIMEOUT
            if dead:
                return self.fail(case_id, f"the application ended with exit code {self.process.returncode}")
            if time.monotonic() > deadline:
                self.stop()
                return self.fail(case_id, f"no result within {CASE_TIMEOUT} s; the application was stopped")
            time.sleep(0.05)

    def fail(self, case_id: str, message: str) -> dict:
        tail = "\n".join(self.log_file.read_text(errors="replace").splitlines()[-40:])
        self.results[case_id] = {"ok": False, "message": f"{message}; the end of {self.log_file}:\n{tail}", "seconds": 0}
        return self.results[case_id]

    def read(self) -> None:
        lines = self.results_file.read_text().split("\n")[:-1]
        for line in lines[self.seen :]:
            result = json.loads(line)
            self.results[result["id"]] = result
        self.seen = len(lines)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        self.stop_cluster()

    def stop_cluster(self) -> None:
        if self.cluster is not None:
            self.cluster.stop()
            self.cluster = None

    def finish(self) -> None:
        """Waits for the application's own end; kills it if it does not come."""
        if self.process is not None:
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.stop()
        self.stop_cluster()
        self.check_files()

    def check_files(self) -> None:
        """The library is unpacked below spark.local.dir for a moment only: also executors that were killed leave nothing there."""
        folder = submit.WORK / self.file_format / self.group
        left = [str(p) for p in folder.rglob("*quiver*") if re.fullmatch(r"libquiver.*\.so|quiver-\d+", p.name)]
        assert not left, f"files of ours are left: {left[:5]}"
