// A growing block of memory that is aligned for SIMD, never zero-filled and never copied on growth: scratch that a
// structure keeps between calls. Large blocks come straight from the system, so that untouched pages cost nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace quadrat::base {

/// Elements are indeterminate until written. `padding` elements past the size may be read and written by vector code.
template <class T>
class Array {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    static constexpr std::size_t alignment = 64;
    static constexpr std::size_t padding = 64 / sizeof(T) > 0 ? 64 / sizeof(T) : 1;

    Array() = default;
    explicit Array(std::size_t size) { resize_discard(size); }
    Array(Array&& other) noexcept { swap(other); }
    Array& operator=(Array&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Array() { std::free(data_); }

    /// Sets the size; the contents are indeterminate afterwards. Keeps capacity; grows by an eighth more than asked.
    void resize_discard(std::size_t size) {
        if (size > capacity_ || !data_) {
            std::free(std::exchange(data_, nullptr));
            capacity_ = size_ = 0;
            allocate(size + size / 8);
        }
        size_ = size;
    }

    /// Sets the size and keeps the elements that fit, at amortised constant cost per element.
    void resize_keep(std::size_t size) {
        if (size > capacity_ || !data_) {
            Array bigger;
            bigger.allocate(std::max(size, capacity_ + capacity_ / 2));
            std::copy_n(data_, size_, bigger.data_);
            std::swap(data_, bigger.data_);
            std::swap(capacity_, bigger.capacity_);
        }
        size_ = size;
    }

    /// Gives the memory back.
    void release() {
        Array empty;
        swap(empty);
    }

    void fill(const T& value) { std::fill_n(data_, size_, value); }
    void swap(Array& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    [[nodiscard]] std::size_t bytes() const noexcept { return capacity_ * sizeof(T); }
    [[nodiscard]] T& operator[](std::size_t i) noexcept { return data_[i]; }
    [[nodiscard]] const T& operator[](std::size_t i) const noexcept { return data_[i]; }
    [[nodiscard]] T* begin() noexcept { return data_; }
    [[nodiscard]] T* end() noexcept { return data_ + size_; }
    [[nodiscard]] const T* begin() const noexcept { return data_; }
    [[nodiscard]] const T* end() const noexcept { return data_ + size_; }
    [[nodiscard]] operator std::span<const T>() const noexcept { return {data_, size_}; }
    [[nodiscard]] operator std::span<T>() noexcept { return {data_, size_}; }

  private:
    void allocate(std::size_t capacity) {
        constexpr std::size_t limit = (SIZE_MAX / 2) / sizeof(T);
        if (capacity > limit - 2 * padding) throw std::bad_alloc();
        const std::size_t bytes = ((capacity + padding) * sizeof(T) + alignment - 1) / alignment * alignment;
        data_ = static_cast<T*>(std::aligned_alloc(alignment, bytes));
        if (!data_) throw std::bad_alloc();
        capacity_ = capacity;
    }

    T* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace quadrat::base
