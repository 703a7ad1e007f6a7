// Who sends what to whom, found once and used for any array of the caller's: Migration moves items to the ranks that
// own them now, Halo copies items to the ranks that they reach and brings sums back. One message per pair of ranks and
// array; what a rank receives is in the order of the senders' ranks, never in that of arrival.
#pragma once

#include <quadrat/distributed/communicator.hpp>
#include <quadrat/geometry.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace quadrat {

/// How many items go to each rank and come from each. Copies are cheap enough to keep beside the arrays they serve.
class Exchange {
  public:
    Exchange() = default;
    /// Collective. counts[r] items go to rank r; counts.size() is the number of ranks.
    Exchange(std::shared_ptr<const Communicator> comm, std::span<const std::uint32_t> counts);

    [[nodiscard]] const Communicator& comm() const { return *comm_; }
    [[nodiscard]] std::size_t outgoing() const noexcept { return outgoing_; }
    [[nodiscard]] std::size_t incoming() const noexcept { return incoming_; }
    /// To how many other ranks something goes.
    [[nodiscard]] std::size_t messages() const noexcept { return to_.size(); }

    /// Collective: outgoing() items by destination in `out`; incoming() items by sender in `in`. Items are copied as
    /// bytes.
    void forward(const void* out, void* in, std::size_t item_bytes) const { run(to_, from_, out, in, item_bytes); }
    /// Collective: the way back, incoming() items from `in` to outgoing() places in `out`.
    void backward(const void* in, void* out, std::size_t item_bytes) const { run(from_, to_, in, out, item_bytes); }

  private:
    struct Part {
        int rank;
        std::uint32_t count;
    };
    void run(std::span<const Part> to, std::span<const Part> from, const void* out, void* in, std::size_t bytes) const;

    std::shared_ptr<const Communicator> comm_;
    std::vector<Part> to_, from_;  // those with something to send, by rank
    std::size_t outgoing_ = 0, incoming_ = 0;
};

namespace detail {
/// Throws Error{bad_shape} unless an array has the length that a migration or halo was made for.
void check_length(std::size_t given, std::size_t expected);
}  // namespace detail

/// Where a rank's items go when each moves to the rank that owns it. Valid for arrays in the order of the update() that
/// gave it.
class Migration {
  public:
    Migration() = default;
    /// `leaving` are the positions of the items that go, by destination and then ascending.
    Migration(Exchange exchange, std::vector<std::uint32_t> leaving, std::size_t before);

    /// Items on this rank before and after.
    [[nodiscard]] std::size_t before() const noexcept { return before_; }
    [[nodiscard]] std::size_t after() const noexcept { return before_ - leaving_.size() + exchange_.incoming(); }
    /// Items that leave this rank.
    [[nodiscard]] std::size_t leaving() const noexcept { return leaving_.size(); }
    [[nodiscard]] const Exchange& exchange() const noexcept { return exchange_; }

    /// Collective. Moves the entries of any array with one entry per item: those that stay keep their order, those that
    /// come follow by the rank of the sender. Throws Error{bad_shape} on all ranks, changing nothing, if the array has
    /// not before() entries on one of them. O(entries behind the first that leaves + those that come).
    template <class V>
    void apply(std::vector<V>& array) const {
        static_assert(std::is_trivially_copyable_v<V> && !std::is_same_v<V, bool>);
        std::vector<V> out, in;
        together(exchange_.comm(), [&] {
            detail::check_length(array.size(), before_);
            out.resize(leaving_.size());
            for (std::size_t k = 0; k < out.size(); ++k) out[k] = array[leaving_[k]];
            in.resize(exchange_.incoming());
            array.reserve(after());
        });
        exchange_.forward(out.data(), in.data(), sizeof(V));
        std::size_t to = holes_.empty() ? before_ : holes_[0];
        for (std::size_t h = 0; h < holes_.size(); ++h) {
            const std::size_t end = h + 1 < holes_.size() ? holes_[h + 1] : before_;
            for (std::size_t i = holes_[h] + std::size_t{1}; i < end; ++i) array[to++] = array[i];
        }
        array.resize(to);
        array.insert(array.end(), in.begin(), in.end());
    }

  private:
    Exchange exchange_;
    std::vector<std::uint32_t> leaving_, holes_;  // holes_: the same positions, ascending
    std::size_t before_ = 0;
};

/// a += b, component by component for vectors: what Halo::add_back does with an entry unless told otherwise.
struct Plus {
    template <class V>
    void operator()(V& a, const V& b) const {
        a += b;
    }
    template <int D, class T>
    void operator()(Vec<D, T>& a, const Vec<D, T>& b) const {
        for (int k = 0; k < D; ++k) a[k] += b[k];
    }
};

/// Which own items other ranks know as ghosts. Valid until items move to other ranks. Arrays have the own() entries
/// first and the ghosts() entries behind them, ghosts by the rank of their owner.
class Halo {
  public:
    Halo() = default;
    /// `sent` are the positions of own items by destination; an item may go to several ranks.
    Halo(Exchange exchange, std::vector<std::uint32_t> sent, std::size_t own);

    [[nodiscard]] std::size_t own() const noexcept { return own_; }
    [[nodiscard]] std::size_t ghosts() const noexcept { return exchange_.incoming(); }
    [[nodiscard]] std::size_t held() const noexcept { return own_ + ghosts(); }
    [[nodiscard]] const Exchange& exchange() const noexcept { return exchange_; }

    /// Collective, owner to ghosts: takes own() entries, or held() of which the last are replaced, and leaves held().
    /// Throws Error{bad_shape} on all ranks, changing nothing, for any other length. O(sent + ghosts).
    template <class V>
    void send(std::vector<V>& array) const {
        static_assert(std::is_trivially_copyable_v<V> && !std::is_same_v<V, bool>);
        std::vector<V> out;
        together(exchange_.comm(), [&] {
            detail::check_length(array.size(), array.size() == held() ? held() : own_);
            out.resize(sent_.size());
            for (std::size_t k = 0; k < out.size(); ++k) out[k] = array[sent_[k]];
            array.resize(held());
        });
        exchange_.forward(out.data(), array.data() + own_, sizeof(V));
    }

    /// Collective, ghosts to owner: add(own entry, ghost's entry) for every ghost of every own item, in the order of
    /// the ranks that hold the ghosts, so that a sum has the same bits in every run on as many ranks. Takes held()
    /// entries; the ghosts' own entries stay. Throws Error{bad_shape} on all ranks, changing nothing, for any other
    /// length.
    template <class V, class Add = Plus>
    void add_back(std::vector<V>& array, Add&& add = {}) const {
        static_assert(std::is_trivially_copyable_v<V> && !std::is_same_v<V, bool>);
        std::vector<V> back;
        together(exchange_.comm(), [&] {
            detail::check_length(array.size(), held());
            back.resize(sent_.size());
        });
        exchange_.backward(array.data() + own_, back.data(), sizeof(V));
        for (std::size_t k = 0; k < back.size(); ++k) add(array[sent_[k]], back[k]);
    }

  private:
    Exchange exchange_;
    std::vector<std::uint32_t> sent_;
    std::size_t own_ = 0;
};

}  // namespace quadrat
