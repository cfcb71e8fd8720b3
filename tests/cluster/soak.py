"""Mixes all that two executors may meet for some minutes, compares every answer with the uncached one, and prints figures at the end.

Usage: soak.py MINUTES [SEED]
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "spark"))

from harness import groups, submit  # noqa: E402


def main() -> int:
    minutes, seed = float(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else str(int(time.time()))
    folder = submit.WORK / "soak"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    line = submit.command(groups.GROUPS["executors"], "quiver", folder)
    line += [str(HERE / "soak_app.py"), "--minutes", str(minutes), "--seed", seed]
    log = folder / "log.txt"
    print(f"soak: {minutes:g} minutes, seed {seed}, log in {log}", flush=True)
    with log.open("w") as errors:
        process = subprocess.Popen(
            line, cwd=folder, env=submit.environment(submit.spark_home(folder)), stdout=subprocess.PIPE, stderr=errors
        )
        try:
            for text in process.stdout:
                sys.stdout.write(text.decode(errors="replace"))
                sys.stdout.flush()
            return process.wait()
        finally:
            if process.poll() is None:
                process.kill()


if __name__ == "__main__":
    sys.exit(main())
