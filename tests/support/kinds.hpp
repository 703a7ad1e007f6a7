// What typed tests run over: two and three dimensions, float and double.
//
//   TYPED_TEST_SUITE(Thing, test::Kinds);   // TypeParam::D, TypeParam::T
#pragma once

#include <gtest/gtest.h>

namespace quadrat::test {

template <int dimensions, class Scalar>
struct Kind {
    static constexpr int D = dimensions;
    using T = Scalar;
};

using Kinds = testing::Types<Kind<2, float>, Kind<3, float>, Kind<2, double>, Kind<3, double>>;

}  // namespace quadrat::test
