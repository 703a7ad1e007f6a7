// What is asked of a BoxSet about places: what is there, what is nearest, what a ray or a moving box meets first. Many
// queries are asked in parts, so that Ctrl-C is seen and progress is told between two of them.
#include "broad_phase.hpp"

#include "base/parallel.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <optional>
#include <utility>

namespace quadrat::python {
namespace {

constexpr std::size_t queries_per_task = 64;  // so few that rays through a whole world take some milliseconds

// How many queries are asked at once: as many as take about 20 ms, at least one task per thread. What is found does not
// depend on it.
class PartSize {
  public:
    explicit PartSize(const Executor* executor) : smallest_(queries_per_task * base::thread_count(executor)) {}
    [[nodiscard]] std::size_t now() const { return size_; }
    void next() {
        const auto end = Clock::now();
        const double share = std::chrono::duration<double>(end - begin_).count() / 0.02;
        begin_ = end;
        if (share < 0.5 && size_ < std::size_t{1} << 20) size_ *= share < 0.1 ? 8 : 2;
        if (share > 2 && size_ > smallest_) size_ /= 2;
    }

  private:
    using Clock = std::chrono::steady_clock;
    Clock::time_point begin_ = Clock::now();
    std::size_t smallest_, size_ = smallest_;
};

QueryOptions options_of(const py::object& filter) {
    QueryOptions options;
    if (!filter.is_none()) {
        const auto pair = filter.cast<py::tuple>();
        options.filter = Filter{pair[0].cast<std::uint32_t>(), pair[1].cast<std::uint32_t>()};
    }
    return options;
}

// The error of the first of the queries [first, first + count) that one(k) refuses, with its row, which a call for many
// does not name.
template <class One>
Error placed(const Error& error, std::size_t first, std::size_t count, One&& one) {
    for (std::size_t k = first; error.kind() == ErrorKind::bad_value && k < first + count; ++k) {
        try {
            one(k);
        } catch (const Error& e) {
            Where where = e.where();
            if (where.index && !where.column) where.column = where.index;
            where.index = k;
            return {e.kind(), e.message(), where};
        }
    }
    return error;
}

// The argument that the column of a query was in.
template <int D, class T>
const char* argument_of(const Vec<D, T>&, std::optional<std::uint64_t>) {
    return "points";
}
template <int D, class T>
const char* argument_of(const Box<D, T>&, std::optional<std::uint64_t>) {
    return "boxes";
}
template <int D, class T>
const char* argument_of(const Sphere<D, T>&, std::optional<std::uint64_t>) {
    return "spheres";
}
template <int D, class T>
const char* argument_of(const Segment<D, T>&, std::optional<std::uint64_t>) {
    return "segments";
}
template <int D, class T>
const char* argument_of(const Ray<D, T>& ray, std::optional<std::uint64_t>) {
    bool origin = true, direction = true;
    for (int k = 0; k < D; ++k) {
        origin &= std::isfinite(ray.origin[k]);
        direction &= std::isfinite(ray.direction[k]);
    }
    return !origin ? "origins" : !direction ? "directions" : "lengths";
}

// ask(part of the queries, number of the first) for one part after the other; one(k) asks query k alone.
template <class Query, class Ask, class One>
void in_parts(std::span<const Query> queries, Call& call, const Executor* executor, Ask&& ask, One&& one) {
    PartSize part(executor);
    for (std::size_t first = 0; first < queries.size();) {
        const std::size_t count = std::min(part.now(), queries.size() - first);
        try {
            ask(queries.subspan(first, count), first);
        } catch (const Error& e) {
            const Error found = placed(e, first, count, one);
            Where where = found.where();
            if (!where.index) throw found;
            where.field = argument_of(queries[*where.index], where.column);
            throw Error(found.kind(), found.message(), where);
        }
        first += count;
        call.look_or_throw(static_cast<double>(first) / static_cast<double>(queries.size()));
        part.next();
    }
}

// one(k) for each query, on the threads of the executor, where there is no call for many.
template <class Query, class One>
void one_by_one(std::span<const Query> queries, Call& call, Executor* executor, One&& one) {
    const auto ask = [&](std::span<const Query> part, std::size_t first) {
        base::parallel_for(executor, part.size(), queries_per_task, [&](std::size_t begin, std::size_t end) {
            for (std::size_t k = begin; k < end; ++k) one(first + k);
        });
    };
    in_parts(queries, call, executor, ask, one);
}

void refuse_beyond(double bytes, std::size_t most) {
    if (bytes <= static_cast<double>(most)) return;
    char text[96];
    std::snprintf(text, sizeof text, "the result takes %.0f bytes, and %.0f are there", bytes,
                  static_cast<double>(most));
    throw Error(ErrorKind::too_large, text, {.field = "max_bytes"});
}

// More than the machine has is not even tried: the system would promise it, and end the process when it is written.
std::size_t physical_memory() {
    return static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// The rows of a part, ascending, behind those before it.
void append(QueryRows& rows, Executor* executor, std::vector<std::int64_t>& offsets,
            std::vector<std::uint32_t>& slots) {
    base::parallel_for(executor, rows.size(), queries_per_task, [&](std::size_t begin, std::size_t end) {
        for (std::size_t k = begin; k < end; ++k)
            std::sort(rows.slots.begin() + static_cast<std::ptrdiff_t>(rows.offsets[k]),
                      rows.slots.begin() + static_cast<std::ptrdiff_t>(rows.offsets[k + 1]));
    });
    const std::size_t before = slots.size();
    for (std::size_t k = 1; k < rows.offsets.size(); ++k)
        offsets.push_back(static_cast<std::int64_t>(before + rows.offsets[k]));
    if (before == 0)
        slots.swap(rows.slots);
    else
        slots.insert(slots.end(), rows.slots.begin(), rows.slots.end());
}

// Slots and distances, -1 and infinity where there is none.
template <class T>
struct Hits {
    explicit Hits(std::size_t count) : slots(count, -1), distances(count, std::numeric_limits<T>::infinity()) {}
    template <class Hit>
    void set(std::size_t k, const Hit& hit) {
        slots[k] = hit.slot;
        distances[k] = hit.distance;
    }
    template <class Hit>
    void set_all(std::size_t first, const std::vector<std::optional<Hit>>& hits) {
        for (std::size_t k = 0; k < hits.size(); ++k)
            if (hits[k]) set(first + k, *hits[k]);
    }
    py::tuple arrays() { return py::make_tuple(taken<std::int64_t>(std::move(slots)), taken<T>(std::move(distances))); }
    std::vector<std::int64_t> slots;
    std::vector<T> distances;
};

}  // namespace

py::tuple BoxSet::find(int shape, const py::array& given, const py::object& filter, py::object progress) {
    const QueryOptions options = options_of(filter);
    std::vector<std::int64_t> offsets{0};
    std::vector<std::uint32_t> slots;
    visit([&]<int D, class T>(Grid<D, T>& grid) {
        const auto find_rows = [&]<class Query>(std::span<const Query> queries) {
            Call call(std::move(progress), work_on(queries.size()));
            offsets.reserve(queries.size() + 1);
            call.read(lock_, [&] {
                QueryRows found;
                std::vector<std::uint32_t> row;
                in_parts(
                    queries, call, options_.executor,
                    [&](std::span<const Query> part, std::size_t) {
                        grid.find_all(part, found, options);
                        append(found, options_.executor, offsets, slots);
                        refuse_beyond(static_cast<double>(slots.size() * 4 + offsets.size() * 8), options_.max_bytes);
                    },
                    [&](std::size_t k) { grid.find(queries[k], row); });
            });
        };
        switch (shape) {
            case 0:
                return find_rows(points_of<D, T>(given));
            case 1:
                return find_rows(boxes_of<D, T>(given));
            case 2:
                return find_rows(rows<Sphere<D, T>, T>(given));
            case 3:
                return find_rows(rows<Segment<D, T>, T>(given));
            default:
                return find_rows(rows<Ray<D, T>, T>(given));
        }
    });
    return py::make_tuple(taken<std::int64_t>(std::move(offsets)), taken<std::int32_t>(std::move(slots)));
}

py::array BoxSet::find_any(const py::array& boxes, const py::object& filter) {
    const QueryOptions options = options_of(filter);
    return visit([&]<int D, class T>(Grid<D, T>& grid) {
        const auto given = boxes_of<D, T>(boxes);
        std::vector<std::int64_t> slots(given.size(), -1);
        Call call(py::none(), work_on(given.size()));
        call.read(lock_, [&] {
            one_by_one(given, call, options_.executor, [&](std::size_t k) {
                if (const auto slot = grid.find_any(given[k], options)) slots[k] = *slot;
            });
        });
        return taken<std::int64_t>(std::move(slots));
    });
}

py::tuple BoxSet::nearest(const py::array& points, const py::object& filter) {
    const QueryOptions options = options_of(filter);
    return visit([&]<int D, class T>(Grid<D, T>& grid) {
        const auto given = points_of<D, T>(points);
        Hits<T> hits(given.size());
        Call call(py::none(), work_on(given.size()));
        call.read(lock_, [&] {
            std::vector<std::optional<typename Grid<D, T>::Hit>> found;
            in_parts(
                given, call, options_.executor,
                [&](std::span<const Vec<D, T>> part, std::size_t first) {
                    grid.nearest(part, found, options);
                    hits.set_all(first, found);
                },
                [&](std::size_t k) { (void)grid.nearest(given[k], options); });
        });
        return hits.arrays();
    });
}

py::tuple BoxSet::k_nearest(const py::array& points, std::uint32_t count, const py::object& filter) {
    const QueryOptions options = options_of(filter);
    return visit([&]<int D, class T>(Grid<D, T>& grid) {
        const auto given = points_of<D, T>(points);
        const auto wanted = static_cast<double>(given.size()) * count * (sizeof(std::int64_t) + sizeof(T));
        refuse_beyond(wanted, std::min(options_.max_bytes, physical_memory()));
        Hits<T> hits(given.size() * count);
        Call call(py::none(), work_on(given.size()));
        call.read(lock_, [&] {
            one_by_one(given, call, options_.executor, [&](std::size_t k) {
                std::vector<typename Grid<D, T>::Hit> found;
                grid.nearest(given[k], count, found, options);
                for (std::size_t n = 0; n < found.size(); ++n) hits.set(k * count + n, found[n]);
            });
        });
        const py::tuple flat = hits.arrays();
        const Shape shape{static_cast<py::ssize_t>(given.size()), static_cast<py::ssize_t>(count)};
        return py::make_tuple(flat[0].cast<py::array>().reshape(shape), flat[1].cast<py::array>().reshape(shape));
    });
}

py::tuple BoxSet::closest_hits(const py::array& rays, const py::object& filter) {
    const QueryOptions options = options_of(filter);
    return visit([&]<int D, class T>(Grid<D, T>& grid) {
        const auto given = rows<Ray<D, T>, T>(rays);
        Hits<T> hits(given.size());
        Call call(py::none(), work_on(given.size()));
        call.read(lock_, [&] {
            std::vector<std::optional<typename Grid<D, T>::Hit>> found;
            in_parts(
                given, call, options_.executor,
                [&](std::span<const Ray<D, T>> part, std::size_t first) {
                    grid.closest_hits(part, found, options);
                    hits.set_all(first, found);
                },
                [&](std::size_t k) { (void)grid.closest_hit(given[k], options); });
        });
        return hits.arrays();
    });
}

py::tuple BoxSet::casts(const py::array& moving, bool spheres, const py::array& motions, const py::object& filter) {
    const QueryOptions options = options_of(filter);
    return visit_rows(moving, spheres, [&]<int D, class T, class Body>(Grid<D, T>& grid, std::span<const Body> given) {
        const auto along = points_of<D, T>(motions);
        if (along.size() != given.size())
            throw Error(ErrorKind::bad_shape, "as many motions as bodies are needed", {.field = "motions"});
        Hits<T> hits(given.size());
        Call call(py::none(), work_on(given.size()));
        call.read(lock_, [&] {
            one_by_one(given, call, options_.executor, [&](std::size_t k) {
                if (const auto hit = grid.cast(given[k], along[k], options)) hits.set(k, *hit);
            });
        });
        return hits.arrays();
    });
}

}  // namespace quadrat::python
