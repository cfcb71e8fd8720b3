"""The C ABI of libquiver (jni/quiver.h) from Python, through ctypes. Memory is copied out at once; nothing is kept."""

import ctypes as C
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

OK, INVALID, CORRUPT, MEMORY, CLOSED, UNSUPPORTED, INTERNAL = range(7)
READ_VECTORS, READ_ROWS, READ_ARROW, READ_TOTALS = range(4)
COUNT, SUM, CHECKED_SUM, DOUBLE_SUM, DECIMAL_SUM, LENGTHS = range(6)


class _Error(C.Structure):
    _fields_ = [("code", C.c_int32), ("message", C.c_char * 2044)]


class _Bytes(C.Structure):
    _fields_ = [("data", C.c_void_p), ("length", C.c_int64)]

    def copy(self) -> bytes:
        return C.string_at(self.data, self.length) if self.length else b""


class _Batch(C.Structure):
    _fields_ = [
        ("rows", C.c_int64),
        ("decoded_size", C.c_int64),
        ("header", _Bytes),
        ("stats", _Bytes),
        ("num_segments", C.c_int64),
        ("segments", C.POINTER(_Bytes)),
        ("checksums", _Bytes),
    ]


class _Need(C.Structure):
    _fields_ = [
        ("first_segment", C.c_int32),
        ("num_segments", C.c_int32),
        ("length", C.c_int64),
        ("skip", C.c_int64),
        ("wanted", C.c_int64),
        ("data", C.c_void_p),
        ("present", C.c_int64),
    ]


class _Buffer(C.Structure):
    _fields_ = [("source", C.c_int32), ("segment", C.c_int32), ("data", C.c_void_p), ("length", C.c_int64)]


class _Vectors(C.Structure):
    _fields_ = [
        ("rows", C.c_int64),
        ("bytes_read", C.c_int64),
        ("nanos", C.c_int64),
        ("kept", C.c_int64),
        ("num_nodes", C.c_int64),
        ("layout", C.POINTER(C.c_int64)),
        ("buffers", C.POINTER(_Buffer)),
    ]


class _Term(C.Structure):
    _fields_ = [("node", C.c_int32), ("op", C.c_int32)]


class _Total(C.Structure):
    _fields_ = [("values", C.c_int64), ("low", C.c_int64), ("high", C.c_int64), ("excess", C.c_int64)]


class QuiverError(Exception):
    def __init__(self, code: int, message: str):
        super().__init__(message)
        self.code = code


@dataclass
class Batch:
    """An encoded batch, as Spark keeps it."""

    rows: int
    decoded_size: int
    header: bytes
    stats: bytes
    segments: list[bytes]
    checksums: bytes = b""

    @property
    def message(self) -> bytes:
        """One encapsulated Arrow IPC message: header and body."""
        return self.header + b"".join(self.segments)


@dataclass
class Node:
    """A node of decoded vectors: nulls has one byte a slot."""

    length: int
    null_count: int
    nulls: bytes | None
    first: bytes | None
    second: bytes | None


class Totals:
    """Sums, each of a node of the projected columns and an operation, over as many batches as are added."""

    def __init__(self, *terms: tuple[int, int]):
        self.terms = (_Term * max(len(terms), 1))(*terms)
        self.totals = (_Total * max(len(terms), 1))()
        self.n = len(terms)

    def __getitem__(self, i: int) -> tuple[int, int, int, int]:
        """Values that are not null, low, high, excess."""
        t = self.totals[i]
        return t.values, t.low, t.high, t.excess


class Library:
    def __init__(self, path: Path):
        self.c = C.CDLL(str(path))
        for name in ("quiver_native_bytes", "quiver_encoder_new", "quiver_decoder_new", "quiver_version"):
            getattr(self.c, name).restype = C.c_int64
        for name in ("quiver_alloc", "quiver_realloc"):
            getattr(self.c, name).restype = C.c_void_p
        self.c.quiver_close.restype = None

    def native_bytes(self) -> int:
        return self.c.quiver_native_bytes()

    def abi_version(self) -> int:
        return self.c.quiver_abi_version()

    def version(self) -> str:
        text = C.create_string_buffer(256)
        length = self.c.quiver_version(text, C.c_int64(256))
        return text.raw[:length].decode()

    def call(self, name: str, *arguments) -> int:
        """Calls a function that takes an error last; raises it."""
        error = _Error()
        result = getattr(self.c, name)(*arguments, C.byref(error))
        if error.code != OK:
            raise QuiverError(error.code, error.message.decode())
        return result

    def configure(self, options: str) -> None:
        text = options.encode()
        self.call("quiver_configure", text, C.c_int64(len(text)))

    def check_options(self, options: str) -> None:
        text = options.encode()
        self.call("quiver_check_options", text, C.c_int64(len(text)))

    def check_schema(self, schema: dict | bytes) -> None:
        text = _json(schema)
        self.call("quiver_check_schema", text, C.c_int64(len(text)))

    def check_head(self, columns: int, batch: Batch) -> None:
        parts = [C.c_int64(batch.rows), C.c_int64(columns), C.c_int64(batch.decoded_size), batch.header, C.c_int64(len(batch.header))]
        parts += [batch.stats, C.c_int64(len(batch.stats)), C.c_int64(len(batch.segments))]
        self.call("quiver_check_head", *parts, batch.checksums, C.c_int64(len(batch.checksums)))

    def alloc(self, size: int) -> int:
        return self.call("quiver_alloc", C.c_int64(size))

    def realloc(self, address: int, old: int, new: int) -> int:
        return self.call("quiver_realloc", C.c_void_p(address), C.c_int64(old), C.c_int64(new))

    def free(self, address: int, size: int) -> None:
        self.c.quiver_free(C.c_void_p(address), C.c_int64(size))


def _json(schema: dict | bytes) -> bytes:
    return schema if isinstance(schema, bytes) else json.dumps(schema).encode()


class _Handle:
    def __init__(self, library: Library, handle: int):
        self.library = library
        self.handle = C.c_int64(handle)

    def close(self) -> None:
        self.library.c.quiver_close(self.handle)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Encoder(_Handle):
    def __init__(self, library: Library, schema: dict, options: str = "codec=zstd"):
        text, opts = _json(schema), options.encode()
        handle = library.call("quiver_encoder_new", text, C.c_int64(len(text)), opts, C.c_int64(len(opts)))
        super().__init__(library, handle)

    def columns(self, batch: pa.RecordBatch, with_schema: bool = False) -> Batch:
        """Encodes Arrow columns; the library takes the exported structs over. with_schema: the schema is handed over, too."""
        array, schema = C.create_string_buffer(80), C.create_string_buffer(72)
        if with_schema:
            batch._export_to_c(C.addressof(array), C.addressof(schema))
        else:
            batch._export_to_c(C.addressof(array))
        out = _Batch()
        self.library.call("quiver_encode_columns", self.handle, array, schema if with_schema else None, C.byref(out))
        return _copy(out)

    def rows(self, rows: Sequence[bytes]) -> Batch:
        """Encodes UnsafeRows."""
        ends, end = (C.c_int64 * max(len(rows), 1))(), 0
        for i, row in enumerate(rows):
            end += len(row)
            ends[i] = end
        out = _Batch()
        self.library.call("quiver_encode_rows", self.handle, b"".join(rows), C.c_int64(end), ends, C.c_int64(len(rows)), C.byref(out))
        return _copy(out)


def _copy(out: _Batch) -> Batch:
    segments = [out.segments[i].copy() for i in range(out.num_segments)]
    return Batch(out.rows, out.decoded_size, out.header.copy(), out.stats.copy(), segments, out.checksums.copy())


class Decoder(_Handle):
    def __init__(self, library: Library, schema: dict, projection: Sequence[int], filter: str = "", unread: Sequence[int] = ()):
        text, conditions = _json(schema), filter.encode()
        columns = (C.c_int32 * max(len(projection), 1))(*projection)
        nodes = (C.c_int32 * max(len(unread), 1))(*unread)
        arguments = [(text, text), (columns, projection), (nodes, unread), (conditions, conditions)]
        flat = [x for pointer, items in arguments for x in (pointer, C.c_int64(len(items)))]
        handle = library.call("quiver_decoder_new", *flat)
        super().__init__(library, handle)
        self.touched: set[int] = set()
        #: whether the segments read are checked by their checksums
        self.check = False

    def plan(self, read: int, batch: Batch) -> None:
        """The first step; remembers in `touched` which segments were asked for."""
        needs, n = C.POINTER(_Need)(), C.c_int64()
        header, checksums = batch.header, batch.checksums if self.check else None
        self.library.call(
            "quiver_decode_plan",
            self.handle,
            C.c_int32(read),
            header,
            C.c_int64(len(header)),
            C.c_int64(len(batch.segments)),
            checksums,
            C.c_int64(len(checksums or b"")),
            C.byref(needs),
            C.byref(n),
        )
        self.touched = set()
        for need in needs[: n.value]:
            indexes = range(need.first_segment, need.first_segment + need.num_segments)
            self.touched.update(indexes)
            stored = b"".join(batch.segments[i] for i in indexes)
            wanted = stored[need.skip :][: need.wanted]
            C.memmove(need.data, wanted, len(wanted))
            need.present = len(stored)

    def arrow(self, batch: Batch) -> pa.RecordBatch:
        """Decodes into Arrow memory that pyarrow owns from then on."""
        self.plan(READ_ARROW, batch)
        array, schema = C.create_string_buffer(80), C.create_string_buffer(72)
        self.library.call("quiver_decode_columns", self.handle, array, schema)
        return pa.RecordBatch._import_from_c(C.addressof(array), C.addressof(schema))

    def vectors(self, batch: Batch) -> tuple[int, int, list[Node]]:
        """Rows, stored bytes read, and the nodes in pre-order."""
        self.plan(READ_VECTORS, batch)
        out = _Vectors()
        self.library.call("quiver_decode_vectors", self.handle, C.byref(out))
        nodes = []
        for k in range(out.num_nodes):
            layout = out.layout[4 + 8 * k : 12 + 8 * k]
            three = [self._buffer(out.buffers[3 * k + i], layout[2 + 2 * i], layout[3 + 2 * i], batch) for i in range(3)]
            nodes.append(Node(layout[0], layout[1], *three))
        return out.rows, out.bytes_read, nodes

    def totals(self, batch: Batch, totals: Totals) -> tuple[int, int]:
        """Adds a batch up; rows, and stored bytes read."""
        self.plan(READ_TOTALS, batch)
        out = _Vectors()
        self.library.call("quiver_decode_totals", self.handle, totals.terms, totals.totals, C.c_int64(totals.n), C.byref(out))
        return out.rows, out.bytes_read

    @staticmethod
    def _buffer(buffer: _Buffer, offset: int, length: int, batch: Batch) -> bytes | None:
        if buffer.source == 0:
            return None
        whole = C.string_at(buffer.data, buffer.length) if buffer.source == 1 else batch.segments[buffer.segment]
        assert offset >= 0 and offset + length <= len(whole), "a buffer reaches beyond its array"
        return whole[offset : offset + length]

    def rows(self, batch: Batch, target: int = 1 << 18, capacity: int = 1000) -> list[bytes]:
        """Decodes into UnsafeRows."""
        self.plan(READ_ROWS, batch)
        out = _Vectors()
        self.library.call("quiver_decode_rows", self.handle, C.byref(out))
        rows = []
        while block := self.next_rows(target, capacity):
            rows += block
        return rows

    def next_rows(self, target: int, capacity: int) -> list[bytes]:
        block, ends, n = _Bytes(), C.POINTER(C.c_int32)(), C.c_int64()
        self.library.call(
            "quiver_next_rows", self.handle, C.c_int64(target), C.c_int64(capacity), C.byref(block), C.byref(ends), C.byref(n)
        )
        data = block.copy() if n.value else b""
        bounds = [0, *ends[: n.value]]
        return [data[a:b] for a, b in itertools.pairwise(bounds)]
