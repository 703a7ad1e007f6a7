// What the verbs share: their options, the report, sorting over all ranks, and the checksum of pairs of 64-bit ids.
#pragma once

#include <quadrat/distributed.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace quadrat::mpi_cli {

struct CommonOptions {
    unsigned threads = 1;
    bool json = false;
    std::uint64_t max_bytes = 0;  ///< per rank; 0: no limit
    std::string cuts = "auto";
    bool parts = false;
    std::string out;

    void add_to(CLI::App& verb);
    [[nodiscard]] std::unique_ptr<Executor> executor() const { return threads == 1 ? nullptr : make_executor(threads); }
    template <int D, class T>
    [[nodiscard]] DecompositionOptions<D, T> decomposition(Executor* executor) const {
        DecompositionOptions<D, T> result{.executor = executor};
        result.cuts = cuts == "zoltan"   ? CutSource::zoltan
                      : cuts == "sample" ? CutSource::sample
                                         : CutSource::automatic;
        if (max_bytes) result.max_bytes = max_bytes;
        return result;
    }
};

/// Of this rank; print() puts all ranks together.
struct Report {
    std::uint64_t objects = 0;  ///< of all ranks
    std::uint64_t own = 0, held = 0;
    std::uint64_t pairs = 0, checksum = 0;
    std::uint64_t bytes_sent = 0;  ///< copies of bodies given to others
    double read = 0, write = 0;
    DistributedSeconds seconds;
    DecompositionStats stats;

    /// Collective; rank 0 prints.
    void print(const Communicator& comm, const CommonOptions& options, const char* what, const char* found) const;
};

/// What goes on, on stderr of rank 0 if that is a terminal.
class Progress {
  public:
    explicit Progress(const Communicator& comm);
    ~Progress() { now(""); }
    void now(const char* what) const;

  private:
    bool shown_;
};

/// The term of a pair in the checksum. Below 2^32 it is mix(a << 32 | b), as docs/concepts.md has it; the high halves
/// add a multiple of an odd number.
[[nodiscard]] std::uint64_t pair_term(std::uint64_t a, std::uint64_t b);

/// Collective: sends items[k] to rank destination(items[k]) and returns what came, by sender.
template <class V, class Destination>
[[nodiscard]] std::vector<V> sent(const std::shared_ptr<const Communicator>& comm, const std::vector<V>& items,
                                  Destination&& destination) {
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(comm->size()), 0);
    std::vector<V> out, in;
    together(*comm, [&] {
        for (const V& v : items) ++counts[static_cast<std::size_t>(destination(v))];
        std::vector<std::size_t> next(counts.size() + 1, 0);
        for (std::size_t r = 0; r < counts.size(); ++r) next[r + 1] = next[r] + counts[r];
        out.resize(items.size());
        for (const V& v : items) out[next[static_cast<std::size_t>(destination(v))]++] = v;
    });
    const Exchange exchange(comm, counts);
    together(*comm, [&] { in.resize(exchange.incoming()); });
    exchange.forward(out.data(), in.data(), sizeof(V));
    return in;
}

/// Collective: the same items over all ranks in ascending order, about as many on each. Sample sort: 256 of each rank
/// say where to divide.
template <class V>
void sort_over_ranks(const std::shared_ptr<const Communicator>& comm, std::vector<V>& items) {
    constexpr std::size_t per_rank = 256;
    std::vector<V> sample;
    together(*comm, [&] {
        std::sort(items.begin(), items.end());
        const std::size_t n = std::min(per_rank, items.size());
        for (std::size_t k = 0; k < n; ++k) sample.push_back(items[k * items.size() / n]);
    });
    std::vector<std::uint32_t> counts(static_cast<std::size_t>(comm->size()),
                                      static_cast<std::uint32_t>(sample.size()));
    std::vector<V> everyone, all;
    for (int r = 0; r < comm->size(); ++r) everyone.insert(everyone.end(), sample.begin(), sample.end());
    const Exchange exchange(comm, counts);
    all.resize(exchange.incoming());
    exchange.forward(everyone.data(), all.data(), sizeof(V));
    std::sort(all.begin(), all.end());
    std::vector<V> dividers;
    for (int r = 1; r < comm->size() && !all.empty(); ++r)
        dividers.push_back(all[all.size() * static_cast<std::size_t>(r) / static_cast<std::size_t>(comm->size())]);
    items = sent(comm, items,
                 [&](const V& v) { return std::upper_bound(dividers.begin(), dividers.end(), v) - dividers.begin(); });
    together(*comm, [&] { std::sort(items.begin(), items.end()); });
}

/// PREFIX.part-0003.npy for rank 3.
[[nodiscard]] std::string part_name(const std::string& out, int rank);

}  // namespace quadrat::mpi_cli
