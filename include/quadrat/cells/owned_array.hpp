// Arrays of plain elements that come from std::malloc and go with std::free, so that whoever takes one (NumPy, a C
// interface) can give it back without this library. Buffer is what a list fills; OwnedArray is what it hands out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

namespace quadrat {

namespace detail {

/// Memory for trivial elements: never filled with zeros, and moved by the system rather than copied when it grows. It
/// knows its capacity and not how many elements are in use: that is its owner's affair.
template <class T>
class Buffer {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    /// No memory.
    Buffer() = default;
    /// Moving swaps: the other one gets what was here, and frees it when it goes.
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    ~Buffer() { std::free(data_); }

    /// Room for at least `count` elements, and for no more where it has to grow. What was there stays; what is new is
    /// indeterminate. Invalidates data() where it grows. Throws std::bad_alloc and is then as it was.
    void reserve(std::size_t count) {
        if (count <= capacity_) return;
        // No object may be larger than half of the address space; the product below cannot overflow then.
        if (count > SIZE_MAX / 2 / sizeof(T)) throw std::bad_alloc();
        void* grown = std::realloc(static_cast<void*>(data_), count * sizeof(T));
        if (!grown) throw std::bad_alloc();
        data_ = static_cast<T*>(grown);
        capacity_ = count;
    }
    /// reserve(count), or half as much again as now where that is more: appending one by one is linear in all.
    void grow(std::size_t count) {
        if (count > capacity_) reserve(count > capacity_ + capacity_ / 2 ? count : capacity_ + capacity_ / 2);
    }
    /// Gives the memory back.
    void release() noexcept {
        std::free(std::exchange(data_, nullptr));
        capacity_ = 0;
    }
    /// Gives the memory to the caller, who frees it.
    [[nodiscard]] T* take() noexcept {
        capacity_ = 0;
        return std::exchange(data_, nullptr);
    }
    /// Exchanges the memory, in constant time; what was in data() of one is in that of the other.
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(capacity_, other.capacity_);
    }
    /// Null while nothing was reserved.
    [[nodiscard]] T* data() noexcept { return data_; }
    [[nodiscard]] const T* data() const noexcept { return data_; }
    /// Elements that there is room for, in use or not.
    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

  private:
    T* data_ = nullptr;
    std::size_t capacity_ = 0;
};

/// For std::unique_ptr: memory that std::malloc gave.
struct FreeMemory {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

}  // namespace detail

/// An array that its holder owns: moved, never copied. Empty when default-constructed or moved from.
template <class T>
class OwnedArray {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

  public:
    /// No elements and no memory.
    OwnedArray() = default;
    /// Constant time; the elements stay where they are. The other array is empty afterwards.
    OwnedArray(OwnedArray&& other) noexcept
        : data_(std::move(other.data_)), size_(std::exchange(other.size_, std::size_t{0})) {}
    /// The same, after what this array held is freed.
    OwnedArray& operator=(OwnedArray&& other) noexcept {
        data_ = std::move(other.data_);
        size_ = std::exchange(other.size_, std::size_t{0});
        return *this;
    }
    /// Takes memory that std::malloc gave, and frees it in the end.
    ///
    /// data: null only if size is 0.
    /// size: how many elements of it are in use.
    OwnedArray(T* data, std::size_t size) noexcept : data_(data), size_(size) {}

    /// The first element, valid until the array is assigned to, released or destroyed. As with a pointer, elements of a
    /// const array can be written.
    [[nodiscard]] T* data() const noexcept { return data_.get(); }
    /// How many elements. O(1).
    [[nodiscard]] std::size_t size() const noexcept { return size_; }
    [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
    /// i: below size(), which is not checked.
    [[nodiscard]] T& operator[](std::size_t i) const noexcept { return data_.get()[i]; }
    /// For loops over the elements.
    [[nodiscard]] T* begin() const noexcept { return data(); }
    [[nodiscard]] T* end() const noexcept { return data() + size_; }
    /// All elements; valid as data() is.
    [[nodiscard]] operator std::span<T>() const noexcept { return {data(), size_}; }

    /// Gives the memory away; it goes with std::free. Null if there is none.
    [[nodiscard]] T* release() noexcept {
        size_ = 0;
        return data_.release();
    }

  private:
    std::unique_ptr<T[], detail::FreeMemory> data_;
    std::size_t size_ = 0;
};

namespace detail {

/// The first `count` elements of type T of a buffer that may be of bytes, or of the signed twin; the rest is given
/// back. The buffer is empty afterwards.
template <class T, class Held>
[[nodiscard]] OwnedArray<T> owned(Buffer<Held>& buffer, std::size_t count) noexcept {
    void* memory = buffer.take();
    if (count == 0) {
        std::free(memory);
        return {};
    }
    void* const shrunk = std::realloc(memory, count * sizeof(T));
    return {static_cast<T*>(shrunk ? shrunk : memory), count};
}

}  // namespace detail

}  // namespace quadrat
