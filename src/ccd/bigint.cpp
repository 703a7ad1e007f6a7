#include "ccd/bigint.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace quadrat::ccd {
namespace {

__extension__ using Wide = unsigned __int128;

// |a| against |b|, both trimmed.
int compare(const std::uint64_t* a, std::uint32_t na, const std::uint64_t* b, std::uint32_t nb) {
    if (na != nb) return na < nb ? -1 : 1;
    for (std::uint32_t i = na; i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

}  // namespace

BigInt::BigInt(std::int64_t value) noexcept {
    if (value == 0) return;
    negative_ = value < 0;
    small_[0] = negative_ ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
    size_ = 1;
}

BigInt::BigInt(const BigInt& other) {
    reserve(other.size_, false);
    size_ = other.size_;
    negative_ = other.negative_;
    std::copy_n(other.data(), size_, data());
}

BigInt::BigInt(BigInt&& other) noexcept
    : large_(std::move(other.large_)), capacity_(other.capacity_), size_(other.size_), negative_(other.negative_) {
    if (!large_) std::copy_n(other.small_, size_, small_);
    other.capacity_ = inside;
    other.size_ = 0;
    other.negative_ = false;
}

BigInt& BigInt::operator=(const BigInt& other) {
    if (this == &other) return *this;
    reserve(other.size_, false);
    size_ = other.size_;
    negative_ = other.negative_;
    std::copy_n(other.data(), size_, data());
    return *this;
}

BigInt& BigInt::operator=(BigInt&& other) noexcept {
    if (this == &other) return *this;
    if (other.large_) {
        large_ = std::move(other.large_);
        capacity_ = other.capacity_;
        other.capacity_ = inside;
    } else {
        std::copy_n(other.small_, other.size_, data());  // our capacity is never below `inside`
    }
    size_ = std::exchange(other.size_, 0u);
    negative_ = std::exchange(other.negative_, false);
    return *this;
}

void BigInt::reserve(std::uint32_t limbs, bool keep) {
    if (limbs <= capacity_) return;
    const std::uint32_t capacity = limbs + limbs / 2;
    auto bigger = std::make_unique<std::uint64_t[]>(capacity);
    if (keep) std::copy_n(data(), size_, bigger.get());
    large_ = std::move(bigger);
    capacity_ = capacity;
}

BigInt BigInt::from_double(double value, int exponent) {
    BigInt r;
    if (value == 0) return r;
    int e = 0;
    const double mantissa = std::frexp(std::fabs(value), &e);  // in [1/2, 1)
    auto m = static_cast<std::uint64_t>(std::ldexp(mantissa, 53));
    int shift = e - 53 - exponent;
    if (shift < 0) {
        m >>= -shift;  // exact: the caller's exponent is not above that of the lowest bit
        shift = 0;
    }
    r.small_[0] = m;
    r.size_ = 1;
    r.negative_ = value < 0;
    r <<= static_cast<unsigned>(shift);
    return r;
}

int BigInt::bits() const noexcept {
    return size_ == 0 ? 0 : static_cast<int>(64 * size_) - std::countl_zero(data()[size_ - 1]);
}

double BigInt::to_double(int exponent) const noexcept {
    if (size_ == 0) return 0;
    const std::uint64_t* d = data();
    double m = static_cast<double>(d[size_ - 1]);
    if (size_ > 1) m += std::ldexp(static_cast<double>(d[size_ - 2]), -64);
    m = std::ldexp(m, 64 * static_cast<int>(size_ - 1) - exponent);
    return negative_ ? -m : m;
}

BigInt& BigInt::operator<<=(unsigned count) {
    if (size_ == 0 || count == 0) return *this;
    const std::uint32_t limbs = count / 64;
    const unsigned rest = count % 64;
    reserve(size_ + limbs + 1, true);
    std::uint64_t* d = data();
    if (rest == 0) {
        std::memmove(d + limbs, d, size_ * sizeof(*d));
        size_ += limbs;
    } else {
        std::uint64_t high = 0;
        for (std::uint32_t i = size_; i-- > 0;) {
            const std::uint64_t x = d[i];
            d[i + limbs + 1] = high | x >> (64 - rest);
            high = x << rest;
        }
        d[limbs] = high;
        size_ += limbs + 1;
    }
    std::fill_n(d, limbs, 0);
    trim();
    return *this;
}

BigInt& BigInt::add(const BigInt& b, bool b_negative) {
    if (b.size_ == 0) return *this;
    if (size_ == 0) {
        *this = b;
        negative_ = b_negative;
        return *this;
    }
    const std::uint32_t nb = b.size_;
    if (negative_ == b_negative) {
        const std::uint32_t n = std::max(size_, nb);
        reserve(n + 1, true);
        std::uint64_t* a = data();
        const std::uint64_t* p = b.data();
        std::fill(a + size_, a + n + 1, 0);
        std::uint64_t carry = 0;
        for (std::uint32_t i = 0; i < nb || (carry && i <= n); ++i) {
            const Wide s = Wide{a[i]} + (i < nb ? p[i] : 0) + carry;
            a[i] = static_cast<std::uint64_t>(s);
            carry = static_cast<std::uint64_t>(s >> 64);
        }
        size_ = n + 1;
        trim();
        return *this;
    }
    const int order = compare(data(), size_, b.data(), nb);
    if (order == 0) {
        size_ = 0;
        negative_ = false;
        return *this;
    }
    const std::uint32_t n = std::max(size_, nb);
    reserve(n, true);
    std::uint64_t* a = data();
    const std::uint64_t* p = b.data();
    std::fill(a + size_, a + n, 0);
    std::uint64_t borrow = 0;
    for (std::uint32_t i = 0; i < n; ++i) {
        const std::uint64_t y = i < nb ? p[i] : 0;
        const std::uint64_t big = order > 0 ? a[i] : y;
        const std::uint64_t little = order > 0 ? y : a[i];
        const Wide s = Wide{big} - little - borrow;
        a[i] = static_cast<std::uint64_t>(s);
        borrow = static_cast<std::uint64_t>(s >> 64) & 1;
    }
    size_ = n;
    if (order < 0) negative_ = b_negative;
    trim();
    return *this;
}

BigInt operator*(const BigInt& a, const BigInt& b) {
    BigInt r;
    const std::uint32_t na = a.size_;
    const std::uint32_t nb = b.size_;
    if (na == 0 || nb == 0) return r;
    r.reserve(na + nb, false);
    std::uint64_t* d = r.data();
    const std::uint64_t* p = a.data();
    const std::uint64_t* q = b.data();
    std::fill_n(d, nb, 0);
    for (std::uint32_t i = 0; i < na; ++i) {
        std::uint64_t carry = 0;
        const std::uint64_t x = p[i];
        for (std::uint32_t j = 0; j < nb; ++j) {
            const Wide s = Wide{x} * q[j] + d[i + j] + carry;
            d[i + j] = static_cast<std::uint64_t>(s);
            carry = static_cast<std::uint64_t>(s >> 64);
        }
        d[i + nb] = carry;
    }
    r.size_ = na + nb;
    r.negative_ = a.negative_ != b.negative_;
    r.trim();
    return r;
}

void BigInt::add_product(const BigInt& a, const BigInt& b) { *this += a * b; }

void BigInt::subtract_product(const BigInt& a, const BigInt& b) { *this -= a * b; }

}  // namespace quadrat::ccd
