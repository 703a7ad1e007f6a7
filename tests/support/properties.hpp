// RapidCheck inside GoogleTest, and generators of geometry that shrink towards small sets at the origin.
//
//   TEST(Thing, Property) {
//       test::check("what holds", [](const std::vector<Box3f>& ...) {...});   // or with gen: *test::boxes<3, float>()
//   }
#pragma once

#include <quadrat/geometry.hpp>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace quadrat::test {

/// Runs a RapidCheck property and fails the GoogleTest with the shrunk counterexample.
template <class Property>
void check(const std::string& what, Property&& property) {
    EXPECT_TRUE(rc::check(what, std::forward<Property>(property))) << what;
}

/// A coordinate that is a multiple of 1/4 in [-span, span]: ties, touching faces and cell borders are frequent.
template <class T>
[[nodiscard]] rc::Gen<T> coarse_coordinate(int span = 8) {
    return rc::gen::map(rc::gen::inRange(-4 * span, 4 * span + 1),
                        [](int quarters) { return static_cast<T>(quarters) / T(4); });
}

/// Coarse, or any magnitude from 1e-6 to 1e6 with either sign.
template <class T>
[[nodiscard]] rc::Gen<T> coordinate(int span = 8) {
    return rc::gen::weightedOneOf<T>(
        {{4, coarse_coordinate<T>(span)},
         {1, rc::gen::map(rc::gen::pair(rc::gen::inRange(-1000000, 1000001), rc::gen::inRange(0, 7)),
                          [](std::pair<int, int> x) {
                              T value = static_cast<T>(x.first);
                              for (int i = 0; i < x.second; ++i) value /= T(100);
                              return value;
                          })}});
}

template <int D, class T>
[[nodiscard]] rc::Gen<Vec<D, T>> point(int span = 8) {
    return rc::gen::exec([span] {
        Vec<D, T> p;
        for (int k = 0; k < D; ++k) p[k] = *coordinate<T>(span);
        return p;
    });
}

template <int D, class T>
[[nodiscard]] rc::Gen<Box<D, T>> box(int span = 8) {
    return rc::gen::exec([span] {
        Box<D, T> b;
        for (int k = 0; k < D; ++k) {
            b.lo[k] = *coordinate<T>(span);
            b.hi[k] = *coordinate<T>(span);
            if (b.hi[k] < b.lo[k]) std::swap(b.lo[k], b.hi[k]);
            if (*rc::gen::weightedElement<int>({{5, 0}, {1, 1}})) b.hi[k] = b.lo[k];
        }
        return b;
    });
}

template <int D, class T>
[[nodiscard]] rc::Gen<std::vector<Box<D, T>>> boxes(int span = 8) {
    return rc::gen::container<std::vector<Box<D, T>>>(box<D, T>(span));
}

template <int D, class T>
[[nodiscard]] rc::Gen<std::vector<Vec<D, T>>> points(int span = 8) {
    return rc::gen::container<std::vector<Vec<D, T>>>(point<D, T>(span));
}

}  // namespace quadrat::test

namespace quadrat {
template <int D, class T>
void showValue(const Vec<D, T>& p, std::ostream& out) {
    out << '(';
    for (int k = 0; k < D; ++k) out << (k ? ", " : "") << p[k];
    out << ')';
}
template <int D, class T>
void showValue(const Box<D, T>& b, std::ostream& out) {
    showValue(b.lo, out);
    out << "..";
    showValue(b.hi, out);
}
}  // namespace quadrat
