"""The counters of house.py, on texts whose answer is known."""
import os
import pathlib
import unittest

import house

TEXT = '''// A head of
// two lines.
#pragma once
#define OPEN {

namespace quadrat {

struct Options {
    double radius = 0.5;  ///< metres
};

template <int D, class T>
int first(std::span<const T> points) {
    QUADRAT_ASSERT(!points.empty());
    const char* text = "} // {";
    auto fn = [&](int i) {
        return i;
    };
    return fn(1'000) + '{';
}

class Grid {
  public:
    Grid(int n) : n_{n}, m_(n) {
        build();
    }
    [[nodiscard]] int size() const { return n_; }

  private:
    int n_{0};
};
/* one
   two */
}
'''


class House(unittest.TestCase):
    def test_functions(self):
        self.assertEqual(house.functions(TEXT), [("first", 8), ("Grid", 3), ("size", 1)])

    def test_lines(self):
        code, comment, blank, assertion = house.lines(TEXT)
        self.assertEqual((comment, blank, assertion), (4, 5, 1))
        self.assertEqual(code + comment + blank + assertion, len(TEXT.splitlines()))

    def test_the_tree(self):
        tree = pathlib.Path(os.environ["QUADRAT_SOURCE"])
        for tops, files, code in ((("src", "include"), 100, 10000), (("apps",), 50, 3000)):
            rows, functions = house.measure(tree, tops)
            self.assertGreater(rows["files"], files)
            self.assertGreater(rows["lines of code"], code)
            self.assertEqual(rows["functions above 80 lines"], 0, functions[0])
            self.assertEqual(rows["folders of more than 20 files"], 0, rows["largest folder"])


if __name__ == "__main__":
    unittest.main()
