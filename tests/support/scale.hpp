// How large a test is: whole where the library is optimised, small where a sanitizer makes it ten times as slow.
#pragma once

namespace quadrat::test {

#ifdef NDEBUG
inline constexpr bool kWhole = true;
#else
inline constexpr bool kWhole = false;
#endif

template <class N>
[[nodiscard]] constexpr N scaled(N whole, N small) {
    return kWhole ? whole : small;
}

}  // namespace quadrat::test
