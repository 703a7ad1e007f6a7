#include "broad_phase/events/event_table.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <bit>

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t ahead = 24;  // pairs whose rows are asked for early

}  // namespace

void EventTable::begin(std::span<const std::uint32_t> generations, std::size_t most_pairs) {
    generations_ = generations;
    most_pairs_ = most_pairs;
    count_ = 0;
    begun_.clear();
    ended_.clear();
    persisting_.clear();
    new_.clear();
    new_crowd_.clear();
    renewed_.clear();
    rows_.resize(generations.size(), Row{});
    const std::size_t known = std::min(old_generations_.size(), generations.size());
    // Slots that are new have no pairs to end.
    if (std::equal(old_generations_.begin(), old_generations_.begin() + static_cast<std::ptrdiff_t>(known),
                   generations.begin()))
        return;
    renewed_.resize(generations.size(), 0);
    for (std::size_t i = 0; i < known; ++i) renewed_[i] = old_generations_[i] != generations[i];
}

void EventTable::take(std::span<const Pair> pairs) {
    QUADRAT_ASSERT(rows_.size() == generations_.size());  // between begin() and end()
    count_ += pairs.size();
    if (count_ > most_pairs_) return;  // end() forgets them all
    renewed_.empty() ? take_all<false>(pairs) : take_all<true>(pairs);
}

// Which pairs are new comes in no order: both lists are written, and one of them becomes longer.
template <bool Renewed>
void EventTable::take_all(std::span<const Pair> pairs) {
    std::size_t old_count = persisting_.size(), new_count = new_.size();
    persisting_.resize(old_count + pairs.size());
    new_.resize(new_count + pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        if (i + ahead < pairs.size()) __builtin_prefetch(&rows_[pairs[i + ahead].first], 1);
        const Pair p = pairs[i];
        QUADRAT_ASSERT(p.first < p.second && p.second < rows_.size());
        Row& row = rows_[p.first];
        const std::uint32_t count = row.state & count_bits;
        std::uint32_t at = 0;
        for (std::uint32_t k = 0; k < width; ++k) at |= std::uint32_t{row.partner[k] == p.second} << k;
        at &= (1u << count) - 1;
        if (at == 0 && (count == width || (row.state & crowded) != 0)) [[unlikely]] {
            take_beside_rows(p, row);
            continue;
        }
        const bool is_new = at == 0;
        const std::uint32_t place = std::min(count, width - 1);
        row.partner[place] = is_new ? p.second : row.partner[place];
        row.state = (row.state + std::uint32_t{is_new}) | (is_new ? 1u << count : at) << first_seen;
        bool goes_on = !is_new;
        if constexpr (Renewed)
            if (goes_on && renewed(p)) {
                ended_.push_back(before(p));
                goes_on = false;
            }
        persisting_[old_count] = p;
        old_count += goes_on;
        new_[new_count] = p;
        new_count += !goes_on;
    }
    persisting_.resize(old_count);
    new_.resize(new_count);
}

// A pair of the crowd stays there, although its row may have a place by now.
void EventTable::take_beside_rows(const Pair& pair, Row& row) {
    const std::uint32_t count = row.state & count_bits;
    QUADRAT_ASSERT(count == width || (row.state & crowded) != 0);
    const bool known = (row.state & crowded) != 0 && std::binary_search(crowd_.begin(), crowd_.end(), pair);
    if (known || count == width) {
        new_crowd_.push_back(pair);
        return;
    }
    row.partner[count] = pair.second;
    row.state = (row.state + 1) | 1u << (count + first_seen);
    begun_.push_back(now(pair));
}

std::size_t EventTable::end() {
    const std::size_t count = count_;
    if (count > most_pairs_) {
        clear();
        return count;
    }
    const std::size_t from = begun_.size();
    begun_.resize(from + new_.size());
    for (std::size_t i = 0; i < new_.size(); ++i) begun_[from + i] = now(new_[i]);
    end_rows();
    end_crowd();
    old_generations_.assign(generations_.begin(), generations_.end());
    generations_ = {};
    return count;
}

// Partners that were not seen are gone.
void EventTable::end_rows() {
    for (std::uint32_t slot = 0; slot < rows_.size(); ++slot) {
        Row& row = rows_[slot];
        const std::uint32_t count = row.state & count_bits, seen = (row.state & seen_bits) >> first_seen;
        row.state &= ~seen_bits;
        std::uint32_t gone = ((1u << count) - 1) & ~seen;
        if (gone == 0) [[likely]]
            continue;
        std::uint32_t kept = 0;
        for (std::uint32_t k = 0; k < count; ++k) {
            if ((gone >> k & 1) != 0)
                ended_.push_back(before({slot, row.partner[k]}));
            else
                row.partner[kept++] = row.partner[k];
        }
        row.state = (row.state & ~count_bits) | kept;
    }
}

void EventTable::end_crowd() {
    QUADRAT_ASSERT(std::is_sorted(crowd_.begin(), crowd_.end()));
    std::sort(new_crowd_.begin(), new_crowd_.end());
    for (const Pair& p : crowd_) rows_[p.first].state &= ~crowded;
    for (const Pair& p : new_crowd_) rows_[p.first].state |= crowded;
    auto old = crowd_.begin();
    for (const Pair& p : new_crowd_) {
        for (; old != crowd_.end() && *old < p; ++old) ended_.push_back(before(*old));
        const bool known = old != crowd_.end() && *old == p;
        if (known) ++old;
        if (known && !renewed_.empty() && renewed(p)) ended_.push_back(before(p));
        if (known && (renewed_.empty() || !renewed(p)))
            persisting_.push_back(p);
        else
            begun_.push_back(now(p));
    }
    for (; old != crowd_.end(); ++old) ended_.push_back(before(*old));
    crowd_.swap(new_crowd_);
}

void EventTable::clear() {
    *this = EventTable();
}

std::size_t EventTable::bytes() const {
    return rows_.capacity() * sizeof(Row) +
           (crowd_.capacity() + new_crowd_.capacity() + new_.capacity() + persisting_.capacity()) * sizeof(Pair) +
           (begun_.capacity() + ended_.capacity()) * sizeof(IdPair) +
           old_generations_.capacity() * sizeof(old_generations_[0]) + renewed_.capacity();
}

}  // namespace quadrat::broad_phase

namespace quadrat {

PairEvents::PairEvents() : table_(std::make_unique<broad_phase::EventTable>()) {}
PairEvents::~PairEvents() = default;
PairEvents::PairEvents(PairEvents&&) noexcept = default;
PairEvents& PairEvents::operator=(PairEvents&&) noexcept = default;

std::span<const IdPair> PairEvents::begun() const {
    return table_->begun();
}
std::span<const Pair> PairEvents::persisting() const {
    return table_->persisting();
}
std::span<const IdPair> PairEvents::ended() const {
    return table_->ended();
}
void PairEvents::clear() {
    table_->clear();
}
PairEventsStats PairEvents::stats() const {
    return {table_->pairs(), table_->bytes()};
}

}  // namespace quadrat
