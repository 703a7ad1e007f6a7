// What typed tests run over: the kinds of the library (base/kinds.hpp).
//
//   TYPED_TEST_SUITE(Thing, test::Kinds);   // TypeParam::D, TypeParam::T
#pragma once

#include "base/kinds.hpp"

#include <gtest/gtest.h>

namespace quadrat::test {
namespace detail {

template <class List>
struct AsTypes;
template <class... K>
struct AsTypes<base::KindList<K...>> {
    using Types = testing::Types<K...>;
};

}  // namespace detail

using base::Kind;
using Kinds = detail::AsTypes<base::Kinds>::Types;

}  // namespace quadrat::test
