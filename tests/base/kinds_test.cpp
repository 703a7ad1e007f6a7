#include "base/kinds.hpp"

#include "support/thrown.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>
#include <variant>

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

TEST(Kinds, AreListedInOneOrder) {
    static_assert(std::is_same_v<AnyOf<NameOfKind>, std::variant<NameOfKind<2, float>, NameOfKind<3, float>,
                                                                 NameOfKind<2, double>, NameOfKind<3, double>>>);
}

TEST(Kinds, EachHasItsOwnEntry) {
    const auto names = PerKind<NameOfKind>::from([]<int D, class T>() { return NameOfKind<D, T>{name<D, T>()}; });
    EXPECT_EQ((names.get<2, float>().text), "2f");
    EXPECT_EQ((names.get<3, float>().text), "3f");
    EXPECT_EQ((names.get<2, double>().text), "2d");
    EXPECT_EQ((names.get<3, double>().text), "3d");
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
