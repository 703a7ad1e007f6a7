// What a predicate accepts lies in the search box of its shape, also where both round: boxes are put a few numbers
// beside where the shape ends. A shape with a search box has a line in Shapes.
#include "broad_phase/query_tests.hpp"
#include "support/kinds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <tuple>

namespace {

using namespace quadrat;

template <int D, class T>
class Random {
  public:
    /// From -2^most to 2^most, of any size.
    T number(int most) {
        return static_cast<T>(std::ldexp(uniform_(random_), std::uniform_int_distribution(most - 8, most)(random_)));
    }
    Vec<D, T> point() {
        Vec<D, T> p;
        for (int k = 0; k < D; ++k) p[k] = number(0);
        return p;
    }
    /// Some steps of T up or down.
    T beside(double x) {
        T t = static_cast<T>(x);
        for (int n = std::uniform_int_distribution(-16, 16)(random_); n != 0; n += n < 0 ? 1 : -1)
            t = std::nextafter(t, n < 0 ? T(-10) : T(10));
        return t;
    }
    std::mt19937_64& generator() { return random_; }

  private:
    std::mt19937_64 random_{29};
    std::uniform_real_distribution<double> uniform_{-1, 1};
};

template <int D, class T>
void make(Random<D, T>& random, Sphere<D, T>& sphere) {
    sphere = {random.point(), std::abs(random.number(0))};
}

template <int D, class T>
using Shapes = std::tuple<Sphere<D, T>>;

template <class K>
class SearchBox : public testing::Test {};
TYPED_TEST_SUITE(SearchBox, test::Kinds);

TYPED_TEST(SearchBox, HoldsWhatThePredicateAccepts) {
    constexpr int D = TypeParam::D;
    using T = typename TypeParam::T;
    Random<D, T> random;
    const auto check = [&](auto shape) {
        int met = 0, missed = 0;
        for (int i = 0; i < 20000; ++i) {
            make(random, shape);
            const Box<D, T> around = broad_phase::search_box(shape);
            // A box that covers the shape on all axes but one, and begins or ends where the shape does on that one.
            Box<D, T> box = around;
            const int k = std::uniform_int_distribution(0, D - 1)(random.generator());
            if (i % 2 == 0)
                box.lo[k] = random.beside(around.hi[k]), box.hi[k] = box.lo[k] + 1;
            else
                box.hi[k] = random.beside(around.lo[k]), box.lo[k] = box.hi[k] - 1;
            const bool meets = broad_phase::meets(shape, box);
            met += meets;
            missed += !meets;
            EXPECT_TRUE(!meets || overlap(around, box)) << i;
        }
        EXPECT_GT(met, 100);
        EXPECT_GT(missed, 100);
    };
    std::apply([&](auto... shape) { (check(shape), ...); }, Shapes<D, T>{});
}

}  // namespace
