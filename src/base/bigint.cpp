#include "base/bigint.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <utility>

namespace quadrat::base {
namespace {

__extension__ using Wide = unsigned __int128;

// |a| against |b|, both trimmed.
int compare(const std::uint64_t* a, std::uint32_t na, const std::uint64_t* b, std::uint32_t nb) {
    if (na != nb) return na < nb ? -1 : 1;
    for (std::uint32_t i = na; i-- > 0;)
        if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
    return 0;
}

// Numbers are a few limbs long: a loop beats a call of memmove.
inline void copy(const std::uint64_t* from, std::uint32_t n, std::uint64_t* to) {
    for (std::uint32_t i = 0; i < n; ++i) to[i] = from[i];
}

inline void zero(std::uint64_t* from, std::uint32_t n) {
    for (std::uint32_t i = 0; i < n; ++i) from[i] = 0;
}

// r, of na + nb limbs, becomes the product.
inline void multiply(const std::uint64_t* p, std::uint32_t na, const std::uint64_t* q, std::uint32_t nb,
                     std::uint64_t* r) {
    std::uint64_t carry = 0;
    for (std::uint32_t j = 0; j < nb; ++j) {
        const Wide s = Wide{p[0]} * q[j] + carry;
        r[j] = static_cast<std::uint64_t>(s);
        carry = static_cast<std::uint64_t>(s >> 64);
    }
    r[nb] = carry;
    for (std::uint32_t i = 1; i < na; ++i) {
        carry = 0;
        const std::uint64_t x = p[i];
        for (std::uint32_t j = 0; j < nb; ++j) {
            const Wide s = Wide{x} * q[j] + r[i + j] + carry;
            r[i + j] = static_cast<std::uint64_t>(s);
            carry = static_cast<std::uint64_t>(s >> 64);
        }
        r[i + nb] = carry;
    }
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
    copy(other.data(), size_, data());
}

BigInt::BigInt(BigInt&& other) noexcept
    : large_(std::move(other.large_)), capacity_(other.capacity_), size_(other.size_), negative_(other.negative_) {
    if (!large_) copy(other.small_, size_, small_);
    other.capacity_ = inside;
    other.size_ = 0;
    other.negative_ = false;
}

BigInt& BigInt::operator=(const BigInt& other) {
    if (this == &other) return *this;
    reserve(other.size_, false);
    size_ = other.size_;
    negative_ = other.negative_;
    copy(other.data(), size_, data());
    return *this;
}

BigInt& BigInt::operator=(BigInt&& other) noexcept {
    if (this == &other) return *this;
    if (other.large_) {
        large_ = std::move(other.large_);
        capacity_ = other.capacity_;
        other.capacity_ = inside;
    } else {
        copy(other.small_, other.size_, data());  // our capacity is never below `inside`
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
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    const int e = static_cast<int>(bits >> 52 & 0x7ff);
    std::uint64_t m = bits & 0xfffffffffffffull;
    if (e != 0) m |= 0x10000000000000ull;
    BigInt r;
    if (m == 0) return r;
    int shift = std::max(e, 1) - 1075 - exponent;
    if (shift < 0) {
        QUADRAT_ASSERT(-shift < 64 && m << (64 + shift) == 0);
        m >>= -shift;  // exact: the caller's exponent is not above that of the lowest bit
        shift = 0;
    }
    const auto limbs = static_cast<std::uint32_t>(shift) / 64;
    const auto rest = static_cast<unsigned>(shift) % 64;
    r.reserve(limbs + 2, false);
    std::uint64_t* d = r.data();
    zero(d, limbs);
    d[limbs] = m << rest;
    d[limbs + 1] = rest ? m >> (64 - rest) : 0;
    r.size_ = limbs + 2;
    r.negative_ = bits >> 63 != 0;
    r.trim();
    return r;
}

BigInt BigInt::from_words(const std::uint64_t* words, std::uint32_t limbs) noexcept {
    QUADRAT_ASSERT(limbs >= 1 && limbs <= inside);
    BigInt r;
    r.negative_ = words[limbs - 1] >> 63 != 0;
    std::uint64_t carry = r.negative_ ? 1 : 0;  // -x is the complement plus 1
    for (std::uint32_t i = 0; i < limbs; ++i) {
        const Wide s = Wide{r.negative_ ? ~words[i] : words[i]} + carry;
        r.small_[i] = static_cast<std::uint64_t>(s);
        carry = static_cast<std::uint64_t>(s >> 64);
    }
    r.size_ = limbs;
    r.trim();
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
    zero(d, limbs);
    trim();
    return *this;
}

BigInt& BigInt::add(const BigInt& b, bool b_negative) {
    return add(b.data(), b.size_, b_negative);
}

// p has nb limbs, the last one not zero; it may be our own data.
BigInt& BigInt::add(const std::uint64_t* p, std::uint32_t nb, bool b_negative) {
    if (nb == 0) return *this;
    if (size_ == 0) {
        reserve(nb, false);
        copy(p, nb, data());
        size_ = nb;
        negative_ = b_negative;
        return *this;
    }
    if (negative_ == b_negative) {
        const std::uint32_t n = std::max(size_, nb);
        const bool own = p == data();
        reserve(n + 1, true);
        std::uint64_t* a = data();
        if (own) p = a;
        for (std::uint32_t i = size_; i <= n; ++i) a[i] = 0;
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
    const int order = compare(data(), size_, p, nb);
    if (order == 0) {
        size_ = 0;
        negative_ = false;
        return *this;
    }
    const std::uint32_t n = std::max(size_, nb);
    reserve(n, true);
    std::uint64_t* a = data();
    for (std::uint32_t i = size_; i < n; ++i) a[i] = 0;
    std::uint64_t borrow = 0;
    const std::uint64_t* big = order > 0 ? a : p;
    const std::uint64_t* little = order > 0 ? p : a;
    const std::uint32_t little_size = order > 0 ? nb : size_;
    for (std::uint32_t i = 0; i < n; ++i) {
        const Wide s = Wide{big[i]} - (i < little_size ? little[i] : 0) - borrow;
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
    if (a.size_ == 0 || b.size_ == 0) return r;
    r.reserve(a.size_ + b.size_, false);
    multiply(a.data(), a.size_, b.data(), b.size_, r.data());
    r.size_ = a.size_ + b.size_;
    r.negative_ = a.negative_ != b.negative_;
    r.trim();
    return r;
}

void BigInt::accumulate(const BigInt& a, const BigInt& b, bool opposite) {
    std::uint32_t n = a.size_ + b.size_;
    if (a.size_ == 0 || b.size_ == 0) return;
    std::uint64_t buffer[2 * inside];
    if (n > 2 * inside) {
        const BigInt product = a * b;
        add(product, product.negative_ != opposite);
        return;
    }
    multiply(a.data(), a.size_, b.data(), b.size_, buffer);
    while (buffer[n - 1] == 0) --n;
    add(buffer, n, (a.negative_ != b.negative_) != opposite);
}

}  // namespace quadrat::base
