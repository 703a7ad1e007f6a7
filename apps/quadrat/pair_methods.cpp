#include "pair_methods.hpp"

#include <quadrat/broad_phase/group_hash.hpp>
#include <quadrat/broad_phase/hash_grid_hierarchy.hpp>
#include <quadrat/broad_phase/multilevel_hash.hpp>
#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/uniform_hash.hpp>

#include <algorithm>

#include "verb.hpp"

namespace quadrat::cli {
namespace {

// Fits every structure: some insert boxes and keep slots, some are built anew; some compare two sets, others are asked
// box by box; some count their tests.
template <int D, class T, class Structure>
class StructurePairs final : public PairFinder<D, T> {
  public:
    using Boxes = std::span<const Box<D, T>>;

    explicit StructurePairs(const typename Structure::Options& options) : options_(options), structure_(options) {}

    void build(Boxes boxes) override {
        if constexpr (requires { structure_.insert(boxes); }) {
            if (structure_.slots() == boxes.size())
                structure_.update(boxes);
            else
                structure_.insert(boxes);
        } else {
            structure_.build(boxes);
        }
    }
    void find(std::vector<Pair>& out) override { structure_.find_pairs(out); }
    void find(Boxes a, Boxes b, std::vector<Pair>& out) override {
        if constexpr (requires { structure_.find_pairs(a, b, out); }) {
            structure_.find_pairs(a, b, out);
        } else if constexpr (requires { find_pairs(structure_, structure_, out); }) {
            Structure first(options_), second(options_);
            first.insert(a);
            second.insert(b);
            find_pairs(first, second, out);
        } else if constexpr (!requires(std::vector<std::uint32_t> & hits) { structure_.find(a[0], hits); }) {
            // One set of both; pairs inside a set are dropped.
            std::vector<Box<D, T>> both(a.begin(), a.end());
            both.insert(both.end(), b.begin(), b.end());
            build(both);
            structure_.find_pairs(out);
            const auto n = static_cast<std::uint32_t>(a.size());
            std::erase_if(out, [&](const Pair& p) { return p.second < n || p.first >= n; });
            for (Pair& p : out) p.second -= n;
        } else {
            build(b);
            out.clear();
            std::vector<std::uint32_t> hits;
            for (std::size_t i = 0; i < a.size(); ++i) {
                structure_.find(a[i], hits);
                for (const std::uint32_t j : hits) out.push_back({static_cast<std::uint32_t>(i), j});
            }
        }
    }
    [[nodiscard]] std::uint64_t tested() const override {
        if constexpr (requires { structure_.stats().tests; })
            return structure_.stats().tests;
        else
            return 0;
    }

  private:
    typename Structure::Options options_;
    Structure structure_;
};

// Tests everything, so it need not count.
template <int D, class T>
class BrutePairs final : public PairFinder<D, T> {
  public:
    explicit BrutePairs(const PairSettings& settings) : brute_({.executor = settings.executor}) {}
    void build(std::span<const Box<D, T>> boxes) override { brute_.build(boxes); }
    void find(std::vector<Pair>& out) override {
        brute_.find_pairs(out);
        tested_ = std::uint64_t{brute_.size()} * (brute_.size() - (brute_.size() > 0)) / 2;
    }
    void find(std::span<const Box<D, T>> a, std::span<const Box<D, T>> b, std::vector<Pair>& out) override {
        brute_.find_pairs(a, b, out);
        tested_ = std::uint64_t{a.size()} * b.size();
    }
    [[nodiscard]] std::uint64_t tested() const override { return tested_; }

  private:
    BruteForce<D, T> brute_;
    std::uint64_t tested_ = 0;
};

template <int D, class T, class Structure>
std::unique_ptr<PairFinder<D, T>> make(const PairSettings& settings) {
    typename Structure::Options options;
    options.executor = settings.executor;
    if constexpr (requires { options.max_bytes; })
        if (settings.max_bytes) options.max_bytes = settings.max_bytes;
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
