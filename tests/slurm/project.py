"""The project in a folder of its own, run locally or on Slurm."""

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import yaml

from wei2023.runs import simulations

ROOT = Path(__file__).parents[2]
TABLE = "results/tables/walk/summary.csv"
WALK = (TABLE, "--configfile", "walk.yaml")
CONFIG = {  # four simulations that last long enough to be disturbed
    "shown": [],
    "experiments": [
        {
            "name": "walk",
            "environment": {"name": "grid_world", "map": "6x6", "horizon": 15, "limit": 2.0},
            "episodes": [8_000_000],
            "seeds": 2,
            "batch": 1,
            "evaluate_every": 80_000,
            "learners": [
                {"algorithm": "triple_q", "setting": "literal"},
                {"algorithm": "restart_q_ucb", "setting": "literal"},
            ],
        }
    ],
}


class Project:
    """A folder with the project in it, by links: what is compiled for the project serves here too."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(exist_ok=True)
        for name in ("Snakefile", "config.yaml", "workflow", "notebooks", "environment.yml"):
            (folder / name).symlink_to(ROOT / name)
        (folder / "walk.yaml").write_text(yaml.safe_dump(CONFIG))
        self.said = folder / "said.txt"
        self.running: subprocess.Popen | None = None

    def start(self, *arguments: str) -> None:
        """Snakemake, in a process group of its own."""
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
        environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "PATH": path}
        command = [sys.executable, "-m", "snakemake", *arguments]
        with self.said.open("a") as said:
            self.running = subprocess.Popen(
                command, cwd=self.folder, env=environment, stdout=said, stderr=said, process_group=0
            )

    def start_on_slurm(self, *arguments: str, profile: str = "slurm") -> None:
        """With the profile as it is, but looking after its jobs more often."""
        checks = ("--slurm-init-seconds-before-status-checks", "3")
        self.start(*arguments, "--profile", f"workflow/profiles/{profile}", *checks)

    def finish(self) -> None:
        """Wait for the run; it must succeed."""
        assert self.running
        assert self.running.wait(1800) == 0, self.said.read_text()[-6000:]

    def kill(self) -> None:
        if self.running and self.running.poll() is None:
            os.killpg(self.running.pid, signal.SIGKILL)
            self.running.wait()

    def hashes(self, *parts: str) -> dict[str, str]:
        """Path below results -> hash of its bytes."""
        results = self.folder / "results"
        files = sorted(
            file for part in parts for file in (results / part).rglob("*") if file.is_file()
        )
        return {
            str(file.relative_to(results)): hashlib.sha256(file.read_bytes()).hexdigest()
            for file in files
        }

    def seconds_of_simulations(self) -> float:
        return sum(
            seconds
            for *_, seconds in simulations.finished(self.folder / "results/logs/simulations")
        )

    def temporary_files(self) -> list[Path]:
        return list((self.folder / "results").rglob(".*"))

    def is_simulating(self) -> bool:
        """Has a simulation got to its episodes?"""
        assert self.running
        assert self.running.poll() is None, self.said.read_text()[-6000:]
        return any(
            "episode " in log.read_text()
            for log in self.folder.glob("results/logs/simulations/**/*.log")
        )
