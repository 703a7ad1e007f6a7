// Rows of neighbours up to max_bytes; beyond it they are counted and dropped, as BoundedPairs does for pairs.
#pragma once

#include "cells/validate.hpp"

#include <quadrat/cells/neighbor_list.hpp>

#include <cstddef>
#include <cstdint>
#include <span>

namespace quadrat::cells {

/// Bytes of a list of indices in contiguous rows.
[[nodiscard]] constexpr std::uint64_t list_bytes(std::uint64_t rows, std::uint64_t entries) {
    return rows * sizeof(std::uint64_t) + entries * sizeof(std::uint32_t);
}

/// Fills the caller's list, row after row.
class BoundedRows {
  public:
    BoundedRows(NeighborList& out, std::size_t max_bytes) : out_(&out), max_bytes_(max_bytes) { out.start(); }

    void append(std::span<const std::uint32_t> row) {
        ++rows_;
        entries_ += row.size();
        if (fits())
            out_->append(row);
        else
            out_->clear();
    }
    /// Throws too_large, with nothing left in the list, if it needs more than max_bytes allow.
    void finish() const {
        if (fits()) return;
        out_->clear();
        throw_too_large(entries_, list_bytes(rows_, entries_), "neighbours", max_bytes_);
    }

  private:
    [[nodiscard]] bool fits() const { return list_bytes(rows_, entries_) <= max_bytes_; }

    NeighborList* out_;
    std::size_t max_bytes_;
    std::uint64_t rows_ = 0, entries_ = 0;
};

}  // namespace quadrat::cells
