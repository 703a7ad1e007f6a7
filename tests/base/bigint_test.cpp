// The integers of the exact stage, against boost's.
#include "base/bigint.hpp"

#include <boost/multiprecision/cpp_int.hpp>

#include <gtest/gtest.h>

#include <random>

namespace quadrat::base {
namespace {

using boost::multiprecision::cpp_int;

// A random number of up to `bits` bits, in both forms.
std::pair<BigInt, cpp_int> random_number(std::mt19937_64& random, unsigned bits) {
    BigInt a;
    cpp_int b = 0;
    for (unsigned i = 0; i < bits; i += 31) {
        const auto part = static_cast<std::int64_t>(random() >> (random() % 3 ? 33 : 60));
        a = (a << 31) + BigInt(part);
        b = (b << 31) + part;
    }
    if (random() % 2) {
        a.negate();
        b = -b;
    }
    return {a, b};
}

void expect_same(const BigInt& a, const cpp_int& b) {
    ASSERT_EQ(a.sign(), b.sign());
    // Compare by subtracting what boost holds, limb by limb.
    BigInt rest = a;
    cpp_int magnitude = abs(b);
    for (unsigned shift = 0; magnitude != 0; shift += 31, magnitude >>= 31) {
        const auto part = static_cast<std::int64_t>(static_cast<std::uint32_t>(magnitude & 0x7fffffff));
        rest -= BigInt(b < 0 ? -part : part) << shift;
    }
    ASSERT_EQ(rest.sign(), 0);
}

TEST(BigInt, ArithmeticAgreesWithBoost) {
    std::mt19937_64 random(1);
    for (int i = 0; i < 3000; ++i) {
        const auto [a, x] = random_number(random, static_cast<unsigned>(random() % (i % 10 ? 300 : 3000)));
        const auto [b, y] = random_number(random, static_cast<unsigned>(random() % (i % 10 ? 300 : 3000)));
        expect_same(a + b, x + y);
        expect_same(a - b, x - y);
        expect_same(a * b, x * y);
        expect_same(-a, -x);
        const auto shift = static_cast<unsigned>(random() % 200);
        expect_same(a << shift, x << shift);
        BigInt sum = b;
        sum.add_product(a, b);
        expect_same(sum, y + x * y);
        sum.subtract_product(b, b);
        expect_same(sum, y + x * y - y * y);
        sum += sum;
        expect_same(sum, 2 * (y + x * y - y * y));
        sum -= sum;
        ASSERT_EQ(sum.sign(), 0);
        ASSERT_EQ(a.bits(), x == 0 ? 0 : static_cast<int>(msb(abs(x))) + 1);
    }
}

TEST(BigInt, FromAndToDouble) {
    for (const double x : {1.0, -3.5, 0x1p-1074, 0x1.fffffffffffffp1023, 0.1, -0.0, 6.5e-310}) {
        const BigInt a = BigInt::from_double(x, -1074);
        EXPECT_EQ(a.sign(), x > 0 ? 1 : x < 0 ? -1 : 0);
        if (std::abs(x) > 1e-290) {
            EXPECT_NEAR(a.to_double(1074) / (x == 0 ? 1 : x), x == 0 ? 0 : 1, 1e-15);
        }
    }
}

}  // namespace
}  // namespace quadrat::base
