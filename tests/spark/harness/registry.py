"""How a case of the integration tests is declared.

A case is a function of one argument, the `Tables` object of the process it runs in. It runs inside a Spark application started by
spark-submit; all cases of one group share an application. Nothing here imports pyspark: pytest reads the declarations without it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Codecs of the product. Every case that stores something runs with each of them unless it says otherwise.
CODECS = ("pack", "zstd", "lz4", "none")

#: The one codec of a run with Spark's own format.
SPARK_CODEC = "spark"


@dataclass(frozen=True)
class Case:
    """One declared case; `ids` gives one test for each codec and parameter."""

    name: str
    function: Callable
    group: str
    codecs: tuple[str, ...]
    params: tuple[str, ...]
    quiver_only: bool
    spark_is_wrong: tuple[str, ...]
    quick: bool

    def ids(self, file_format: str) -> list[tuple[str, bool]]:
        """Test ids such as `types[decimal-zstd]`, and whether the format is known to fail it."""
        if file_format == "spark":
            if self.quiver_only:
                return []
            codecs: Sequence[str] = (SPARK_CODEC,)
        else:
            codecs = self.codecs or ("",)
        ids: list[tuple[str, bool]] = []
        for param in self.params or ("",):
            for codec in codecs:
                axis = "-".join(x for x in (param, codec) if x)
                wrong = file_format == "spark" and param in self.spark_is_wrong
                ids.append((f"{self.name}[{axis}]" if axis else self.name, wrong))
        return ids


_collected: list[Case] = []


def case(
    group: str = "main",
    codecs: Sequence[str] = CODECS,
    params: Sequence[str] = (),
    quiver_only: bool = False,
    spark_is_wrong: bool | Sequence[str] = False,
    quick: bool = False,
) -> Callable[[Callable], Callable]:
    """Declares a case.

    group: the Spark application it runs in (see groups.py)
    codecs: run once with each
    params: run once with each, given as second argument
    quiver_only: makes no sense with Spark's own format
    spark_is_wrong: Spark's own format is known to give a wrong answer here (for these params); a run with it must fail, which shows
        that the case can
    quick: part of `make test` where the folder's other cases are not
    """
    if isinstance(spark_is_wrong, bool):
        spark_is_wrong = (params or ("",)) if spark_is_wrong else ()

    def declare(function: Callable) -> Callable:
        _collected.append(Case(function.__name__, function, group, tuple(codecs), tuple(params), quiver_only, tuple(spark_is_wrong), quick))
        return function

    return declare


def load(module_name: str) -> list[Case]:
    """The cases that a module declares."""
    import importlib

    importlib.import_module(module_name)
    return [c for c in _collected if c.function.__module__ == module_name]
