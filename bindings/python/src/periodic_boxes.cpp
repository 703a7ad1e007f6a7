// Boxes in a world that repeats itself: PeriodicBoxes of any kind, what BroadPhase of Python is with a box.
#include "arrays.hpp"
#include "bind.hpp"
#include "broad_phase.hpp"
#include "calls.hpp"

#include <quadrat/broad_phase/periodic_boxes.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace quadrat::python {
namespace {

template <int D, class T>
using World = PeriodicBoxes<D, T>;
using AnyWorld = base::AnyOf<World>;

class PeriodicSet {
  public:
    /// period: D lengths in double, 0 where the world is open.
    PeriodicSet(bool single, const py::array& period, unsigned threads, std::size_t max_bytes)
        : executor_(executor_of(threads)),
          world_(base::dispatch(static_cast<int>(period.size()), single ? base::Scalar::f32 : base::Scalar::f64,
                                [&]<int D, class T>() -> AnyWorld {
                                    typename World<D, T>::Options options;
                                    const auto lengths = elements<double>(period);
                                    for (int k = 0; k < D; ++k)
                                        options.period[k] = static_cast<T>(lengths[static_cast<std::size_t>(k)]);
                                    options.grid = grid_options(threads, max_bytes);
                                    options.grid.watch.report = [this](double fraction) {
                                        if (Call* const call = under_way_) call->look_or_throw(fraction);
                                    };
                                    return World<D, T>(options);
                                })) {}

    void update(const py::array& boxes) {
        std::visit(
            [&]<int D, class T>(World<D, T>& world) {
                const auto given = boxes_of<D, T>(boxes);
                naming("boxes", [&] {
                    Call().write(lock_, [&] {
                        world.update(given);
                        size_ = world.size();
                    });
                });
            },
            world_);
    }
    /// (pairs, shifts)
    py::tuple find_pairs(bool sorted, py::object progress) {
        finding_.renew();
        Call call(std::move(progress), worth_a_thread(executor_, size_) ? Call::Work::aside : Call::Work::here);
        return std::visit(
            [&]<int D, class T>(World<D, T>& world) {
                std::vector<ImagePair<D>> found;
                std::vector<Pair> pairs;
                std::vector<Vec<D, std::int32_t>> shifts;
                call.read(lock_, [&] {
                    const std::lock_guard only_one(finding_.get());
                    const Telling now(under_way_, call);
                    world.find_pairs(found);
                    if (sorted)
                        std::sort(found.begin(), found.end(), [](const ImagePair<D>& a, const ImagePair<D>& b) {
                            return std::tie(a.first, a.second, a.shift.v) < std::tie(b.first, b.second, b.shift.v);
                        });
                    pairs.reserve(found.size());
                    shifts.reserve(found.size());
                    for (const auto& [first, second, shift] : found) {
                        pairs.emplace_back(first, second);
                        shifts.push_back(shift);
                    }
                });
                return py::make_tuple(pairs_array(std::move(pairs)), taken<std::int32_t>(std::move(shifts)));
            },
            world_);
    }
    [[nodiscard]] std::size_t size() const { return size_; }
    py::dict stats() {
        return std::visit(
            [&](auto& world) {
                PeriodicBoxesStats s;
                Call().read(lock_, [&] { s = world.stats(); });
                return py::dict("images"_a = s.images, "tests"_a = s.tests, "bytes"_a = s.bytes);
            },
            world_);
    }

  private:
    // The watch of a world is given when it is made, so that it asks here whom to tell.
    class Telling {
      public:
        Telling(std::atomic<Call*>& whom, Call& call) : whom_(whom) { whom_ = &call; }
        ~Telling() { whom_ = nullptr; }
        Telling(const Telling&) = delete;
        Telling& operator=(const Telling&) = delete;

      private:
        std::atomic<Call*>& whom_;
    };

    std::atomic<std::size_t> size_ = 0;
    ForkSafe<std::mutex> finding_;
    std::atomic<Call*> under_way_ = nullptr;
    Executor* executor_;
    AnyWorld world_;
    ObjectLock lock_;
};

}  // namespace

void bind_periodic_boxes(py::module_& module) {
    py::class_<PeriodicSet>(module, "PeriodicBoxes")
        .def(py::init<bool, const py::array&, unsigned, std::size_t>(), "single"_a, "period"_a, "threads"_a,
             "max_bytes"_a)
        .def("update", &PeriodicSet::update, "boxes"_a)
        .def("find_pairs", &PeriodicSet::find_pairs, "sorted"_a, "progress"_a)
        .def("size", &PeriodicSet::size)
        .def("stats", &PeriodicSet::stats);
}

}  // namespace quadrat::python
