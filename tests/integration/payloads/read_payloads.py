"""A reader of payload files, written from docs/payload-files.md alone, with NumPy.

    python read_payloads.py FOLDER

For every X.gw of the folder it writes the vector to X.f32, and prints a line of JSON. It
shares no code with what wrote the files, and reads the vector of a method that needs one
from X.gradient.
"""

import json
import math
import struct
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Header = dict[str, Any]

ENTRIES = {
    "topk",
    "threshold",
    "nonzero",
    "blockcd",
    "gaussiank",
    "dct",
    "dgc",
    "scalecom",
}


def unpack(data: bytes) -> tuple[Header, bytes]:
    magic, version, kind, h, crc, b = struct.unpack_from("<4sHHIIQ", data)
    assert (magic, version, kind) == (b"GRDW", 1, 1)
    assert len(data) == 24 + h + b
    assert zlib.crc32(data[16:], zlib.crc32(data[:12])) == crc
    return json.loads(data[24 : 24 + h]), data[24 + h :]


class Body:
    """The bytes of a payload, read from the first to the last."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def bytes(self, count: int) -> bytes:
        assert count <= self.left
        self._at += count
        return self._data[self._at - count : self._at]

    def f32(self, count: int) -> Floats:
        return np.frombuffer(self.bytes(4 * count), "<f4").astype(np.float32)

    def u32(self, count: int) -> NDArray[np.int64]:
        return np.frombuffer(self.bytes(4 * count), "<u4").astype(np.int64)

    def count(self) -> int:
        return int(self.u32(1)[0])


def words(bits: int) -> int:
    """Bytes of this many bits in whole words."""
    return 4 * ((bits + 31) // 32)


def fields(data: bytes, count: int, width: int) -> NDArray[np.int64]:
    bits = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little")
    assert not bits[count * width :].any()
    weights = 1 << np.arange(width, dtype=np.int64)
    return bits[: count * width].reshape(count, width).astype(np.int64) @ weights


def packed_codes(body: Body, count: int, s: int) -> NDArray[np.int64]:
    """Signed levels."""
    b = 1 + s.bit_length()
    codes = fields(body.bytes(words(count * b)), count, b)
    level = codes & ((1 << (b - 1)) - 1)
    assert not (level > s).any()
    return np.where(codes >> (b - 1), -level, level)


def elias_codes(body: Body, count: int) -> NDArray[np.int64]:
    stream = np.unpackbits(np.frombuffer(body._data[body._at :], np.uint8))
    bits: Iterator[int] = iter(stream.tolist())
    used = 0

    def bit() -> int:
        nonlocal used
        used += 1
        return next(bits)

    def omega() -> int:
        m = 1
        while bit():
            digits = 1
            for _ in range(m):
                digits = 2 * digits + bit()
            m = digits
        return m

    levels = np.zeros(count, np.int64)
    if bit():
        for i in range(count):
            level = omega() - 1
            levels[i] = -level if level and bit() else level
    else:
        index = -1 + omega()
        while index < count:
            sign = -1 if bit() else 1
            levels[index] = sign * omega()
            index += omega()
        assert index == count
    body.bytes(words(used))
    return levels


def values_of(levels: NDArray[np.int64], scales: Floats, s: int, d: int) -> Floats:
    scale = np.repeat(scales, min(d, max(1, len(levels))))[: len(levels)]
    low = scale < np.float32(2.0**-64)
    lift = np.where(low, np.float32(2.0**64), np.float32(1))
    unit = (scale * lift) / np.float32(s)
    signed = levels.astype(np.float32) * unit
    return np.where(low, signed * np.float32(2.0**-64), signed).astype(np.float32)


def scattered(n: int, indices: NDArray[np.int64], values: Floats) -> Floats:
    assert (np.diff(indices) > 0).all()
    out = np.zeros(n, np.float32)
    out[indices] = values
    return out


def philox(block: int, iteration: int, purpose: int, seed: int) -> list[int]:
    c = [block, 0, iteration, purpose]
    k0, k1, mask = seed, 0, 0xFFFFFFFF
    for _ in range(10):
        p, q = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(q >> 32) ^ c[1] ^ k0, q & mask, (p >> 32) ^ c[3] ^ k1, p & mask]
        k0, k1 = (k0 + 0x9E3779B9) & mask, (k1 + 0xBB67AE85) & mask
    return c


def drawn(n: int, k: int, header: Header) -> NDArray[np.int64]:
    def bits(i: int) -> int:
        return philox(i // 4, header["iteration"], 0x72616E64, header["seed"])[i % 4]

    indices: set[int] = set()
    for t in range(k):
        j = n - k + t
        u = bits(2 * t) * 2**21 + (bits(2 * t + 1) >> 11)
        index = math.floor((u * 2.0**-53) * (j + 1))
        indices.add(j if index in indices else index)
    return np.array(sorted(indices), np.int64)


def signs_and_means(body: Body, header: Header) -> Floats:
    parameters, shape, n = header["parameters"], header["shape"], header["n"]
    columns = None
    d = parameters["bucket"]
    if parameters["granularity"] == "column":
        columns = max(1, shape[-1]) if len(shape) > 1 else 1
        d = max(1, n // columns)
        if 8 * -(-n // d) + words(n) >= 4 * n:
            return body.f32(n)
    means = body.f32(2 * -(-n // d)).reshape(-1, 2)
    negative = fields(body.bytes(words(n)), n, 1)
    values: Floats = means[np.arange(n) // d, negative]
    if columns is None or n == 0:
        return values
    return values.reshape(columns, n // columns).T.ravel()


def factors(body: Body, header: Header) -> Floats:
    shape, n = header["shape"], header["n"]
    rows = shape[0] if len(shape) > 1 else 1
    columns = n // rows if rows else 0
    r = min(header["parameters"]["rank"], rows, columns)
    if r * (rows + columns) >= n:
        return body.f32(n)
    left = body.f32(r * rows).reshape(r, rows)
    right = body.f32(r * columns).reshape(r, columns)
    out = np.zeros((rows, columns), np.float32)
    for c in range(r):
        out += np.outer(left[c], right[c])
    return out.ravel()


def levels(body: Body, header: Header) -> Floats:
    parameters, n = header["parameters"], header["n"]
    s, d = 1, 2**30
    if header["method"] == "qsgd":
        s = parameters["levels"] or 2 ** (parameters["bits"] - 1) - 1
        d = parameters["bucket"] or (128 if s == 1 else 512)
    scales = body.f32(-(-n // d))
    elias = parameters.get("coding") == "elias"
    found = elias_codes(body, n) if elias else packed_codes(body, n, s)
    return values_of(found, scales, s, d)


def mean(values: Floats) -> float:
    if len(values) == 0:
        return 0.0
    return float(np.float32(math.fsum(values.tolist()) / len(values)))


def corrected(g: Floats, means: Floats) -> Floats:
    negative = g < 0
    plus = float(means[0]) - mean(g[~negative])
    minus = float(means[1]) - mean(-g[negative])
    shift = np.where(negative, -minus, plus)
    return (g.astype(np.float64) + shift).astype(np.float32)


def blocks(body: Body, n: int, fraction: int, bias: int) -> Floats:
    count = -(-n // 32)
    scales = np.frombuffer(body.bytes(words(8 * count)), np.uint8)
    codes = np.frombuffer(body.bytes(words(8 * n)), np.uint8)
    assert not scales[count:].any()
    assert not codes[n:].any()
    scale = np.exp2(np.repeat(scales[:count], 32)[:n].astype(np.float64) - 127)
    code = codes[:n].astype(np.int64)
    exponent, part = code % 128 >> fraction, code % 2**fraction
    normal = (1 + part / 2**fraction) * np.exp2(exponent.astype(np.float64) - bias)
    subnormal = part / 2**fraction * 2.0 ** (1 - bias)
    magnitude = np.where(exponent > 0, normal, subnormal)
    return (np.where(code < 128, magnitude, -magnitude) * scale).astype(np.float32)


def read(header: Header, body: Body, gradient: Floats | None) -> Floats:
    method, n = header["method"], header["n"]
    parameters, iteration = header["parameters"], header["iteration"]
    warm_up = parameters.get("warmupIterations", 0)
    warming = warm_up > 0 and iteration < warm_up + parameters.get("warmupStart", 0)
    if n < parameters.get("minElements", 0) or warming or method == "none":
        return body.f32(n)
    if method == "bf16":
        halves = np.frombuffer(body.bytes(2 * n), "<u2").astype(np.uint32)
        return (halves << 16).view(np.float32)
    if method == "fp16":
        return np.frombuffer(body.bytes(2 * n), "<f2").astype(np.float32)
    if method == "fp8":
        shape = {"e4m3": (3, 7), "e5m2": (2, 15)}[parameters["format"]]
        return blocks(body, n, *shape)
    if method == "topk" and parameters["quantize"]["bits"] > 0:
        s, d = (
            2 ** (parameters["quantize"]["bits"] - 1) - 1,
            parameters["quantize"]["bucket"],
        )
        k = body.count()
        indices, scales = body.u32(k), body.f32(-(-k // d))
        values = values_of(packed_codes(body, k, s), scales, s, d)
        return scattered(n, indices, values)
    if method in ENTRIES:
        k = body.left // 8
        return scattered(n, body.u32(k), body.f32(k))
    if method == "randomk":
        k = body.left // 4
        return scattered(n, drawn(n, k, header), body.f32(k))
    if method == "powersgd":
        return factors(body, header)
    if method in ("qsgd", "terngrad"):
        return levels(body, header)
    if method == "qgd":
        norm, k = body.f32(1), body.count()
        entries = body.u32(k)
        values = np.where(entries >> 31, -norm, norm)
        return scattered(n, entries & 0x7FFFFFFF, values.astype(np.float32))
    if method == "onebit":
        return signs_and_means(body, header)
    if method == "a2sgd" and gradient is not None:
        return corrected(gradient, body.f32(2))
    raise ValueError(f"{method} is not known here")


def main(folder: Path) -> None:
    for file in sorted(folder.glob("*.gw")):
        header, data = unpack(file.read_bytes())
        own = file.with_suffix(".gradient")
        gradient = np.fromfile(own, "<f4") if own.exists() else None
        body = Body(data)
        vector = read(header, body, gradient)
        assert vector.dtype == np.float32
        assert vector.shape == (header["n"],)
        vector.astype("<f4").tofile(file.with_suffix(".f32"))
        said = {"name": file.stem, "bytes": len(data), "left": body.left}
        print(json.dumps(said))


main(Path(sys.argv[1]))
