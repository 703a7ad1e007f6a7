"""quadrat pairs against NumPy, with every method, and what bad boxes get."""
import unittest

import numpy as np

from support import CommandLine, box_pairs, checksum, methods, overlaps


class Pairs(CommandLine):
    def boxes(self, n, d, dtype, size=0.08):
        lo = self.random.random((n, d)) * 2 - 1
        return np.hstack([lo, lo + self.random.random((n, d)) ** 3 * size * 4]).astype(dtype)

    def check(self, name, boxes, *options):
        a, b = box_pairs(boxes)
        result = self.json("pairs", name, *options)
        self.assertEqual(result["pairs"], len(a), options)
        self.assertEqual(result["checksum"], checksum(a, b), options)
        self.assertEqual(result["objects"], len(boxes))
        return result

    def test_every_method_and_type(self):
        for d in (2, 3):
            for dtype in (np.float32, np.float64):
                boxes = self.boxes(1500, d, dtype)
                self.save("b.npy", boxes)
                for method in ["auto", *methods("pairs")]:
                    for threads in (1, 2):
                        self.check("b.npy", boxes, "--method", method, "--threads", threads)

    def test_peak_memory_is_its_own(self):
        ballast = np.ones(50_000_000)  # 400 MB that are here and not there
        self.save("b.npy", self.boxes(100, 3, np.float32))
        self.assertLess(self.json("pairs", "b.npy")["peak_rss_bytes"], ballast.nbytes / 2)

    def test_three_dimensions_of_an_array_are_refused(self):
        self.save("b.npy", np.zeros((2, 3, 2)))  # lo and hi per axis: not the order that is read
        self.fails(1, "pairs", "b.npy", says=["b.npy", "3 dimensions"])
        self.save("x.npy", np.zeros((2, 3, 1)))
        self.fails(1, "neighbors", "x.npy", "--radius", 1, says=["x.npy", "3 dimensions"])

    def test_infinite_bounds_touching_and_identical(self):
        boxes = self.boxes(300, 3, np.float64)
        boxes[0] = [-np.inf, -np.inf, -np.inf, np.inf, np.inf, 0]
        boxes[1] = [0.25, -np.inf, -np.inf, 0.25, np.inf, np.inf]
        boxes[2:5] = boxes[5]
        boxes[6, :3], boxes[6, 3:] = boxes[7, 3:], boxes[7, 3:] + 1
        self.save("b.npy", boxes)
        for method in methods("pairs"):
            self.check("b.npy", boxes, "--method", method)

    def test_csv_orders_and_integer_types(self):
        boxes = self.boxes(400, 3, np.float64)
        self.check(self.save("b.csv", boxes), boxes)
        np.savetxt(self.path("h.csv"), boxes, delimiter=";", fmt="%.17g", header="a;b;c;d;e;f", comments="")
        self.check("h.csv", boxes)
        np.save(self.path("f.npy"), np.asfortranarray(boxes))
        self.check("f.npy", boxes)
        np.save(self.path("big.npy"), boxes.astype(">f8"))
        self.check("big.npy", boxes)
        lo = self.random.integers(-50, 50, (300, 2))
        whole = np.hstack([lo, lo + self.random.integers(0, 9, (300, 2))])
        for dtype in ("i1", "<i2", "<i4", ">i8"):
            np.save(self.path("i.npy"), whole.astype(dtype))
            self.check("i.npy", whole.astype(float))

    def test_two_sets(self):
        a, b = self.boxes(300, 3, np.float32), self.boxes(500, 3, np.float32)
        self.save("a.npy", a), self.save("b.npy", b)
        i, j = overlaps(a, b)
        for method in methods("pairs"):
            result = self.json("pairs", "a.npy", "b.npy", "--method", method, "--out", "p.npy")
            self.assertEqual((result["pairs"], result["checksum"]), (len(i), checksum(i, j)), method)
            np.testing.assert_array_equal(np.load(self.path("p.npy")), np.stack([i, j], 1))
        self.save("c.csv", b.astype(float))
        self.assertEqual(self.json("pairs", "a.npy", "c.csv")["checksum"], checksum(i, j))

    def test_output_is_sorted(self):
        boxes = self.boxes(500, 3, np.float32)
        self.save("b.npy", boxes)
        expected = np.stack(box_pairs(boxes), 1)
        for method in methods("pairs"):
            self.json("pairs", "b.npy", "-o", "p.npy", "--method", method)
            pairs = np.load(self.path("p.npy"))
            self.assertEqual(pairs.dtype, np.uint32)
            np.testing.assert_array_equal(pairs, expected)
        self.json("pairs", "b.npy", "--out", "p.csv")
        np.testing.assert_array_equal(np.loadtxt(self.path("p.csv"), delimiter=",", dtype=int), expected)
        self.assertEqual(self.files(), {"b.npy", "p.npy", "p.csv"})

    def test_json_keys(self):
        self.save("b.npy", self.boxes(100, 3, np.float32))
        result = self.json("pairs", "b.npy", "--repeat", 3, "--method", "brute", "--threads", 2)
        self.assertEqual(set(result), {"objects", "pairs", "checksum", "method", "threads", "seconds", "peak_rss_bytes", "tested"})
        self.assertEqual(set(result["seconds"]), {"read", "first", "build", "find"})
        self.assertEqual((result["method"], result["threads"], result["tested"]), ("brute", 2, 4950))

    def test_counts_its_tests_and_times_its_build(self):
        a, b = self.boxes(2000, 3, np.float32), self.boxes(1500, 3, np.float32)
        self.save("a.npy", a), self.save("b.npy", b)
        for method in methods("pairs"):
            for files, all_tests in ((("a.npy",), 1999000), (("a.npy", "b.npy"), 3000000)):
                result = self.json("pairs", *files, "--method", method)
                self.assertGreaterEqual(result["tested"], result["pairs"], (method, files))
                if method == "brute":
                    self.assertEqual(result["tested"], all_tests)
                else:
                    self.assertLess(result["tested"], all_tests, (method, files))
                    self.assertGreater(result["seconds"]["build"], 0)

    def test_nothing_is_a_valid_input(self):
        for boxes in (np.zeros((0, 6), np.float32), np.zeros((0, 4)), np.zeros(0)):
            self.save("b.npy", boxes)
            for method in methods("pairs"):
                result = self.json("pairs", "b.npy", "--out", "p.npy", "--method", method)
                self.assertEqual((result["pairs"], result["checksum"]), (0, "0" * 16))
            self.assertEqual(np.load(self.path("p.npy")).shape, (0, 2))
        self.write("b.csv", "")
        self.assertEqual(self.json("pairs", "b.csv")["pairs"], 0)
        self.save("one.npy", self.boxes(1, 3, np.float32))
        self.assertEqual(self.json("pairs", "one.npy", "b.csv")["pairs"], 0)

    def test_bad_boxes(self):
        good = self.boxes(30, 3, np.float32, size=1)
        for value, column, message in ((np.nan, 3, "NaN"), (-9, 4, "hi is less than lo"), (np.nan, 0, "NaN")):
            boxes = good.copy()
            boxes[17, column] = value
            self.save("b.npy", boxes)
            self.fails(1, "pairs", "b.npy", "-o", "p.npy", says=f"b.npy: row 17, column {column}: {message}")
            self.save("b.csv", boxes)
            self.fails(1, "pairs", "b.csv", "-o", "p.npy", says=f"b.csv: line 18, row 17, column {column}: {message}")
        self.save("good.npy", good)
        self.save("flat.npy", self.boxes(5, 2, np.float32))
        self.fails(1, "pairs", "good.npy", "flat.npy", "-o", "p.npy", says=["flat.npy", "2D", "good.npy", "3D"])
        self.save("five.npy", good[:, :5])
        self.fails(1, "pairs", "five.npy", "-o", "p.npy", says="five.npy: 5 columns")
        self.fails(1, "pairs", "absent.npy", "-o", "p.npy", says="absent.npy: cannot read")
        self.fails(1, "pairs", "good.npy", "-o", "nowhere/p.npy", says="nowhere/p.npy: cannot write")
        self.fails(1, "pairs", "good.npy", "-o", "p.xls", says="p.xls: unknown ending")
        self.fails(1, "pairs", "good.npy", "--max-bytes", "1", "-o", "p.npy", says="bytes")

    def test_broken_files(self):
        self.save("good.npy", self.boxes(30, 3, np.float32))
        with open(self.path("good.npy"), "rb") as file:
            whole = file.read()
        self.write("cut.npy", whole[:-5])
        self.fails(1, "pairs", "cut.npy", "-o", "p.npy", says="cut.npy: byte")
        self.write("long.npy", whole.replace(b"(30, 6)", b"(90000000000, 6)"))
        self.fails(1, "pairs", "long.npy", "-o", "p.npy", says="long.npy: byte")
        self.write("header.npy", b"\x93NUMPY\x02\x00\xff\xff\xff\xff{")
        self.fails(1, "pairs", "header.npy", "-o", "p.npy", says="header.npy: byte")
        self.write("empty.npy", b"")
        self.fails(1, "pairs", "empty.npy", "-o", "p.npy", says="empty.npy: byte 0: not an NPY file")
        self.write("ragged.csv", "1,2,3,4\n1,2,3\n")
        self.fails(1, "pairs", "ragged.csv", "-o", "p.npy", says="ragged.csv: line 2")
        self.write("word.csv", "1,2,3,4\n1,2,x,4\n")
        self.fails(1, "pairs", "word.csv", "-o", "p.npy", says="word.csv: line 2, row 1, column 2: 'x' is not a number")


if __name__ == "__main__":
    unittest.main()
