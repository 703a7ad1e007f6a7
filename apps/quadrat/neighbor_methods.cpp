#include "neighbor_methods.hpp"

#include <quadrat/cells/brute_force.hpp>
#include <quadrat/cells/hierarchical_hash.hpp>
#include <quadrat/cells/uniform_hash.hpp>
#include <quadrat/error.hpp>
#include <quadrat/neighbors/extended_spatial_hash.hpp>

#include "neighbors/index_seam.hpp"
#include "verb.hpp"

#include <limits>

namespace quadrat::cli {
namespace {

template <int D, class T>
class BruteNeighbors final : public NeighborFinder<D, T> {
  public:
    explicit BruteNeighbors(const NeighborSettings<D, T>& settings)
        : brute_({.executor = settings.executor}), radius_(settings.radius) {}
    void build(std::span<const Vec<D, T>> points) override { brute_.build(points); }
    void find(NeighborList& out) override { brute_.find_neighbors(radius_, out); }
    [[nodiscard]] std::uint64_t tested() const override { return std::uint64_t{brute_.size()} * brute_.size(); }

  private:
    BruteForce<D, T> brute_;
    T radius_;
};

template <int D, class T>
class UniformNeighbors final : public NeighborFinder<D, T> {
  public:
    explicit UniformNeighbors(const NeighborSettings<D, T>& settings)
        : hash_({.executor = settings.executor}), radius_(settings.radius) {}
    void build(std::span<const Vec<D, T>> points) override { hash_.build(points, radius_); }
    void find(NeighborList& out) override { hash_.find_neighbors(out); }
    [[nodiscard]] std::uint64_t tested() const override { return hash_.stats().tests; }

  private:
    UniformHash<D, T> hash_;
    T radius_;
};

// Finds neighbours while it inserts the points: there is nothing to build before.
template <int D, class T>
class OnTheFlyNeighbors final : public NeighborFinder<D, T> {
  public:
    explicit OnTheFlyNeighbors(const NeighborSettings<D, T>& settings)
        : hash_({.executor = settings.executor}), radius_(settings.radius) {}
    void build(std::span<const Vec<D, T>> points) override { points_ = points; }
    void find(NeighborList& out) override { hash_.find_neighbors(points_, radius_, out); }
    [[nodiscard]] std::uint64_t tested() const override { return hash_.stats().tests; }

  private:
    HierarchicalHash<D, T> hash_;
    T radius_;
    std::span<const Vec<D, T>> points_;
};

template <int D, class T>
class ExtendedNeighbors final : public NeighborFinder<D, T> {
  public:
    explicit ExtendedNeighbors(const NeighborSettings<D, T>& settings)
        : hash_({.radius = settings.radius, .rule = settings.rule, .executor = settings.executor}),
          radii_(settings.radii) {}
    void build(std::span<const Vec<D, T>> points) override {
        if (radii_.empty())
            hash_.build(points);
        else
            hash_.build(points, radii_);
    }
    void find(NeighborList& out) override { hash_.find_neighbors(out); }
    [[nodiscard]] std::uint64_t tested() const override { return hash_.stats().tests; }

  private:
    ExtendedSpatialHash<D, T> hash_;
    std::span<const T> radii_;
};

template <int D, class T>
class CellIndexNeighbors final : public NeighborFinder<D, T> {
  public:
    explicit CellIndexNeighbors(const NeighborSettings<D, T>& settings)
        : settings_(settings),
          index_({.radius = settings.radius,
                  .rule = settings.rule,
                  .skin = settings.skin,
                  .periodic = settings.periodic,
                  .max_bytes = settings.max_bytes ? settings.max_bytes : std::numeric_limits<std::size_t>::max(),
                  .executor = settings.executor}) {
        neighbors::IndexSeam<D, T>::subdivide(index_, settings.subdivision);
    }
    void build(std::span<const Vec<D, T>> points) override {
        if (settings_.radii.empty())
            index_.build(points);
        else
            index_.build(points, settings_.radii);
    }
    void update(std::span<const Vec<D, T>> points) override { index_.update(points); }
    void find(NeighborList& out) override {
        const NeighborSettings<D, T>& s = settings_;
        const NeighborOptions options{.half = s.half,
                                      .self = s.self,
                                      .distances = s.distances ? DistanceKind::distance : DistanceKind::none,
                                      .vectors = s.vectors,
                                      .shifts = s.shifts,
                                      .groups = s.groups,
                                      .searches = s.searches,
                                      .watch = s.watch};
        if (s.k > 0)
            s.searched_elsewhere ? index_.find_nearest(s.queries, s.k, out, s.limit)
                                 : index_.find_nearest(s.k, out, s.limit);
        else
            s.searched_elsewhere ? index_.find_neighbors(s.queries, out, options) : index_.find_neighbors(out, options);
    }

    [[nodiscard]] std::uint64_t tested() const override { return index_.stats().tests; }

  private:
    NeighborSettings<D, T> settings_;
    CellIndex<D, T> index_;
};

}  // namespace

std::string resolve_neighbor_method(const std::string& method) {
    return method == "auto" ? "cell-index" : method;
}

template <int D, class T>
std::unique_ptr<NeighborFinder<D, T>> make_neighbor_finder(const std::string& method,
                                                           const NeighborSettings<D, T>& settings) {
    if (method == "cell-index") return std::make_unique<CellIndexNeighbors<D, T>>(settings);
    const auto only_plain = [&](bool asked, const char* option) {
        if (asked) throw UsageError(std::string(option) + ": only with --method cell-index, not " + method);
    };
    only_plain(settings.periodic.active(), "--periodic");
    if (!settings.radii.empty() && method != "extended")
        throw UsageError("--radii: only with --method cell-index or extended, not " + method);
    if (!settings.radii.empty() && settings.half && !is_symmetric(settings.rule))
        throw Error(ErrorKind::unsupported, "a half list needs a symmetric rule: own radii have none",
                    Where{.field = "half"});
    only_plain(settings.k > 0, "--k");
    only_plain(settings.skin > 0, "--skin");
    only_plain(settings.self, "--self");
    only_plain(settings.vectors, "--vectors");
    only_plain(settings.shifts, "--shifts");
    only_plain(settings.searched_elsewhere, "--queries");
    only_plain(!settings.groups.empty(), "--groups");
    only_plain(settings.subdivision > 0, "--subdivision");
    if (method == "brute") return std::make_unique<BruteNeighbors<D, T>>(settings);
    if (method == "uniform") return std::make_unique<UniformNeighbors<D, T>>(settings);
    if (method == "hsh") return std::make_unique<OnTheFlyNeighbors<D, T>>(settings);
    if (method == "extended") return std::make_unique<ExtendedNeighbors<D, T>>(settings);
    throw UsageError("--method: unknown method '" + method + "'");
}

template std::unique_ptr<NeighborFinder<2, float>> make_neighbor_finder(const std::string&,
                                                                        const NeighborSettings<2, float>&);
template std::unique_ptr<NeighborFinder<2, double>> make_neighbor_finder(const std::string&,
                                                                         const NeighborSettings<2, double>&);
template std::unique_ptr<NeighborFinder<3, float>> make_neighbor_finder(const std::string&,
                                                                        const NeighborSettings<3, float>&);
template std::unique_ptr<NeighborFinder<3, double>> make_neighbor_finder(const std::string&,
                                                                         const NeighborSettings<3, double>&);

}  // namespace quadrat::cli
