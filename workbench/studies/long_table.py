"""A table whose rows are produced one by one, read and written in batches: memory does not grow with it.

Types are those that pandas infers from the whole: with missing values, whole numbers become doubles. Columns of mixed
types become text.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pyarrow.parquet import ParquetWriter

AT_ONCE = 2**20
"""Bytes that are collected before writing: a Parquet file consists of pieces of some ten bytes."""
BATCH = 2000
"""Rows in memory at once: some twenty megabytes for a hundred columns."""


@dataclass(frozen=True)
class LongTable:
    """Rows, which `rows` produces anew at every call, and metadata of each column, such as unit and meaning.

    Absent values, None and NaN are missing.
    """

    rows: Callable[[], Iterator[dict[str, Any]]]
    columns: Mapping[str, Mapping[str, str]]

    @cached_property
    def types(self) -> dict[str, pa.DataType]:
        """The type of each column, from all rows."""
        seen, count = Counter[tuple[str, type]](), 0
        for row in self.rows():
            count += 1
            seen.update((name, type(value)) for name, value in row.items() if not _missing(value))
        kinds: dict[str, dict[type, int]] = {name: {} for name in self.columns}
        for (name, kind), number in seen.items():
            kinds[name][kind] = number
        return {name: _type(set(own), sum(own.values()) < count) for name, own in kinds.items()}

    def frame(self, names: Sequence[str] = ()) -> pd.DataFrame:
        """Return all rows with these columns, or all columns; their metadata are in `attrs["columns"]`."""
        schema = self._schema(names)
        return self._described(pa.Table.from_batches(self._batches(schema), schema).to_pandas())

    def write(self, parquet: Path, csv: Path | None = None) -> None:
        """Write a Parquet file whose schema describes the columns, and a CSV file with a header line."""
        schema = self._schema()
        opened = csv.open("w", encoding="utf-8", newline="") if csv else nullcontext()
        with parquet.open("wb", AT_ONCE) as collected, ParquetWriter(collected, schema) as file, opened as text:
            if text:
                schema.empty_table().to_pandas().to_csv(text, index=False)
            for batch in self._batches(schema):
                file.write_batch(batch)
                if text:
                    batch.to_pandas().to_csv(text, index=False, header=False)

    def _schema(self, names: Sequence[str] = ()) -> pa.Schema:
        """Names and types, and metadata of the columns, in the form of a frame written by pandas."""
        plain = pa.schema([(name, self.types[name]) for name in names or self.columns])
        empty = self._described(plain.empty_table().to_pandas())
        metadata = pa.Schema.from_pandas(empty, preserve_index=False).metadata
        return plain.with_metadata(metadata | {b"PANDAS_ATTRS": json.dumps(empty.attrs).encode()})

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        rows = self.rows()
        while (batch := _batch(list(islice(rows, BATCH)), schema)).num_rows:
            yield batch

    def _described(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame.attrs["columns"] = {name: self.columns[name] for name in map(str, frame)}
        return frame


def _missing(value: Any) -> bool:
    return value is None or value != value


def _type(kinds: set[type], missing: bool) -> pa.DataType:
    if kinds == {bool}:
        return pa.bool_()
    if kinds <= {int, float}:
        return pa.int64() if kinds == {int} and not missing else pa.float64()
    return pa.large_string()


def _batch(rows: list[dict[str, Any]], schema: pa.Schema) -> pa.RecordBatch:
    arrays = [_array([row.get(field.name) for row in rows], field.type) for field in schema]
    return pa.record_batch(arrays, schema=schema)


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    if kind == pa.large_string():
        values = [None if _missing(x) else str(x) for x in values]
    return pa.array(values, kind, from_pandas=True)
