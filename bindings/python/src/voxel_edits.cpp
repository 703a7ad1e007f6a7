// Voxels whose positions come and go, and rays through voxels.
#include "voxel_rays.hpp"

#include "bind.hpp"

#include "base/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

namespace quadrat::python {
namespace {

constexpr std::size_t rays_per_task = 256;

template <int D>
std::span<const VoxelRay<D>> rays_of(const py::array& given) {
    static_assert(sizeof(VoxelRay<D>) == (2 * D + 1) * sizeof(double));
    return rows<VoxelRay<D>, double>(given);
}

// work(begin, end) for all rays, on threads, so that Ctrl-C ends it; an error names the ray.
template <class Work>
void in_tasks(std::size_t count, unsigned threads, Work&& work) {
    Executor* const pool = executor_of(threads);
    Call call(py::none(), count > 20'000 ? Call::Work::aside : Call::Work::here);
    StoppingExecutor executor(call, pool);
    call.run([&] {
        base::parallel_for(&executor, count, rays_per_task, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) {
                try {
                    work(k);
                } catch (const Error& e) {
                    throw Error(e.kind(), e.message(), {.index = k, .field = "rays"});
                }
            }
        });
    });
}

// The row of a value in an array of Python's for each position; rows of what is erased are given out again. Values of
// any type and shape are then NumPy's affair, and one kind of EditableVoxels is compiled for all of them.
template <int D>
class RowNumbers {
  public:
    using Map = EditableVoxels<std::uint32_t, D>;

    /// Rows 0, 1, 2, ... for these positions.
    void assign(std::span<const Voxel<D>> positions) {
        std::vector<std::uint32_t> numbers(positions.size());
        for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = static_cast<std::uint32_t>(k);
        VoxelOptions options;
        map_ = Map(SparseVoxels<std::uint32_t, D>::pack(positions, std::span<const std::uint32_t>(numbers), options),
                   options);
        rows_ = static_cast<std::uint32_t>(numbers.size());
        free_.clear();
    }
    /// All of them or, where one does not fit, none.
    std::vector<std::int64_t> insert(std::span<const Voxel<D>> positions) {
        std::vector<std::int64_t> out(positions.size());
        std::vector<Voxel<D>> added;
        for (std::size_t k = 0; k < positions.size(); ++k) {
            if (const std::uint32_t* const there = map_.find(positions[k])) {
                out[k] = *there;
                continue;
            }
            const std::uint32_t row = free_.empty() ? rows_ : free_.back();
            try {
                map_.insert(positions[k], row);
                added.push_back(positions[k]);
            } catch (const Error& e) {
                erase(added);
                Where where = e.where();
                where.index = k;
                where.field = "positions";
                throw Error(e.kind(), e.message(), where);
            }
            if (free_.empty())
                ++rows_;
            else
                free_.pop_back();
            out[k] = row;
        }
        tidy();
        return out;
    }
    /// How many there were.
    std::size_t erase(std::span<const Voxel<D>> positions) {
        std::size_t count = 0;
        for (const Voxel<D>& p : positions) {
            const std::uint32_t* const there = map_.find(p);
            if (!there) continue;
            free_.push_back(*there);
            map_.erase(p);
            ++count;
        }
        tidy();
        return count;
    }
    std::vector<std::int64_t> find(std::span<const Voxel<D>> positions) const {
        std::vector<std::uint32_t> rows(positions.size());
        map_.at(positions, rows, std::numeric_limits<std::uint32_t>::max());
        std::vector<std::int64_t> out(rows.size());
        for (std::size_t k = 0; k < rows.size(); ++k)
            out[k] = rows[k] == std::numeric_limits<std::uint32_t>::max() ? -1 : std::int64_t{rows[k]};
        return out;
    }
    /// (positions, rows), in no particular order that is documented, and always the same.
    py::tuple all() const {
        std::vector<Voxel<D>> positions;
        std::vector<std::int64_t> numbers;
        map_.for_each([&](const Voxel<D>& p, std::uint32_t row) {
            positions.push_back(p);
            numbers.push_back(row);
        });
        return py::make_tuple(taken<std::int32_t>(std::move(positions)), taken<std::int64_t>(std::move(numbers)));
    }
    [[nodiscard]] std::size_t size() const { return map_.size(); }
    [[nodiscard]] std::size_t rows() const { return rows_; }

  private:
    void tidy() {
        if (map_.should_repack()) map_.repack();
    }

    Map map_;
    std::uint32_t rows_ = 0;           // rows that were given out
    std::vector<std::uint32_t> free_;  // of these, what holds nothing now
};

class VoxelEdits {
  public:
    explicit VoxelEdits(int dimension) {
        if (dimension == 2) numbers_.emplace<RowNumbers<2>>();
    }
    void assign(const py::array& positions) {
        change(positions, [](auto& numbers, auto given) { numbers.assign(given); });
    }
    py::array insert(const py::array& positions) {
        std::vector<std::int64_t> out;
        change(positions, [&](auto& numbers, auto given) { out = numbers.insert(given); });
        return taken<std::int64_t>(std::move(out));
    }
    std::size_t erase(const py::array& positions) {
        std::size_t count = 0;
        change(positions, [&](auto& numbers, auto given) { count = numbers.erase(given); });
        return count;
    }
    py::array find(const py::array& positions) {
        return std::visit(
            [&]<int D>(RowNumbers<D>& numbers) {
                const auto given = python::rows<Voxel<D>, std::int32_t>(positions);
                std::vector<std::int64_t> out;
                Call().read(lock_, [&] { out = numbers.find(given); });
                return taken<std::int64_t>(std::move(out));
            },
            numbers_);
    }
    py::tuple all() {
        const ObjectLock::Use use(lock_);
        return std::visit([](const auto& numbers) { return numbers.all(); }, numbers_);
    }
    std::size_t size() {
        return std::visit([](const auto& numbers) { return numbers.size(); }, numbers_);
    }
    std::size_t rows() {
        return std::visit([](const auto& numbers) { return numbers.rows(); }, numbers_);
    }

  private:
    template <class Fn>
    void change(const py::array& positions, Fn&& fn) {
        std::visit(
            [&]<int D>(RowNumbers<D>& numbers) {
                const auto given = python::rows<Voxel<D>, std::int32_t>(positions);
                Call().write(lock_, [&] { fn(numbers, given); });
            },
            numbers_);
    }

    std::variant<RowNumbers<3>, RowNumbers<2>> numbers_;
    ObjectLock lock_;
};

}  // namespace

py::tuple RayMarcher::first(const py::array& given, unsigned threads) const {
    return std::visit(
        [&]<int D>(const VoxelRays<D>& marcher) {
            const auto rays = rays_of<D>(given);
            const double none = std::numeric_limits<double>::infinity();
            std::vector<std::int64_t> places(rays.size(), -1);
            std::vector<Voxel<D>> positions(rays.size());
            std::vector<double> enter(rays.size(), none), leave(rays.size(), none);
            in_tasks(rays.size(), threads, [&](std::size_t k) {
                RayHit<D> hit;
                if (!marcher.first(rays[k], hit)) return;
                places[k] = hit.place;
                positions[k] = hit.p;
                enter[k] = hit.enter;
                leave[k] = hit.leave;
            });
            return py::make_tuple(taken<std::int64_t>(std::move(places)), taken<std::int32_t>(std::move(positions)),
                                  taken<double>(std::move(enter)), taken<double>(std::move(leave)));
        },
        rays_);
}

py::tuple RayMarcher::march(const py::array& given, unsigned threads) const {
    return std::visit(
        [&]<int D>(const VoxelRays<D>& marcher) {
            const auto rays = rays_of<D>(given);
            std::vector<std::vector<RayHit<D>>> found(rays.size());
            in_tasks(rays.size(), threads, [&](std::size_t k) {
                marcher.march(rays[k], [&](const RayHit<D>& h) { found[k].push_back(h); });
            });
            std::vector<std::int64_t> offsets{0}, places;
            std::vector<Voxel<D>> positions;
            std::vector<double> enter, leave;
            for (const auto& row : found) {
                for (const RayHit<D>& hit : row) {
                    places.push_back(hit.place);
                    positions.push_back(hit.p);
                    enter.push_back(hit.enter);
                    leave.push_back(hit.leave);
                }
                offsets.push_back(static_cast<std::int64_t>(places.size()));
            }
            return py::make_tuple(taken<std::int64_t>(std::move(offsets)), taken<std::int64_t>(std::move(places)),
                                  taken<std::int32_t>(std::move(positions)), taken<double>(std::move(enter)),
                                  taken<double>(std::move(leave)));
        },
        rays_);
}

void bind_voxel_edits(py::module_& module) {
    py::class_<VoxelEdits>(module, "VoxelEdits")
        .def(py::init<int>(), "dimension"_a)
        .def("assign", &VoxelEdits::assign, "positions"_a)
        .def("insert", &VoxelEdits::insert, "positions"_a)
        .def("erase", &VoxelEdits::erase, "positions"_a)
        .def("find", &VoxelEdits::find, "positions"_a)
        .def("all", &VoxelEdits::all)
        .def("size", &VoxelEdits::size)
        .def("rows", &VoxelEdits::rows);
    py::class_<RayMarcher>(module, "VoxelRays")
        .def("first", &RayMarcher::first, "rays"_a, "threads"_a)
        .def("march", &RayMarcher::march, "rays"_a, "threads"_a);
}

}  // namespace quadrat::python
