"""Measures whole processes against each other; knows nothing of what they do."""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from attrs import field, frozen

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parent.parent
ROUNDS = 5


@frozen
class Contender:
    """A process to measure. `prepare` runs before each round and is not measured."""

    name: str
    command: tuple[str, ...]
    prepare: Callable[[], None] = lambda: None
    environment: Mapping[str, str] = field(factory=dict)


@frozen
class Result:
    """What the rounds of one contender took: CPU seconds each, and the largest resident size in MB."""

    name: str
    seconds: tuple[float, ...]
    megabytes: float

    @property
    def median(self) -> float:
        """The middle of the rounds."""
        return statistics.median(self.seconds)

    @property
    def best(self) -> float:
        """The fastest round."""
        return min(self.seconds)


def run_once(contender: Contender) -> tuple[float, float]:
    """CPU seconds (user and system, children included) and peak MB of one run.

    Raises:
        SystemExit: the process failed; its output is shown.
    """
    contender.prepare()
    with tempfile.TemporaryFile() as output:
        environment = {**os.environ, **contender.environment}
        process = subprocess.Popen(contender.command, stdout=output, stderr=subprocess.STDOUT, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            sys.stdout.write(output.read().decode(errors="replace")[-4000:])
            raise SystemExit(f"{contender.name} failed with exit code {process.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def alternate(contenders: Sequence[Contender], rounds: int = ROUNDS, warm_up: bool = True) -> tuple[Result, ...]:
    """Run A, B, A, B, ... after one unmeasured round each, so that a busy machine slows both alike."""
    if warm_up:
        for contender in contenders:
            run_once(contender)
    seconds: dict[str, list[float]] = {c.name: [] for c in contenders}
    peak: dict[str, float] = {c.name: 0.0 for c in contenders}
    for _ in range(rounds):
        for contender in contenders:
            took, megabytes = run_once(contender)
            seconds[contender.name].append(took)
            peak[contender.name] = max(peak[contender.name], megabytes)
    results = tuple(Result(c.name, tuple(seconds[c.name]), peak[c.name]) for c in contenders)
    for result in results:
        rounds_text = " ".join(f"{s:.3f}" for s in result.seconds)
        times = f"median {result.median:7.3f} s  best {result.best:7.3f} s  {result.megabytes:5.0f} MB"
        print(f"{result.name:<34} {times}  ({rounds_text})")
    return results


def conclude(name: str, figure: float, bound: float, *, unit: str = "") -> None:
    """Print the last line, `name: figure (bound)`, and exit: 1 where the figure is over the bound."""
    print(f"{name}: {figure:.3f}{unit} ({bound:g}{unit})")
    raise SystemExit(0 if figure <= bound else 1)


def gradspec_command(*arguments: str) -> tuple[str, ...]:
    """The command line of the gradspec that belongs to this interpreter."""
    return (sys.executable, "-m", "gradspec", *arguments)


def upstream_command(derivatives: Path, native_functions: Path, tags: Path, out: Path) -> tuple[str, ...]:
    """The command line that loads and emits the same nodes with torchgen."""
    return (sys.executable, str(HERE / "torchgen_emission.py"), str(derivatives), str(native_functions), str(tags), str(out))


def emptied(folder: Path) -> Callable[[], None]:
    """A preparation that leaves an empty folder."""

    def prepare() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)

    return prepare


def installed_spec() -> tuple[Path, Path, Path]:
    """The derivatives, native functions and tags files of the installed torchgen, found without importing torch."""
    from importlib.util import find_spec

    found = find_spec("torchgen")
    if found is None or found.origin is None:
        raise SystemExit("torchgen is not installed: the benches need the torch wheel")
    packaged = Path(found.origin).parent / "packaged"
    native = packaged / "ATen" / "native"
    return packaged / "autograd" / "derivatives.yaml", native / "native_functions.yaml", native / "tags.yaml"


def tell_cache() -> None:
    """Say which caches both sides have: those that a user has from the second run on."""
    print("warm on both sides: Python bytecode; on ours: the parse tables of the grammars")
