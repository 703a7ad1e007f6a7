// Cuts from Zoltan's RCB. Only the cuts are taken from it: its ids are 32 bits wide, and its own answer to whose a
// point is differs from its parts where points lie on a cut. Zoltan keeps the cuts to itself but gives the box of each
// part; parts are numbered in the order of its tree, so that the tree can be put together again from the boxes.
#include <quadrat/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "distributed/cuts.hpp"

#if QUADRAT_HAS_ZOLTAN
#include <zoltan.h>
#endif

namespace quadrat::distributed {

bool have_zoltan() {
#if QUADRAT_HAS_ZOLTAN
    return true;
#else
    return false;
#endif
}

#if QUADRAT_HAS_ZOLTAN
namespace {

// The bounds of a part that has no bound are the largest double.
constexpr double no_bound = 1.7e308;

template <int D>
struct PartBox {
    Vec<D, double> lo, hi;
};

/// One partition: Zoltan's objects live as long as this.
template <int D>
class Rcb {
  public:
    Rcb(const Communicator& comm, const Centers<D>& centers) : comm_(comm), centers_(centers) {
        float version = 0;
        Zoltan_Initialize(0, nullptr, &version);
        zoltan_ = Zoltan_Create(comm.handle());
        constexpr std::array<const char*, 2> parameters[] = {
            {"DEBUG_LEVEL", "0"},  // first: the other calls print
            {"LB_METHOD", "RCB"},      {"LB_APPROACH", "PARTITION"},
            {"NUM_GID_ENTRIES", "1"},  {"NUM_LID_ENTRIES", "0"},
            {"OBJ_WEIGHT_DIM", "0"},   {"RETURN_LISTS", "NONE"},
            {"KEEP_CUTS", "1"},        {"REMAP", "0"},  // parts keep the order of the tree
            {"RCB_OUTPUT_LEVEL", "0"}, {"CHECK_GEOM", "0"},
            {"IMBALANCE_TOL", "1.05"}};
        for (const auto& [name, value] : parameters) Zoltan_Set_Param(zoltan_, name, value);
        Zoltan_Set_Num_Obj_Fn(zoltan_, count, this);
        Zoltan_Set_Obj_List_Fn(zoltan_, list, this);
        Zoltan_Set_Num_Geom_Fn(zoltan_, dimension, this);
        Zoltan_Set_Geom_Multi_Fn(zoltan_, coordinates, this);
    }
    ~Rcb() { Zoltan_Destroy(&zoltan_); }
    Rcb(const Rcb&) = delete;
    Rcb& operator=(const Rcb&) = delete;

    /// The box of each part.
    std::vector<PartBox<D>> parts() {
        int changes, gids, lids, imports, exports, *procs[2] = {}, *to[2] = {};
        ZOLTAN_ID_PTR global[2] = {}, local[2] = {};
        const int code = Zoltan_LB_Partition(zoltan_, &changes, &gids, &lids, &imports, &global[0], &local[0],
                                             &procs[0], &to[0], &exports, &global[1], &local[1], &procs[1], &to[1]);
        std::vector<PartBox<D>> boxes(static_cast<std::size_t>(comm_.size()));
        together(comm_, [&] {
            if (code != ZOLTAN_OK && code != ZOLTAN_WARN)
                throw Error(ErrorKind::too_large, "Zoltan cannot cut " + std::to_string(centers_.size()) +
                                                      " centres, code " + std::to_string(code));
            for (std::size_t p = 0; p < boxes.size(); ++p) {
                double lo[3], hi[3];
                int dimensions;
                Zoltan_RCB_Box(zoltan_, static_cast<int>(p), &dimensions, &lo[0], &lo[1], &lo[2], &hi[0], &hi[1],
                               &hi[2]);
                for (int k = 0; k < D; ++k) {
                    boxes[p].lo[k] = lo[k];
                    boxes[p].hi[k] = hi[k];
                }
            }
        });
        return boxes;
    }

  private:
    static const Centers<D>& centers(void* self) { return static_cast<Rcb*>(self)->centers_; }
    static int count(void* self, int* code) {
        *code = ZOLTAN_OK;
        return static_cast<int>(centers(self).size());
    }
    static int dimension(void*, int* code) {
        *code = ZOLTAN_OK;
        return D;
    }
    static void list(void* self, int, int, ZOLTAN_ID_PTR ids, ZOLTAN_ID_PTR, int, float*, int* code) {
        for (std::size_t i = 0; i < centers(self).size(); ++i) ids[i] = static_cast<ZOLTAN_ID_TYPE>(i);
        *code = ZOLTAN_OK;
    }
    static void coordinates(void* self, int, int, int n, ZOLTAN_ID_PTR, ZOLTAN_ID_PTR, int, double* out, int* code) {
        std::memcpy(out, centers(self).data(), static_cast<std::size_t>(n) * sizeof(Vec<D, double>));
        *code = ZOLTAN_OK;
    }

    const Communicator& comm_;
    const Centers<D>& centers_;
    Zoltan_Struct* zoltan_ = nullptr;
};

/// The tree whose leaves are the parts [a, b): cut where the upper bounds of [a, m) and the lower bounds of [m, b)
/// meet. Zoltan halves the number of parts, so m is tried from the middle outwards.
template <int D>
class TreeOfParts {
  public:
    explicit TreeOfParts(const std::vector<PartBox<D>>& parts) : parts_(parts) {}

    CutTree<D> tree() {
        build(0, static_cast<int>(parts_.size()));
        return std::move(tree_);
    }

  private:
    std::int32_t build(int a, int b) {
        if (b - a == 1) return ~a;
        const int middle = a + (b - a) / 2;
        for (int off = 0; off <= b - a; ++off)
            for (const int m : {middle - off, middle + off})
                if (a < m && m < b)
                    for (int k = 0; k < D; ++k)
                        if (double cut; meet(a, m, b, k, cut)) {
                            const std::size_t node = tree_.nodes.size();
                            tree_.nodes.emplace_back();
                            const std::int32_t l = build(a, m), r = build(m, b);
                            tree_.nodes[node] = {cut, k, l, r};
                            return static_cast<std::int32_t>(node);
                        }
        throw Error(ErrorKind::unsupported, "the parts of Zoltan are not those of a tree of cuts");
    }
    bool meet(int a, int m, int b, int axis, double& cut) const {
        double up = -infinity, down = infinity;
        for (int p = a; p < m; ++p) up = std::max(up, parts_[static_cast<std::size_t>(p)].hi[axis]);
        for (int p = m; p < b; ++p) down = std::min(down, parts_[static_cast<std::size_t>(p)].lo[axis]);
        cut = up;
        return up <= down && up < no_bound && down > -no_bound;
    }

    const std::vector<PartBox<D>>& parts_;
    CutTree<D> tree_;
};

}  // namespace
#endif

template <int D>
CutTree<D> CutMaker<D>::by_zoltan(const Communicator& comm, const Centers<D>& centers) {
#if QUADRAT_HAS_ZOLTAN
    CutTree<D> tree;
    if (comm.size() == 1 || comm.sum(centers.size()) == 0) return tree;
    const std::vector<PartBox<D>> parts = Rcb<D>(comm, centers).parts();
    together(comm, [&] { tree = TreeOfParts<D>(parts).tree(); });
    return tree;
#else
    (void)centers;
    together(comm, [] { throw Error(ErrorKind::unsupported, "this build has no Zoltan", {.field = "cuts"}); });
    return {};
#endif
}

template CutTree<2> CutMaker<2>::by_zoltan(const Communicator&, const Centers<2>&);
template CutTree<3> CutMaker<3>::by_zoltan(const Communicator&, const Centers<3>&);

}  // namespace quadrat::distributed
