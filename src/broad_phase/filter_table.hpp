// Who may meet whom, for every slot. Sets of filters are few where objects are many: the first fifteen different ones
// are kinds, of which a kernel tests sixteen candidates at once by one bit each; what is more than fifteen shares the
// last kind, which may meet everything as far as bits go, and its pairs are looked up one by one.
#pragma once

#include "base/assert.hpp"

#include <quadrat/broad_phase/options.hpp>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace quadrat::broad_phase {

[[nodiscard]] constexpr bool may_meet(const Filter& p, const Filter& q) {
    return (p.group & q.mask) != 0 && (q.group & p.mask) != 0;
}

/// Until the first filter is set that is not the default, nothing is stored.
class FilterTable {
  public:
    static constexpr std::uint8_t others = 15;  ///< the kind of what is no kind of its own
    static constexpr std::uint8_t plain = 0;    ///< the kind of Filter{}, which meets itself

    FilterTable() { forget_kinds(); }

    [[nodiscard]] bool stored() const { return stored_; }
    [[nodiscard]] Filter operator[](std::uint32_t slot) const {
        QUADRAT_ASSERT(!stored_ || slot < values_.size());
        return stored_ ? values_[slot] : Filter{};
    }
    /// Of every slot; only if stored().
    [[nodiscard]] const Filter* values() const {
        QUADRAT_ASSERT(stored_);
        return values_.data();
    }
    /// plain for a slot that is not known yet.
    [[nodiscard]] std::uint8_t kind(std::uint32_t slot) const {
        return slot < kinds_.size() ? kinds_[slot] : std::uint8_t{plain};
    }
    /// Whether slots [first, first + count) are all plain.
    [[nodiscard]] bool all_plain(std::size_t first, std::size_t count) const {
        const std::size_t end = std::min(first + count, kinds_.size());
        std::uint8_t any = 0;
        for (std::size_t i = first; i < end; ++i) any |= kinds_[i];
        return any == plain;
    }
    /// A bit per kind that the kind may meet. 0: what is of this kind meets nothing.
    [[nodiscard]] std::uint16_t meets(std::uint8_t kind) const { return meets_[kind]; }
    /// Whether pairs that bits allow must be looked up.
    [[nodiscard]] bool has_others() const { return has_others_; }

    void set(std::uint32_t slot, const Filter& filter, std::size_t slots) {
        QUADRAT_ASSERT(slot < slots);
        if (!stored_ && filter == Filter{}) return;
        stored_ = true;
        resize(slots);
        values_[slot] = filter;
        kinds_[slot] = kind_of(filter);
    }
    void resize(std::size_t slots) {
        if (!stored_) return;
        values_.resize(slots);
        kinds_.resize(slots, plain);
    }
    void clear() { *this = FilterTable(); }
    /// Kinds that nobody has any more make room for others. Cost: one pass, where there are others.
    void choose_kinds() {
        if (!has_others_) return;
        forget_kinds();
        for (std::size_t i = 0; i < values_.size(); ++i) kinds_[i] = kind_of(values_[i]);
    }
    [[nodiscard]] std::size_t bytes() const { return values_.capacity() * sizeof(Filter) + kinds_.capacity(); }

  private:
    void forget_kinds() {
        std::fill(std::begin(meets_), std::end(meets_), std::uint16_t{0});
        has_others_ = false;
        count_ = 0;
        static_cast<void>(kind_of(Filter{}));
    }
    [[nodiscard]] std::uint8_t kind_of(const Filter& filter) {
        for (std::uint8_t k = 0; k < count_; ++k)
            if (of_kind_[k] == filter) return k;
        if (count_ == others) {
            has_others_ = true;
            for (std::uint16_t& bits : meets_) bits = static_cast<std::uint16_t>(bits | 1u << others);
            meets_[others] = 0xffff;
            return others;
        }
        const std::uint8_t kind = count_++;
        of_kind_[kind] = filter;
        for (std::uint8_t k = 0; k < count_; ++k)
            if (may_meet(filter, of_kind_[k])) {
                meets_[k] = static_cast<std::uint16_t>(meets_[k] | 1u << kind);
                meets_[kind] = static_cast<std::uint16_t>(meets_[kind] | 1u << k);
            }
        return kind;
    }

    std::vector<Filter> values_;       // of every slot, if stored_
    std::vector<std::uint8_t> kinds_;  // the same
    Filter of_kind_[others];
    std::uint16_t meets_[others + 1];
    std::uint8_t count_ = 0;  // kinds there are, without the last
    bool has_others_ = false;
    bool stored_ = false;
};

}  // namespace quadrat::broad_phase
