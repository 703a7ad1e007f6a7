// Who sends what to whom, found once and used for any array of the caller's: Migration moves items to the ranks that
// own them now, Halo copies items to the ranks that they reach and brings sums back. One message per pair of ranks and
// array; what a rank receives is in the order of the senders' ranks, never in that of arrival.
//
// Structures that hand these out know only their own bodies. Masses, velocities or anything else that a program keeps
// beside them travels with two calls:
//
//     const Migration moved = phase.update(boxes);
//     moved.apply(boxes);           // every array with one entry per own body, each once
//     moved.apply(masses);
//     phase.halo().send(masses);    // and, if the ghosts' values are wanted, held() entries from now on
//
// Entries travel as bytes between ranks that are taken to store them alike. Errors are those of together(): what one
// rank throws, all throw. Like all that is collective, these calls are made by all ranks in the same order, by one
// thread of each at a time: messages of two calls at once could not be told apart.
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

/// How many items go to each rank and come from each, and the sending itself. The base of Migration and Halo, for items
/// that already lie in the order of their destinations; take those two for arrays in the caller's order.
///
/// Holds two numbers per rank that it talks to and shares the communicator, so that copies are cheap enough to keep
/// beside the arrays they serve.
class Exchange {
  public:
    /// Nothing to send and no communicator: to be assigned to, and not to be asked for comm() before.
    Exchange() = default;
    /// Collective. Tells each rank what it will be sent: one all-to-all message of 4 bytes per pair of ranks, and O(P)
    /// time and temporary memory on P ranks.
    ///
    /// comm: not null; kept alive by this exchange and its copies.
    /// counts: counts[r] items go to rank r, this rank included; as many as there are ranks, which is asserted.
    Exchange(std::shared_ptr<const Communicator> comm, std::span<const std::uint32_t> counts);

    /// The ranks that it runs between.
    [[nodiscard]] const Communicator& comm() const { return *comm_; }
    /// Items that this rank gives, the sum of its counts: an item that goes to two ranks counts twice.
    [[nodiscard]] std::size_t outgoing() const noexcept { return outgoing_; }
    /// Items that this rank is given, by all ranks together.
    [[nodiscard]] std::size_t incoming() const noexcept { return incoming_; }
    /// To how many ranks something goes; this rank is one of them only if it sends to itself.
    [[nodiscard]] std::size_t messages() const noexcept { return to_.size(); }

    /// Collective. Sends each item to its rank. All receives are posted before the first send and the call returns when
    /// all are done, so that no order of the ranks can lock it. Costs one message per rank with something to send, or
    /// several beyond 2^30 items. MPI copies straight from `out` and into `in`.
    ///
    /// out: outgoing() items, those for rank 0 first, then those for rank 1, ...
    /// in: room for incoming() items, which arrive as those of rank 0 first, then those of rank 1, ..., each rank's in
    ///     the order it had them in `out`. Does not overlap `out`; either may be null where there is nothing.
    /// item_bytes: from 1 to 2^30, which is asserted; the same on all ranks.
    void forward(const void* out, void* in, std::size_t item_bytes) const { run(to_, from_, out, in, item_bytes); }
    /// Collective. The way back: incoming() items, in the order that forward() left them in, return to the ranks that
    /// sent them, into outgoing() places by destination. Arguments, cost and guarantees are those of forward().
    void backward(const void* in, void* out, std::size_t item_bytes) const { run(from_, to_, in, out, item_bytes); }

  private:
    // What goes to, or comes from, one rank.
    struct Part {
        int rank;
        std::uint32_t count;  // items, never 0
    };
    // Both directions: parts of `out` in the order of `to`, parts of `in` in that of `from`.
    void run(std::span<const Part> to, std::span<const Part> from, const void* out, void* in, std::size_t bytes) const;

    std::shared_ptr<const Communicator> comm_;
    std::vector<Part> to_, from_;  // those with something to send, by rank
    // The sums of the counts of to_ and from_.
    std::size_t outgoing_ = 0, incoming_ = 0;
};

namespace detail {
/// Throws Error{bad_shape} unless an array has the length that a migration or halo was made for.
void check_length(std::size_t given, std::size_t expected);
}  // namespace detail

/// Where a rank's items go when each moves to the rank that owns it. Valid for arrays in the order of the update() that
/// gave it, any number of them, and for as long as one likes: it knows positions and counts, not the items.
///
/// Holds eight bytes per item that leaves. Threads: apply() is collective; the other members may be called at the same
/// time.
class Migration {
  public:
    /// Of nothing, to be assigned to; apply() needs a real one.
    Migration() = default;
    /// For those who find out themselves what goes where; Decomposition::update() gives a complete one. Not collective.
    /// O(n log n) in the number of items that leave.
    ///
    /// exchange: made from the numbers of items per destination.
    /// leaving: the positions of the items that go, by destination and then ascending, each once and below `before`; as
    ///     many as exchange.outgoing(). Asserted.
    /// before: how many items the rank has now.
    Migration(Exchange exchange, std::vector<std::uint32_t> leaving, std::size_t before);

    /// Items on this rank before: the length that apply() takes.
    [[nodiscard]] std::size_t before() const noexcept { return before_; }
    /// Items on this rank after: the length that apply() leaves.
    [[nodiscard]] std::size_t after() const noexcept { return before_ - leaving_.size() + exchange_.incoming(); }
    /// Items that leave this rank.
    [[nodiscard]] std::size_t leaving() const noexcept { return leaving_.size(); }
    /// How many go to each rank and come from each.
    [[nodiscard]] const Exchange& exchange() const noexcept { return exchange_; }

    /// Collective. Moves the entries of any array with one entry per item: those that stay keep their order, those that
    /// come follow by the rank of the sender, and by their position there.
    ///
    ///     rank 0:  a b c d      b and d go to rank 1      a c
    ///     rank 1:  e f          nothing leaves            e f b d
    ///
    /// Throws Error{bad_shape} on all ranks, changing nothing, if the array has not before() entries on one of them;
    /// and Error{too_large}, changing no entry, if one has no memory. Time O(entries behind the first that leaves +
    /// those that come), and a copy of the array where it must grow; memory for a copy of what leaves and of what
    /// comes.
    ///
    /// array: before() entries of a type that is trivially copyable and has a default constructor; not bool, which a
    ///     std::vector packs. A pointer in an entry means nothing on another rank. The same type on all ranks.
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
    // leaving_ is the order in which entries are packed; holes_, the same positions ascending, that in which the gaps
    // they leave are closed, from front to back and in place.
    std::vector<std::uint32_t> leaving_, holes_;
    std::size_t before_ = 0;
};

/// a += b, component by component for vectors: what Halo::add_back does with an entry unless told otherwise.
struct Plus {
    /// For anything that has +=.
    template <class V>
    void operator()(V& a, const V& b) const {
        a += b;
    }
    /// For vectors, which have no operators.
    template <int D, class T>
    void operator()(Vec<D, T>& a, const Vec<D, T>& b) const {
        for (int k = 0; k < D; ++k) a[k] += b[k];
    }
};

/// Which own items other ranks know as ghosts. Valid until items move to other ranks. Arrays have the own() entries
/// first and the ghosts() entries behind them, ghosts by the rank of their owner and by their position there:
///
///     | own 0 ... own() - 1 | ghosts from rank 0 | ghosts from rank 1 | ... |
///     0                     own()                                           held()
///
/// Holds four bytes per copy that this rank sends. Threads: send() and add_back() are collective; the other members may
/// be called at the same time.
class Halo {
  public:
    /// Of nothing, to be assigned to; send() and add_back() need a real one.
    Halo() = default;
    /// For those who find out themselves who must know what; Decomposition::halo() gives a complete one. Not
    /// collective.
    ///
    /// exchange: made from the numbers of copies per destination.
    /// sent: the positions of own items by destination, below `own`; an item may go to several ranks. As many as
    ///     exchange.outgoing(), which is asserted.
    /// own: how many items the rank owns.
    Halo(Exchange exchange, std::vector<std::uint32_t> sent, std::size_t own);

    /// Items that this rank owns.
    [[nodiscard]] std::size_t own() const noexcept { return own_; }
    /// Copies of other ranks' items that this rank holds.
    [[nodiscard]] std::size_t ghosts() const noexcept { return exchange_.incoming(); }
    /// Both together: the length of an array after send().
    [[nodiscard]] std::size_t held() const noexcept { return own_ + ghosts(); }
    /// How many copies go to each rank and come from each.
    [[nodiscard]] const Exchange& exchange() const noexcept { return exchange_; }

    /// Collective, owner to ghosts: takes own() entries, or held() of which the last are replaced, and leaves held().
    /// Call it again whenever the own entries have changed. Throws Error{bad_shape} on all ranks if the length is
    /// another one on any of them, and Error{too_large} if one has no memory; own entries are then what they were, but
    /// an array that had own() entries may have grown to held(), with zeros for the ghosts. Time
    /// O(copies sent + ghosts), and a copy of the array where it must grow; memory for what is sent.
    ///
    /// array: as for Migration::apply().
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
    /// the ranks that hold the ghosts, so that a sum has the same bits in every run on as many ranks. The ghosts' own
    /// entries stay: clear them before the next round of sums, or they are added again. Throws Error{bad_shape} on all
    /// ranks, changing nothing, if the length is not held() on one of them, and Error{too_large} if one has no memory.
    /// Time O(copies sent + ghosts), memory for a copy of what comes back.
    ///
    ///     std::vector<Vec3d> forces(halo.held());   // zeros; each rank then adds for the pairs that it reports
    ///     halo.add_back(forces);                    // own entries are complete
    ///
    /// array: held() entries, otherwise as for Migration::apply().
    /// add: called as add(V&, const V&) on this rank's thread; it must not throw, since the other ranks would not learn
    ///     of it. Default: +=.
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
    // Positions of own items, in the order in which their copies are packed.
    std::vector<std::uint32_t> sent_;
    std::size_t own_ = 0;
};

}  // namespace quadrat
