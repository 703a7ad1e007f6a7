#include "pair_methods.hpp"

#include <quadrat/broad_phase.hpp>

#include <algorithm>
#include <limits>
#include <optional>

#include "verb.hpp"

namespace quadrat::cli {
namespace {

constexpr std::size_t unlimited = std::numeric_limits<std::size_t>::max();

template <class Structure, class Boxes>
void fill(Structure& structure, Boxes boxes) {
    if constexpr (requires { structure.build(boxes); })
        structure.build(boxes);
    else if (structure.slots() == boxes.size())
        structure.update(boxes);
    else
        structure.insert(boxes);
}

template <class Structure>
std::uint64_t tests_of(const Structure& structure) {
    if constexpr (requires { structure.tests(); })
        return structure.tests();
    else
        return structure.stats().tests;
}

// Fits every structure: some insert boxes and keep slots, some are built anew; some compare two sets, some are asked
// with the boxes of the other set, some know one set only.
template <int D, class T, class Structure>
class StructurePairs final : public PairFinder<D, T> {
  public:
    using Boxes = std::span<const Box<D, T>>;

    explicit StructurePairs(const typename Structure::Options& options) : options_(options), structure_(options) {}

    void build(Boxes boxes) override { fill(structure_, boxes); }
    void build(Boxes a, Boxes b) override {
        between_ = true;
        if constexpr (requires { find_pairs(structure_, structure_, pairs_); }) {
            if (!second_) second_.emplace(options_);
            fill(structure_, a);
            fill(*second_, b);
        } else if constexpr (requires { structure_.find_pairs(a, pairs_); }) {
            a_ = a;
            fill(structure_, b);
        } else {
            // One set of both; pairs inside a set are never stored, and do not count against the limit.
            size_of_a_ = static_cast<std::uint32_t>(a.size());
            both_.assign(a.begin(), a.end());
            both_.insert(both_.end(), b.begin(), b.end());
            fill(structure_, Boxes(both_));
        }
    }
    void find(std::vector<Pair>& out) override {
        if (!between_) return structure_.find_pairs(out);
        if constexpr (requires { find_pairs(structure_, structure_, out); }) {
            find_pairs(structure_, *second_, out);
        } else if constexpr (requires { structure_.find_pairs(a_, out); }) {
            structure_.find_pairs(a_, out);
        } else {
            find_pairs_if(
                structure_, out, [&](const Pair& p) { return p.first < size_of_a_ && p.second >= size_of_a_; },
                options_.max_bytes);
            for (Pair& p : out) p.second -= size_of_a_;
        }
    }
    [[nodiscard]] std::uint64_t tested() const override { return tests_of(structure_); }

  private:
    typename Structure::Options options_;
    Structure structure_;
    std::optional<Structure> second_;
    bool between_ = false;
    Boxes a_;
    std::uint32_t size_of_a_ = 0;
    std::vector<Box<D, T>> both_;
    std::vector<Pair> pairs_;
};

// Tests everything, so it need not count.
template <int D, class T>
class BrutePairs final : public PairFinder<D, T> {
  public:
    using Boxes = std::span<const Box<D, T>>;

    explicit BrutePairs(const PairSettings& settings)
        : brute_({.executor = settings.executor, .max_bytes = settings.max_bytes ? settings.max_bytes : unlimited}) {}
    void build(Boxes boxes) override { brute_.build(boxes); }
    void build(Boxes a, Boxes b) override {
        between_ = true;
        a_ = a;
        b_ = b;
    }
    void find(std::vector<Pair>& out) override { between_ ? brute_.find_pairs(a_, b_, out) : brute_.find_pairs(out); }
    [[nodiscard]] std::uint64_t tested() const override {
        const std::uint64_t n = brute_.size();
        return between_ ? std::uint64_t{a_.size()} * b_.size() : n * (n - (n > 0)) / 2;
    }

  private:
    BruteForce<D, T> brute_;
    bool between_ = false;
    Boxes a_, b_;
};

template <int D, class T, class Structure>
std::unique_ptr<PairFinder<D, T>> make(const PairSettings& settings) {
    typename Structure::Options options;
    options.executor = settings.executor;
    if constexpr (requires { options.max_bytes; })
        if (settings.max_bytes) options.max_bytes = settings.max_bytes;
    if constexpr (requires { options.watch; }) options.watch = settings.watch;
    return std::make_unique<StructurePairs<D, T, Structure>>(options);
}

}  // namespace

std::string resolve_pair_method(const std::string& method) {
    return method == "auto" ? "hhg" : method;
}

template <int D, class T>
std::unique_ptr<PairFinder<D, T>> make_pair_finder(const std::string& method, const PairSettings& settings) {
    if (method == "brute") return std::make_unique<BrutePairs<D, T>>(settings);
    if (method == "uniform") return make<D, T, UniformHash<D, T>>(settings);
    if (method == "multilevel") return make<D, T, MultilevelHash<D, T>>(settings);
    if (method == "hsh") return make<D, T, HierarchicalHash<D, T>>(settings);
    if (method == "hhg") return make<D, T, HashGridHierarchy<D, T>>(settings);
    if (method == "group") return make<D, T, GroupHash<D, T>>(settings);
    throw UsageError("--method: unknown method '" + method + "'");
}

template std::unique_ptr<PairFinder<2, float>> make_pair_finder(const std::string&, const PairSettings&);
template std::unique_ptr<PairFinder<2, double>> make_pair_finder(const std::string&, const PairSettings&);
template std::unique_ptr<PairFinder<3, float>> make_pair_finder(const std::string&, const PairSettings&);
template std::unique_ptr<PairFinder<3, double>> make_pair_finder(const std::string&, const PairSettings&);

}  // namespace quadrat::cli
