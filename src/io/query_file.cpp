#include "io/query_file.hpp"

#include <quadrat/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

#include "io/files.hpp"
#include "io/text.hpp"

namespace quadrat::io {
namespace {

using Limbs = std::vector<std::uint32_t>;  // of 32 bits, the lowest first, the highest not 0

// A decimal number.
struct Decimal {
    Limbs limbs;
    bool negative = false;
};

bool parse(std::string_view text, Decimal& out) {
    out = {};
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
        out.negative = text[0] == '-';
        text.remove_prefix(1);
    }
    if (text.empty() || text.size() > 2000) return false;
    for (const char c : text) {
        if (c < '0' || c > '9') return false;
        std::uint64_t carry = static_cast<std::uint64_t>(c - '0');
        for (std::uint32_t& limb : out.limbs) {
            carry += std::uint64_t{limb} * 10;
            limb = static_cast<std::uint32_t>(carry);
            carry >>= 32;
        }
        if (carry) out.limbs.push_back(static_cast<std::uint32_t>(carry));
    }
    return true;
}

// value = mantissa 2^exponent; false if the number has more than 53 significant bits.
bool split(const Decimal& d, double& mantissa, int& exponent) {
    mantissa = 0;
    exponent = 0;
    if (d.limbs.empty()) return true;
    std::size_t low = 0;
    while (d.limbs[low] == 0) ++low;
    const int zeros = static_cast<int>(32 * low) + std::countr_zero(d.limbs[low]);
    const int top = static_cast<int>(32 * d.limbs.size()) - std::countl_zero(d.limbs.back());
    if (top - zeros > 53) return false;
    std::uint64_t bits = 0;
    for (int b = top - 1; b >= zeros; --b)
        bits = bits << 1 | (d.limbs[static_cast<std::size_t>(b) / 32] >> (b % 32) & 1);
    mantissa = static_cast<double>(bits);
    exponent = zeros;
    return true;
}

int bit_count(const Limbs& x) {
    return x.empty() ? 0 : static_cast<int>(32 * x.size()) - std::countl_zero(x.back());
}

void trim(Limbs& x) {
    while (!x.empty() && x.back() == 0) x.pop_back();
}

void double_it(Limbs& x) {
    std::uint32_t carry = 0;
    for (std::uint32_t& limb : x) {
        const std::uint32_t top = limb >> 31;
        limb = limb << 1 | carry;
        carry = top;
    }
    if (carry) x.push_back(carry);
}

// x -= y and true if x >= y.
bool take_away(Limbs& x, const Limbs& y) {
    if (x.size() < y.size()) return false;
    if (x.size() == y.size())
        for (std::size_t i = x.size(); i-- > 0;) {
            if (x[i] != y[i]) {
                if (x[i] < y[i]) return false;
                break;
            }
        }
    std::uint64_t borrow = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::uint64_t d = std::uint64_t{x[i]} - (i < y.size() ? y[i] : 0) - borrow;
        x[i] = static_cast<std::uint32_t>(d);
        borrow = d >> 63;
    }
    trim(x);
    return true;
}

// n / d to the nearest double, by long division: 62 bits of the quotient, the last one set if something remains.
double nearest(Limbs n, Limbs d, bool& rounded) {
    const int shift = bit_count(n) - bit_count(d);
    for (int i = 0; i < shift; ++i) double_it(d);
    for (int i = 0; i < -shift; ++i) double_it(n);
    std::uint64_t q = 0;
    for (int i = 0; i < 62; ++i) {  // d / 2 < n < 2 d: the first bit may be 0
        q = q << 1 | (take_away(n, d) ? 1u : 0u);
        double_it(n);
    }
    if (!n.empty()) q |= 1;
    rounded |= !n.empty() || static_cast<std::uint64_t>(static_cast<double>(q)) != q;
    return std::ldexp(static_cast<double>(q), shift - 61);
}

bool quotient(std::string_view n, std::string_view d, double& out, bool& rounded) {
    Decimal a, b;
    if (!parse(n, a) || !parse(d, b) || b.limbs.empty()) return false;
    const double sign = a.negative != b.negative ? -1 : 1;
    double x = 0, y = 0;
    int ex = 0, ey = 0;
    // y is odd: what it does not divide is no double.
    if (split(a, x, ex) && split(b, y, ey) && std::fmod(x, y) == 0) {
        out = std::ldexp(sign * (x / y), ex - ey);
    } else {
        out = sign * nearest(a.limbs, b.limbs, rounded);
    }
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
