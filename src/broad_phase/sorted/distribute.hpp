// One pass over the boxes of a bulk update: each is checked and put into a slab of the first grid that it fits. Used by
// GridSet only, in one of two ways (docs/decisions/0082-fused-detection.md): check_all() before put_all(), with the
// cells kept in between, or put_all() alone, into memory that nobody reads if a box is bad.
#pragma once

#include "base/assert.hpp"
#include "base/parallel.hpp"
#include "broad_phase/sorted/grid_set.hpp"
#include "cells/validate.hpp"

#include <hwy/cache_control.h>

#include <quadrat/error.hpp>

#include <algorithm>
#include <array>

namespace quadrat::broad_phase {

template <int D, class T>
class Distribution {
  public:
    using Rest = typename GridSet<D, T>::Rest;

    Distribution(const BoxInput<D, T>& input, std::span<const GridShape<D, T>> shapes, Executor* executor)
        : input_(input),
          shapes_(shapes),
          executor_(executor),
          tasks_(input.boxes.size() < parallel_above ? 1 : base::thread_count(executor)),
          share_((input.boxes.size() + tasks_ - 1) / tasks_),
          blocks_per_task_((share_ + cell_block - 1) / cell_block) {
        QUADRAT_ASSERT(input.ids.empty() || input.ids.size() == input.boxes.size());
        QUADRAT_ASSERT(input.skip.empty() || input.skip.size() == input.boxes.size());
        for (const GridShape<D, T>& shape : shapes) first_slab_.push_back(first_slab_.back() + shape.slabs);
    }

    /// Checks every box and keeps its cell.
    void check_all(base::Array<BlockCells>& cells) const {
        cells.resize_discard(tasks_ * blocks_per_task_);
        base::run_tasks(executor_, tasks_, [&](std::size_t t) {
            for_each_block(t, [&](const Block& block) { assign(block, cells[block.number]); });
        });
    }

    /// Puts every box into its slab. known: the cells that check_all() kept, or null, and boxes are checked now.
    [[nodiscard]] Rest put_all(SlabPartition<D, T>& target, const BlockCells* known) const {
        std::vector<Rest> rest(tasks_);
        target.start(tasks_, share_, std::max(1u, first_slab_.back()));
        base::run_tasks(executor_, tasks_, [&](std::size_t t) { put_share(t, target, known, rest[t]); });
        for (std::size_t t = 1; t < tasks_; ++t) {
            rest[0].misfits.insert(rest[0].misfits.end(), rest[t].misfits.begin(), rest[t].misfits.end());
            rest[0].unbounded.insert(rest[0].unbounded.end(), rest[t].unbounded.begin(), rest[t].unbounded.end());
        }
        return std::move(rest[0]);
    }

  private:
    static constexpr std::size_t parallel_above = 16384;  // boxes; a task below costs more than it saves

    /// Boxes [first, first + count) of the input; cell_block of them can be read.
    struct Block {
        const Box<D, T>* boxes;
        std::size_t first, count;
        std::size_t number;  // in the order of the input
    };

    /// Calls visit(block) for the blocks of a task.
    template <class Visit>
    void for_each_block(std::size_t t, Visit&& visit) const {
        const std::size_t end = std::min(input_.boxes.size(), (t + 1) * share_);
        std::array<Box<D, T>, cell_block> tail;
        std::size_t number = t * blocks_per_task_;
        for (std::size_t first = t * share_; first < end; first += cell_block, ++number) {
            const std::size_t count = std::min(end - first, cell_block);
            const Box<D, T>* boxes = input_.boxes.data() + first;
            // The many lists that are written to keep the processor from seeing that boxes are read in sequence.
            for (std::size_t line = 0; line < cell_block * sizeof(Box<D, T>); line += 64)
                hwy::Prefetch(reinterpret_cast<const char*>(boxes + 2 * cell_block) + line);
            if (count < cell_block) {
                std::copy_n(boxes, count, tail.begin());
                std::fill(tail.begin() + static_cast<std::ptrdiff_t>(count), tail.end(), Box<D, T>{});
                boxes = tail.data();
            }
            visit(Block{boxes, first, count, number});
        }
    }

    /// Most blocks have no filter, which is seen at one look.
    void mark_filtered(const Block& block, const BlockCells& cells, typename SlabPartition<D, T>::Task& lists) const {
        const FilterTable& filters = *input_.filters;
        if (input_.ids.empty() && filters.all_plain(block.first, block.count)) return;
        for (std::size_t k = 0; k < block.count; ++k) {
            if (cells.slab[k] == no_slab || filters.kind(input_.id(block.first + k)) == FilterTable::plain) continue;
            if (lists.filtered.empty()) lists.filtered.resize(lists.count.size());
            lists.filtered[cells.slab[k]] = 1;
        }
    }

    /// The slab and key of each box of a block. Throws bad_value for a bad one, which fits no grid; stopped on request.
    void assign(const Block& block, BlockCells& to) const {
        if (input_.stop.stop_requested()) throw Error(ErrorKind::stopped, "stopped on request");
        std::fill_n(to.slab, cell_block, no_slab);
        for (std::size_t c = 0; c < shapes_.size(); ++c)
            if (assign_cells(shapes_[c], first_slab_[c], block.boxes, to) == 0) return;
        for (std::size_t k = 0; k < block.count; ++k)
            if (to.slab[k] == no_slab && !input_.skipped(block.first + k))
                quadrat::cells::check_box(block.boxes[k], block.first + k);
    }

    void put_share(std::size_t t, SlabPartition<D, T>& target, const BlockCells* known, Rest& rest) const {
        auto& lists = target.task(t);
        BlockCells own;
        for_each_block(t, [&](const Block& block) {
            if (!known) assign(block, own);
            const BlockCells& cells = known ? known[block.number] : own;
            if (input_.filters && input_.filters->stored()) mark_filtered(block, cells, lists);
            if (target.streamed())
                put_block(block, cells, rest, [&](const auto&... record) { target.add_streamed(lists, record...); });
            else
                put_block(block, cells, rest, [&](const auto&... record) { target.add(lists, record...); });
        });
        target.finish(lists);
    }

    template <class Add>
    void put_block(const Block& block, const BlockCells& cells, Rest& rest, Add&& add) const {
        const bool skips = !input_.skip.empty();
        for (std::size_t k = 0; k < block.count; ++k) {
            const std::size_t i = block.first + k;
            if (skips && input_.skip[i] != 0) continue;
            if (cells.slab[k] != no_slab) [[likely]]
                add(cells.slab[k], block.boxes[k], input_.id(i), cells.key[k]);
            else
                (regular(block.boxes[k]) ? rest.misfits : rest.unbounded).push_back(static_cast<std::uint32_t>(i));
        }
    }

    const BoxInput<D, T>& input_;
    std::span<const GridShape<D, T>> shapes_;
    Executor* executor_;
    std::vector<std::uint32_t> first_slab_{0};  // of each grid, and one past the last
    std::size_t tasks_, share_, blocks_per_task_;
};

}  // namespace quadrat::broad_phase
