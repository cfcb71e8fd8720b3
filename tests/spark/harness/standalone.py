"""A standalone cluster of processes on this machine: a master and workers of one core each."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from . import submit

#: Seconds until a process has started.
_START_TIMEOUT = 120


class Standalone:
    """Starts the cluster; `url` is the master's. The scripts in sbin are not part of the pip package, the classes are."""

    def __init__(self, folder: Path, workers: int, memory: str = "1g"):
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        try:
            name = "org.apache.spark.deploy.master.Master"
            arguments = ["--port", "0", "--webui-port", "0"]
            self.url = self._start("master", "127.0.0.1", name, r"Starting Spark master at (spark://\S+)", *arguments)
            for i in range(workers):
                arguments = ["--cores", "1", "--memory", memory, "--work-dir", str(folder / f"work-{i}"), "--webui-port", "0", self.url]
                name = "org.apache.spark.deploy.worker.Worker"
                # a host each: Spark runs no second copy of a task on the host of the first
                self._start(f"worker-{i}", f"127.0.0.{i + 2}", name, r"(Successfully registered) with master", *arguments)
        except BaseException:
            self.stop()
            raise

    def _start(self, name: str, host: str, class_name: str, until: str, *arguments: str) -> str:
        log = self.folder / f"{name}.log"
        line = [str(submit.SPARK_HOME / "bin" / "spark-class"), class_name, "--host", host, *arguments]
        # executors are children of their worker: one group, so that all of them can be ended
        environment = {
            **submit.environment(),
            "SPARK_LOCAL_IP": host,
            "SPARK_DAEMON_MEMORY": "256m",
            "SPARK_LOCAL_DIRS": str(self.folder / f"{name}-local"),
        }
        with log.open("w") as out:
            process = subprocess.Popen(line, cwd=self.folder, env=environment, stdout=out, stderr=out, start_new_session=True)
        self.processes.append(process)
        deadline = time.monotonic() + _START_TIMEOUT
        while time.monotonic() < deadline and process.poll() is None:
            if found := re.search(until, log.read_text(errors="replace")):
                return found[1]
            time.sleep(0.2)
        raise RuntimeError(f"the {name} did not start:\n{log.read_text(errors='replace')[-3000:]}")

    def stop(self) -> None:
        """Workers first; they end their executors. What does not go is killed."""
        for process in reversed(self.processes):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self.processes = []
