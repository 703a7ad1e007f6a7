#include "pair_methods.hpp"

#include <quadrat/cells/brute_force.hpp>

#include "verb.hpp"

namespace quadrat::cli {
namespace {

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

}  // namespace

std::string resolve_pair_method(const std::string& method) {
    return method == "auto" ? "brute" : method;
}

template <int D, class T>
std::unique_ptr<PairFinder<D, T>> make_pair_finder(const std::string& method, const PairSettings& settings) {
    if (method == "brute") return std::make_unique<BrutePairs<D, T>>(settings);
    throw UsageError("--method: unknown method '" + method + "'");
}

template std::unique_ptr<PairFinder<2, float>> make_pair_finder(const std::string&, const PairSettings&);
template std::unique_ptr<PairFinder<2, double>> make_pair_finder(const std::string&, const PairSettings&);
template std::unique_ptr<PairFinder<3, float>> make_pair_finder(const std::string&, const PairSettings&);
template std::unique_ptr<PairFinder<3, double>> make_pair_finder(const std::string&, const PairSettings&);

}  // namespace quadrat::cli
