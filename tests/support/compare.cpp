#include "support/compare.hpp"

namespace quadrat::test {
namespace {

std::string text(const Pair& p) {
    std::string result = std::to_string(p.first);
    return result.append(", ").append(std::to_string(p.second));
}
std::string text(std::uint32_t i) {
    return std::to_string(i);
}

template <class T>
testing::AssertionResult same_sets(std::vector<T> expected, std::vector<T> actual) {
    std::sort(expected.begin(), expected.end());
    std::sort(actual.begin(), actual.end());
    std::string sizes = std::to_string(expected.size());
    sizes.append(" expected, ").append(std::to_string(actual.size())).append(" given: ");
    const auto twice = std::adjacent_find(actual.begin(), actual.end());
    if (twice != actual.end()) return testing::AssertionFailure() << sizes << text(*twice) << " is there twice";
    const auto [e, a] = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
    if (e == expected.end() && a == actual.end()) return testing::AssertionSuccess();
    if (a == actual.end() || (e != expected.end() && *e < *a))
        return testing::AssertionFailure() << sizes << text(*e) << " is missing";
    return testing::AssertionFailure() << sizes << text(*a) << " does not belong";
}

}  // namespace

testing::AssertionResult same_pairs(std::vector<Pair> expected, std::vector<Pair> actual) {
    return same_sets(std::move(expected), std::move(actual));
}

testing::AssertionResult same_self_pairs(std::vector<Pair> expected, std::vector<Pair> actual) {
    for (const Pair& p : actual)
        if (p.first >= p.second) return testing::AssertionFailure() << text(p) << " is not in order";
    return same_sets(std::move(expected), std::move(actual));
}

testing::AssertionResult same_rows(const Rows& expected, const Rows& actual) {
    if (expected.size() != actual.size())
        return testing::AssertionFailure() << expected.size() << " rows expected, " << actual.size() << " given";
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (auto result = same_sets(expected[i], actual[i]); !result)
            return testing::AssertionFailure() << "row " << i << ": " << result.message();
    return testing::AssertionSuccess();
}

}  // namespace quadrat::test
