// How large a test is: whole where the library is optimised, small where a sanitizer makes it ten times as slow, least
// where the sanitizer looks for races: those are found in the first rounds or not at all.
#pragma once

namespace quadrat::test {

#ifdef NDEBUG
inline constexpr bool kWhole = true;
#else
inline constexpr bool kWhole = false;
#endif

#if defined(__SANITIZE_THREAD__)
inline constexpr bool kRaces = true;
#else
inline constexpr bool kRaces = false;
#endif

template <class N>
[[nodiscard]] constexpr N scaled(N whole, N small, N least) {
    return kWhole ? whole : kRaces ? least : small;
}
template <class N>
[[nodiscard]] constexpr N scaled(N whole, N small) {
    return scaled(whole, small, small);
}

}  // namespace quadrat::test
