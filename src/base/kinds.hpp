// The kinds: two or three dimensions, float or double. This is the only list of them. What is compiled for every kind
// takes one of three ways, none of which needs a macro:
//
// - A class template is instantiated where its members are defined, by four plain lines in the order of the list below:
//       template class Thing<2, float>;  template class Thing<3, float>;  ...
//   A class whose members stand in several files is instantiated by members (see `Thing<2, float>::find`), or better,
//   is cut into classes that do not.
// - A SIMD kernel hands out a PerKind table of function pointers: no instantiation at all (base/simd.hpp shows how).
// - Code that learns the kind at run time, from a file or a NumPy array, calls dispatch(dimension, type, visitor).
#pragma once

#include <quadrat/error.hpp>

#include <string>
#include <utility>
#include <variant>

namespace quadrat::base {

template <int dimensions, class Scalar>
struct Kind {
    static constexpr int D = dimensions;
    using T = Scalar;
};

template <class... K>
struct KindList {
    /// One of the four.
    template <template <int, class> class Of>
    using Any = std::variant<Of<K::D, typename K::T>...>;
};
using Kinds = KindList<Kind<2, float>, Kind<3, float>, Kind<2, double>, Kind<3, double>>;
/// A Thing<D, T> whose kind is known at run time only: `AnyOf<Thing>` is a std::variant.
template <template <int, class> class Of>
using AnyOf = Kinds::Any<Of>;

/// The scalar types by name, for what is known at run time only.
enum class Scalar { f32, f64 };

/// visitor.operator()<D, T>() of one kind; throws unsupported for a dimension that there is not.
template <class Visitor>
decltype(auto) dispatch(int dimension, Scalar type, Visitor&& visitor) {
    if (dimension != 2 && dimension != 3)
        throw Error(ErrorKind::unsupported, "must be 2 or 3, not " + std::to_string(dimension), {.field = "dimension"});
    const bool is_float = type == Scalar::f32;
    if (dimension == 2)
        return is_float ? visitor.template operator()<2, float>() : visitor.template operator()<2, double>();
    return is_float ? visitor.template operator()<3, float>() : visitor.template operator()<3, double>();
}

/// One Of<D, T> for each kind, `get<D, T>()` being the one of a kind.
template <template <int, class> class Of>
class PerKind {
  public:
    /// Each from make.operator()<D, T>().
    template <class Make>
    static constexpr PerKind from(Make&& make) {
        return [&]<class... K>(KindList<K...>) {
            return PerKind(Entry<K::D, typename K::T>{make.template operator()<K::D, typename K::T>()}...);
        }(Kinds{});
    }

    template <int D, class T>
    [[nodiscard]] constexpr const Of<D, T>& get() const {
        return static_cast<const Entry<D, T>&>(entries_).value;
    }

  private:
    template <int D, class T>
    struct Entry {
        Of<D, T> value;
    };
    template <class List>
    struct Entries;
    template <class... K>
    struct Entries<KindList<K...>> : Entry<K::D, typename K::T>... {};

    template <class... E>
    constexpr explicit PerKind(E... entries) : entries_{std::move(entries)...} {}

    Entries<Kinds> entries_;
};

}  // namespace quadrat::base
