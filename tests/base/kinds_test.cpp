#include "base/kinds.hpp"

#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <vector>

namespace quadrat::base {

template <int D, class T>
struct NameOfKind {
    std::string text;
};

namespace {

template <int D, class T>
std::string name() {
    return std::to_string(D) + (std::is_same_v<T, float> ? "f" : "d");
}

TEST(Kinds, AreVisitedInTheOrderOfTheList) {
    std::vector<std::string> seen;
    for_each_kind([&]<int D, class T>() { seen.push_back(name<D, T>()); });
    EXPECT_EQ(seen, (std::vector<std::string>{"2f", "3f", "2d", "3d"}));
}

TEST(Kinds, EachHasItsOwnEntry) {
    const auto names = PerKind<NameOfKind>::from([]<int D, class T>() { return NameOfKind<D, T>{name<D, T>()}; });
    for_each_kind([&]<int D, class T>() { EXPECT_EQ((names.get<D, T>().text), (name<D, T>())); });
}

TEST(Kinds, AreDispatchedByNumber) {
    const auto dispatched = [](int dimension, Scalar type) {
        return dispatch(dimension, type, []<int D, class T>() { return name<D, T>(); });
    };
    EXPECT_EQ(dispatched(2, Scalar::f32), "2f");
    EXPECT_EQ(dispatched(3, Scalar::f32), "3f");
    EXPECT_EQ(dispatched(2, Scalar::f64), "2d");
    EXPECT_EQ(dispatched(3, Scalar::f64), "3d");
    for (const int dimension : {-1, 0, 1, 4}) {
        const Error error = test::thrown_by([&] { static_cast<void>(dispatched(dimension, Scalar::f32)); });
        EXPECT_EQ(error.kind(), ErrorKind::unsupported);
        EXPECT_EQ(error.where().field, "dimension");
        EXPECT_EQ(error.message(), "must be 2 or 3, not " + std::to_string(dimension));
    }
}

}  // namespace
}  // namespace quadrat::base
