#include "io/query_file.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "base/bigint.hpp"
#include "io/files.hpp"
#include "io/text.hpp"

namespace quadrat::io {
namespace {

using base::BigInt;

constexpr std::size_t most_digits = 2000;

// A whole number in decimals, with or without a sign.
std::optional<BigInt> parse(std::string_view text) {
    const bool signed_ = !text.empty() && (text[0] == '-' || text[0] == '+');
    const bool negative = signed_ && text[0] == '-';
    if (signed_) text.remove_prefix(1);
    if (text.empty() || text.size() > most_digits) return {};
    if (!std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; })) return {};
    constexpr std::size_t at_a_time = 18;  // 10^18 < 2^63
    BigInt number;
    while (!text.empty()) {
        std::int64_t part = 0, scale = 1;
        for (const char c : text.substr(0, at_a_time)) {
            part = part * 10 + (c - '0');
            scale *= 10;
        }
        number = number * BigInt(scale) + BigInt(part);
        text.remove_prefix(std::min(at_a_time, text.size()));
    }
    if (negative) number.negate();
    return number;
}

// n / d to the nearest double, by long division: 62 bits of the quotient, the last one set if something remains. Both
// are positive.
double nearest(BigInt n, BigInt d, bool& rounded) {
    const int shift = n.bits() - d.bits();
    if (shift > 0) d <<= static_cast<unsigned>(shift);
    if (shift < 0) n <<= static_cast<unsigned>(-shift);
    std::uint64_t q = 0;
    for (int i = 0; i < 62; ++i) {  // d / 2 < n < 2 d: the first bit may be 0
        q <<= 1;
        n -= d;
        if (n.sign() >= 0)
            q |= 1;
        else
            n += d;
        n <<= 1;
    }
    if (n.sign() != 0) q |= 1;
    rounded |= n.sign() != 0 || static_cast<std::uint64_t>(static_cast<double>(q)) != q;
    return std::ldexp(static_cast<double>(q), shift - 61);
}

bool quotient(std::string_view n, std::string_view d, double& out, bool& rounded) {
    std::optional<BigInt> a = parse(n), b = parse(d);
    if (!a || !b || b->sign() == 0) return false;
    const double sign = a->sign() * b->sign();
    if (a->sign() < 0) a->negate();
    if (b->sign() < 0) b->negate();
    out = a->sign() == 0 ? 0 : sign * nearest(*std::move(a), *std::move(b), rounded);
    return std::isfinite(out);
}

}  // namespace

std::vector<FileQuery> parse_queries(std::string_view text) {
    std::vector<FileQuery> queries;
    LineReader lines(text);
    std::size_t row = 0;
    FileQuery q;
    while (lines.next()) {
        const std::string_view rest = trimmed(lines.line());
        const std::size_t line = lines.number();
        if (rest.empty()) continue;
        std::string_view field[7];
        std::size_t count = 0;
        for (std::size_t begin = 0; begin <= rest.size(); ++count) {
            const std::size_t comma = std::min(rest.find(',', begin), rest.size());
            if (count < 7) field[count] = trimmed(rest.substr(begin, comma - begin));
            begin = comma + 1;
        }
        if (count != 7)
            throw Error(ErrorKind::bad_format, "expected 7 columns, found " + std::to_string(count), {.line = line});
        Vec3d p;
        if (row == 0) q.rounded = false;
        for (std::size_t k = 0; k < 3; ++k)
            if (!quotient(field[2 * k], field[2 * k + 1], p[static_cast<int>(k)], q.rounded))
                throw Error(ErrorKind::bad_format, "not a quotient of integers, or too large for a double",
                            {.column = 2 * k, .line = line});
        if (field[6] != "0" && field[6] != "1")
            throw Error(ErrorKind::bad_format, "the truth must be 0 or 1", {.column = 6, .line = line});
        if (row == 0) q.line = line;
        (row < 4 ? q.start : q.end)[row % 4] = p;
        q.truth = field[6] == "1";
        if (++row == 8) {
            queries.push_back(q);
            row = 0;
        }
    }
    if (row != 0) throw Error(ErrorKind::bad_format, "the last query has fewer than 8 rows", {.line = lines.number()});
    return queries;
}

std::vector<FileQuery> read_query_file(const std::string& path) {
    const MappedFile file(path);
    try {
        return parse_queries(as_text(file.bytes()));
    } catch (const Error& e) {
        throw e.in_file(path);
    }
}

}  // namespace quadrat::io
