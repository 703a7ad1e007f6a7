// Bisection of a sample: every rank gives some of its centres, all ranks get all of them and halve them in the same
// way. One gather, and a balance within about 10 % from 1000 centres per rank.
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/random.hpp"
#include "distributed/cuts.hpp"
#include "distributed/local_ids.hpp"

namespace quadrat::distributed {
namespace {

constexpr std::uint64_t per_rank = 1000;                // 1.05 at 8 ranks, 1.10 at 512
constexpr std::uint64_t most = std::uint64_t{1} << 20;  // of all ranks together

/// A rank's share of the sample is its share of the centres, so that each one stands for as many. Stratified: one of
/// each run of centers.size() / n, by chance.
template <int D>
Centers<D> sample_of(const Communicator& comm, const Centers<D>& centers) {
    const std::uint64_t total = comm.sum(centers.size());
    const std::uint64_t wanted = std::min({total, most, per_rank * static_cast<std::uint64_t>(comm.size())});
    const std::size_t n = centers.size();
    const std::size_t share =
        total ? static_cast<std::size_t>(
                    std::llround(static_cast<double>(wanted) * static_cast<double>(n) / static_cast<double>(total)))
              : 0;
    base::SplitMix random(static_cast<std::uint64_t>(comm.rank()) + 1);
    Centers<D> sample(std::min(share, n));
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const std::size_t begin = i * n / sample.size(), end = (i + 1) * n / sample.size();
        sample[i] = centers[begin + random.below(end - begin)];
    }
    return sample;
}

template <int D>
class Bisection {
  public:
    explicit Bisection(Centers<D> centers) : centers_(std::move(centers)) {}

    CutTree<D> into(int ranks) {
        if (ranks > 1 && !centers_.empty()) halve(0, centers_.size(), 0, ranks);
        return std::move(tree_);
    }

  private:
    // Leaves [p, q) for centres [begin, end). Returns a node, or ~p.
    std::int32_t halve(std::size_t begin, std::size_t end, int p, int q) {
        if (q - p == 1) return ~p;
        const int middle = p + (q - p) / 2;
        const auto node = static_cast<std::size_t>(tree_.nodes.size());
        tree_.nodes.emplace_back();
        double cut = infinity;  // without centres everything goes left
        int axis = 0;
        std::size_t split = end;
        if (begin < end) {
            axis = widest(begin, end);
            const auto left = static_cast<std::size_t>(middle - p), of = static_cast<std::size_t>(q - p);
            split = cut_near(begin, end, begin + (end - begin) * left / of, axis, cut);
        }
        const std::int32_t l = halve(begin, split, p, middle), r = halve(split, end, middle, q);
        tree_.nodes[node] = {cut, axis, l, r};
        return static_cast<std::int32_t>(node);
    }

    int widest(std::size_t begin, std::size_t end) const {
        int axis = 0;
        double most_extent = -1;
        for (int k = 0; k < D; ++k) {
            double lo = infinity, hi = -infinity;
            for (std::size_t i = begin; i < end; ++i) {
                lo = std::min(lo, centers_[i][k]);
                hi = std::max(hi, centers_[i][k]);
            }
            if (hi - lo > most_extent) {
                most_extent = hi - lo;
                axis = k;
            }
        }
        return axis;
    }

    /// Cuts at the centre before position `at` in the order of the axis; where all from there on are equal, below them.
    /// Returns the first position of the right side.
    std::size_t cut_near(std::size_t begin, std::size_t end, std::size_t at, int axis, double& cut) {
        const auto first = centers_.begin();
        const auto place = [&](std::size_t i) { return first + static_cast<std::ptrdiff_t>(i); };
        const std::size_t last_left = at > begin ? at - 1 : begin;
        std::nth_element(place(begin), place(last_left), place(end),
                         [axis](const auto& a, const auto& b) { return a[axis] < b[axis]; });
        cut = centers_[last_left][axis];
        const auto divide = [&] {
            const auto right = std::partition(place(begin), place(end), [&](const auto& c) { return c[axis] <= cut; });
            return static_cast<std::size_t>(right - first);
        };
        std::size_t split = divide();
        if (split < end) return split;
        double below = -infinity;
        for (std::size_t i = begin; i < end; ++i)
            if (centers_[i][axis] < cut) below = std::max(below, centers_[i][axis]);
        if (below == -infinity) return split;  // all are equal: the right side stays empty
        cut = below;
        return divide();
    }

    Centers<D> centers_;
    CutTree<D> tree_;
};

}  // namespace

template <int D>
CutTree<D> CutMaker<D>::by_sample(const Communicator& comm, const Centers<D>& centers) {
    const Centers<D> mine = sample_of<D>(comm, centers);
    return Bisection<D>(gather_all<Vec<D, double>>(comm, mine)).into(comm.size());
}

template CutTree<2> CutMaker<2>::by_sample(const Communicator&, const Centers<2>&);
template CutTree<3> CutMaker<3>::by_sample(const Communicator&, const Centers<3>&);

}  // namespace quadrat::distributed
