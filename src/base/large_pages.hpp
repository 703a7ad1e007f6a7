// Large pages for large blocks: scattered access and the first touch are cheaper with them.
#pragma once

#include "base/array.hpp"

namespace quadrat::base {

/// Asks the system for large pages where the block [address, address + bytes) holds whole ones. A wish: nothing depends
/// on it.
void wish_large_pages(void* address, std::size_t bytes);

/// Sets the size as Array::resize_discard does, in large pages if it is large.
template <class T>
void resize_large(Array<T>& array, std::size_t size) {
    const bool grows = size > array.bytes() / sizeof(T);
    array.resize_discard(size);
    if (grows) wish_large_pages(array.data(), array.bytes());
}

}  // namespace quadrat::base
