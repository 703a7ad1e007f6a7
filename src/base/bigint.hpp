// Whole numbers of any size, for exact decisions: what polynomials with integer coefficients (ccd) and quotients of
// long decimals (query files) need, and no division. Sign and magnitude; up to 1024 bits live inside the object, so
// that the usual query allocates nothing. Numbers of a fixed length, without a branch, are in ccd/exact/fixed_int.hpp.
#pragma once

#include <cstdint>
#include <memory>

namespace quadrat::base {

class BigInt {
  public:
    BigInt() noexcept = default;
    BigInt(std::int64_t value) noexcept;
    BigInt(const BigInt& other);
    BigInt(BigInt&& other) noexcept;
    BigInt& operator=(const BigInt& other);
    BigInt& operator=(BigInt&& other) noexcept;

    /// value / 2^exponent, which must be a whole number. value is finite.
    [[nodiscard]] static BigInt from_double(double value, int exponent);

    /// A two's complement number of `limbs` <= 16 words, the lowest first.
    [[nodiscard]] static BigInt from_words(const std::uint64_t* words, std::uint32_t limbs) noexcept;

    [[nodiscard]] int sign() const noexcept { return size_ == 0 ? 0 : negative_ ? -1 : 1; }
    /// Number of bits of the magnitude; 0 for 0.
    [[nodiscard]] int bits() const noexcept;
    /// The number divided by 2^exponent, rounded to a double with a relative error below 2^-52.
    [[nodiscard]] double to_double(int exponent) const noexcept;

    void negate() noexcept { negative_ = !negative_ && size_ != 0; }
    [[nodiscard]] BigInt operator-() const {
        BigInt r(*this);
        r.negate();
        return r;
    }

    BigInt& operator+=(const BigInt& b) { return add(b, b.negative_); }
    BigInt& operator-=(const BigInt& b) { return add(b, !b.negative_); }
    BigInt& operator<<=(unsigned bits);
    friend BigInt operator+(BigInt a, const BigInt& b) {
        a += b;
        return a;
    }
    friend BigInt operator-(BigInt a, const BigInt& b) {
        a -= b;
        return a;
    }
    friend BigInt operator<<(BigInt a, unsigned bits) {
        a <<= bits;
        return a;
    }
    friend BigInt operator*(const BigInt& a, const BigInt& b);
    /// this += a * b, and this -= a * b.
    void add_product(const BigInt& a, const BigInt& b) { accumulate(a, b, false); }
    void subtract_product(const BigInt& a, const BigInt& b) { accumulate(a, b, true); }

  private:
    static constexpr std::uint32_t inside = 16;

    BigInt& add(const BigInt& b, bool b_negative);
    BigInt& add(const std::uint64_t* p, std::uint32_t nb, bool b_negative);
    void accumulate(const BigInt& a, const BigInt& b, bool opposite);
    void reserve(std::uint32_t limbs, bool keep);
    void trim() noexcept {
        while (size_ && data()[size_ - 1] == 0) --size_;
        if (size_ == 0) negative_ = false;
    }
    [[nodiscard]] std::uint64_t* data() noexcept { return large_ ? large_.get() : small_; }
    [[nodiscard]] const std::uint64_t* data() const noexcept { return large_ ? large_.get() : small_; }

    std::unique_ptr<std::uint64_t[]> large_;
    std::uint32_t capacity_ = inside;
    std::uint32_t size_ = 0;
    bool negative_ = false;
    std::uint64_t small_[inside];
};

}  // namespace quadrat::base
