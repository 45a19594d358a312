# SPDX-License-Identifier: MIT
"""Sums, minima, maxima and sorts, of NumPy arrays and of whatever else has a buffer."""

import array
import math
import random
import unittest

import weft

try:
    import numpy
except ImportError:
    numpy = None

INTEGERS = "bBhHiIlLqQ"


class Buffers(unittest.TestCase):
    def numbers(self, code, n):
        if code in "fd":
            return array.array(code, (random.uniform(-1000, 1000) for _ in range(n)))
        bits = 8 * array.array(code).itemsize
        least = 0 if code.isupper() else -(1 << (bits - 1))
        return array.array(code, (least + random.getrandbits(bits) for _ in range(n)))

    def test_every_type(self):
        for code in INTEGERS + "fd":
            for n in (1, 2, 1000, 20000):
                numbers = self.numbers(code, n)
                total = weft.sum(numbers)
                if code in "fd":
                    self.assertTrue(math.isclose(total, math.fsum(numbers), abs_tol=1e-6))
                else:
                    self.assertEqual((total - sum(numbers)) % 2**64, 0)
                    self.assertTrue(total >= 0 if code.isupper() else -(2**63) <= total < 2**63)
                self.assertEqual(weft.min(numbers), min(numbers))
                self.assertEqual(weft.max(numbers), max(numbers))
                if numbers.itemsize >= 4:
                    in_order = sorted(numbers)
                    weft.sort(numbers)
                    self.assertEqual(list(numbers), in_order)

    def test_the_same_bits_for_any_number_of_workers(self):
        numbers = self.numbers("d", 100000)
        want = weft.sum(numbers)
        for workers in (1, 2, 3, 16):
            with weft.Pool(workers) as pool:
                for _ in range(3):
                    self.assertEqual(weft.sum(numbers, pool=pool), want)

    def test_no_numbers(self):
        none = array.array("d")
        self.assertEqual(weft.sum(none), 0)
        weft.sort(none)
        for function in (weft.min, weft.max):
            with self.assertRaises(ValueError):
                function(none)

    def test_a_buffer_is_let_go(self):
        numbers = array.array("d", [1, 2, 3])
        weft.sum(numbers)
        weft.sort(numbers)
        for function in (weft.sum, weft.sort):
            with self.assertRaises((ValueError, TypeError)):
                function(memoryview(numbers)[::2])
            with self.assertRaises(TypeError):
                function(memoryview(numbers).cast("B").cast("c"))
        numbers.append(4)  # BufferError if a buffer were still held
        self.assertEqual(weft.sum(numbers), 10)

    def test_a_buffer_is_held_meanwhile(self):
        numbers = array.array("d", [1, 2])
        from weft import _arrays

        with _arrays.numbers(numbers), self.assertRaises(BufferError):
            numbers.append(3)

    def test_what_is_not_numbers(self):
        for wrong in ("text", [1, 2], None, 7, memoryview(b"ab").cast("c")):
            for function in (weft.sum, weft.min, weft.max, weft.sort):
                with self.assertRaises(TypeError):
                    function(wrong)
        for narrow in "bBhH":
            with self.assertRaisesRegex(TypeError, "sort"):
                weft.sort(array.array(narrow, [1]))

    def test_what_must_not_be_written(self):
        with self.assertRaisesRegex(ValueError, "read-only"):
            weft.sort(memoryview(bytes(80)).cast("d"))
        self.assertEqual(weft.sum(memoryview(bytes(80)).cast("d")), 0)


@unittest.skipIf(numpy is None, "there is no NumPy")
class Arrays(unittest.TestCase):
    def test_like_numpy(self):
        generator = numpy.random.default_rng(1)
        for kind in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"):
            for n in (1, 1000, 1_000_000):
                a = (generator.random(n) * 100).astype(kind)
                self.assertTrue(numpy.isclose(weft.sum(a), a.sum(dtype="f8")))
                self.assertEqual(weft.min(a), a.min())
                self.assertEqual(weft.max(a), a.max())
                if a.itemsize >= 4:
                    b = a.copy()
                    weft.sort(b)
                    self.assertTrue((b == numpy.sort(a)).all())

    def test_nans(self):
        a = numpy.array([numpy.nan, 3, -0.0, 0.0, -numpy.inf])
        self.assertEqual((weft.min(a), weft.max(a)), (-numpy.inf, 3))
        self.assertEqual(weft.min(a[:1]), numpy.inf)
        self.assertTrue(numpy.isnan(weft.sum(a)))
        weft.sort(a)
        self.assertEqual([str(x) for x in a], ["-inf", "-0.0", "0.0", "3.0", "nan"])

    def test_shapes(self):
        a = numpy.arange(24.0).reshape(2, 3, 4)
        for b in (a, a.T, a[1], numpy.asfortranarray(a), numpy.array(276.0)):
            self.assertEqual(weft.sum(b), b.sum())
        for b in (a[:, :, 1], a[::-1], a[:, 1:]):
            with self.assertRaisesRegex(ValueError, "gaps"):
                weft.sum(b)
        for b in (a, numpy.array(1.0)):
            with self.assertRaisesRegex(ValueError, "dimension"):
                weft.sort(b)

    def test_what_c_can_not_read(self):
        for kind in (">f8", "f2", "c16", "?", "U1", "M8[s]", "g", "O", "f8,i4"):
            with self.assertRaises((TypeError, ValueError)):
                weft.sum(numpy.zeros(4, kind))
        with self.assertRaisesRegex(ValueError, "aligned"):
            weft.sum(numpy.frombuffer(bytes(17), "f8", 2, 1))

    def test_what_must_not_be_written(self):
        a = numpy.arange(3.0)[::-1].copy()
        a.flags.writeable = False
        with self.assertRaisesRegex(ValueError, "read-only"):
            weft.sort(a)
        self.assertEqual(a[0], 2)

    def test_a_loop_over_slices(self):
        a = numpy.random.default_rng(2).random(500_000)
        out = numpy.empty_like(a)
        weft.for_(len(a), lambda lo, hi: numpy.sqrt(a[lo:hi], out=out[lo:hi]))
        self.assertTrue((out == numpy.sqrt(a)).all())


if __name__ == "__main__":
    unittest.main()
