// What a Search does with its rows: see search.hpp for what a sink has to offer.
#pragma once

#include "cells/neighbor_list_writer.hpp"
#include "neighbors/search/extras.hpp"
#include "neighbors/search/search.hpp"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace quadrat::neighbors {

/// The sink that calls count(place, n) for each home.
template <class Count>
class CountRows {
  public:
    explicit CountRows(Count count) : count_(count) {}

    template <int D, class T>
    void take(const Search<D, T>& search, std::uint32_t first, Group<T>& group) {
        const NeighborOptions& o = search.options();
        if (search.plain(group)) {
            // The full form counts the home itself.
            const std::uint32_t self = search.own() && !o.self && !o.half ? 1 : 0;
            const std::size_t candidates = search.kernel().cull_unlabelled(group, group.parts[0], 0);
            (o.half ? search.kernel().count_half : search.kernel().count)(group, candidates, nullptr);
            for (unsigned a = 0; a < group.size; ++a) {
                QUADRAT_ASSERT(group.count[a] >= self);
                count_(first + a, group.count[a] - self);
            }
            return;
        }
        search.cull(group);
        search.row_kernel().count(group, {.half = o.half, .self = o.self});
        for (unsigned a = 0; a < group.size; ++a) count_(first + a, group.count[a]);
    }

  private:
    Count count_;
};

/// Thrown by a Budget that is used up.
struct ListTooLong {};

/// Memory that all segments of a list may take. With a forecast it also gives up when a small part of it is used and
/// the homes that are left, if they are like those before, would need clearly more than the rest: hopeless lists are
/// then counted, not stored up to the limit.
class Budget {
  public:
    static constexpr std::uint64_t unlimited = std::uint64_t{1} << 60;

    Budget(std::uint64_t bytes, std::size_t homes, bool forecast)
        : bytes_(std::min(bytes, unlimited)), homes_(static_cast<double>(homes)), forecast_(forecast) {}
    void take(std::uint64_t bytes, std::uint64_t homes) {
        const std::uint64_t used = used_.fetch_add(bytes, std::memory_order_relaxed) + bytes;
        const std::uint64_t done = done_.fetch_add(homes, std::memory_order_relaxed) + homes;
        if (used > bytes_) throw ListTooLong{};
        if (forecast_ && used > bytes_ / 32 &&
            static_cast<double>(used) * homes_ > 1.5 * static_cast<double>(bytes_) * static_cast<double>(done))
            throw ListTooLong{};
    }

  private:
    std::uint64_t bytes_;
    double homes_;
    bool forecast_;
    std::atomic<std::uint64_t> used_{0}, done_{0};
};

/// The sink that writes rows one after the other into a segment, from entry 0 on, and calls done(place, first entry,
/// count) for each. Memory is charged to the budget, if there is one.
template <class Done>
class StoreRows {
  public:
    using Segment = detail::NeighborListWriter::Segment;

    StoreRows(Segment& to, std::size_t entry_bytes, Budget* budget, Done done)
        : to_(to), entry_bytes_(entry_bytes), budget_(budget), done_(done) {}

    template <int D, class T>
    void take(const Search<D, T>& search, std::uint32_t first, Group<T>& group) {
        const NeighborOptions& o = search.options();
        std::size_t candidates;
        if (search.plain(group)) {
            if (!search.own() || o.self) group.self = nobody.data();
            candidates = search.kernel().cull(group, group.parts[0], 0);
            to_.indices.grow(used_ + group.size * candidates + max_lanes);
            (o.half ? search.kernel().half : search.kernel().full)(group, candidates, to_.indices.data() + used_);
        } else {
            candidates = search.cull(group);
            extras_.template write<D, T>(search, first, group, candidates, to_, used_);
        }
        for (unsigned a = 0; a < group.size; ++a) {
            done_(first + a, used_, group.count[a]);
            used_ += group.count[a];
        }
        tested(group.size, candidates);
    }
    /// To be called at the end.
    void charge() {
        if (used_ == charged_) return;
        if (budget_) budget_->take((used_ - charged_) * entry_bytes_, homes_);
        charged_ = used_;
        homes_ = 0;
    }

    /// Entries written.
    [[nodiscard]] std::uint64_t used() const { return used_; }
    /// Distance tests made.
    [[nodiscard]] std::uint64_t tests() const { return tests_; }

  private:
    static constexpr std::uint64_t charged_at_once = 4096;  // entries

    void tested(unsigned homes, std::size_t candidates) {
        tests_ += homes * candidates;
        homes_ += homes;
        if (used_ - charged_ >= charged_at_once) charge();
    }

    Segment& to_;
    std::size_t entry_bytes_;
    Budget* budget_;
    Done done_;
    Extras extras_;
    std::uint64_t used_ = 0, charged_ = 0, tests_ = 0, homes_ = 0;
};

}  // namespace quadrat::neighbors
