#include "ccd/query_file.hpp"

#include <quadrat/error.hpp>

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>

namespace quadrat::ccd {
namespace {

// A decimal number as limbs of 32 bits.
struct Decimal {
    std::vector<std::uint32_t> limbs;
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

bool quotient(std::string_view n, std::string_view d, double& out) {
    Decimal a, b;
    if (!parse(n, a) || !parse(d, b) || b.limbs.empty()) return false;
    double x = 0, y = 0;
    int ex = 0, ey = 0;
    if (!split(a, x, ex) || !split(b, y, ey)) return false;
    if (std::fmod(x, y) != 0) return false;  // y is odd: what it does not divide is no double
    const double q = x / y;
    out = std::ldexp(a.negative != b.negative ? -q : q, ex - ey);
    return std::isfinite(out);
}

}  // namespace

std::vector<FileQuery> parse_queries(std::string_view text) {
    std::vector<FileQuery> queries;
    std::size_t line = 0;
    std::size_t row = 0;
    FileQuery q;
    while (!text.empty()) {
        const std::size_t stop = text.find('\n');
        std::string_view rest = text.substr(0, stop);
        text = stop == std::string_view::npos ? std::string_view() : text.substr(stop + 1);
        ++line;
        while (!rest.empty() && (rest.back() == '\r' || rest.back() == ' ')) rest.remove_suffix(1);
        if (rest.empty()) continue;
        std::string_view field[7];
        std::size_t count = 0;
        for (std::size_t begin = 0; begin <= rest.size(); ++count) {
            const std::size_t comma = std::min(rest.find(',', begin), rest.size());
            if (count < 7) {
                field[count] = rest.substr(begin, comma - begin);
                while (!field[count].empty() && field[count].front() == ' ') field[count].remove_prefix(1);
                while (!field[count].empty() && field[count].back() == ' ') field[count].remove_suffix(1);
            }
            begin = comma + 1;
        }
        if (count != 7)
            throw Error(ErrorKind::bad_format, "expected 7 columns, found " + std::to_string(count), {.line = line});
        Vec3d p;
        for (std::size_t k = 0; k < 3; ++k)
            if (!quotient(field[2 * k], field[2 * k + 1], p[static_cast<int>(k)]))
                throw Error(ErrorKind::bad_format, "not a quotient of integers that is a double",
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
    if (row != 0) throw Error(ErrorKind::bad_format, "the last query has fewer than 8 rows", {.line = line});
    return queries;
}

std::vector<FileQuery> read_query_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) throw Error(ErrorKind::cannot_read, "cannot read", {.file = path});
    const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    try {
        return parse_queries(text);
    } catch (const Error& e) {
        throw e.in_file(path);
    }
}

}  // namespace quadrat::ccd
