#include "broad_phase/sorted/grid_set.hpp"

#include "broad_phase/sorted/distribute.hpp"
#include "broad_phase/sorted/kernels/fine_kernel.hpp"
#include "broad_phase/sorted/size_classes.hpp"

namespace quadrat::broad_phase {
namespace {

constexpr std::size_t least_sample = 1024, largest_sample = 8192;  // boxes, of which classes are chosen
// Bytes of records up to which boxes are checked first: memory that is used in every step then stays in the
// second-level cache (docs/decisions/0082-fused-detection.md).
constexpr std::size_t kept_in_cache = std::size_t{6} << 20;

/// About so many boxes for which a grid can be made.
template <int D, class T>
std::vector<Box<D, T>> draw_sample(const BoxInput<D, T>& input, std::size_t wanted) {
    std::vector<Box<D, T>> sample;
    const std::size_t n = input.boxes.size();
    // One of each run of `stride` boxes, by chance: any fixed place in them may be that of one kind only. The high half
    // of the product with 2^64 / golden ratio is a number below 2^32 that looks random:
    //   (run + 1) * 0x9e37..15  =  [ 32 bits: used ][ 32 bits: dropped ]
    const std::size_t stride = std::max<std::size_t>(1, n / wanted);
    for (std::size_t run = 0; run < n; run += stride) {
        const std::size_t i = run + (((run + 1) * 0x9e3779b97f4a7c15u) >> 32) * stride / (std::uint64_t{1} << 32);
        if (i < n && !input.skipped(i) && regular(input.boxes[i])) sample.push_back(input.boxes[i]);
    }
    return sample;
}

/// Appends runs of lines, slabs or rows, of about so many objects; objects_to(i) are those before line i.
template <class Job, class ObjectsTo>
void cut_lines(std::uint32_t grid, std::size_t lines, std::size_t objects, ObjectsTo&& objects_to,
               std::vector<Job>& jobs) {
    QUADRAT_ASSERT(objects != 0);
    for (std::size_t line = 0; line < lines;) {
        const std::size_t enough = objects_to(line) + objects;
        std::size_t end = line + 1, step = 1;
        for (; end < lines && objects_to(end) < enough; step *= 2) end = std::min(lines, end + step);
        // Gone too far by at most half: go back to the first line that is enough.
        std::size_t low = line + 1, high = end;
        while (low < high) {
            const std::size_t middle = (low + high) / 2;
            if (objects_to(middle) < enough && middle < lines)
                low = middle + 1;
            else
                high = middle;
        }
        jobs.push_back({grid, grid, line, low});
        line = low;
    }
}

/// Appends ranges of the boxes of a grid.
template <class Job>
void cut_boxes(std::uint32_t home, std::uint32_t grid, std::size_t size, std::size_t objects, bool swapped,
               std::vector<Job>& jobs) {
    QUADRAT_ASSERT(objects != 0);  // or it would never end
    for (std::size_t b = 0; b < size;) {
        const std::size_t end = size - b > objects ? b + objects : size;
        jobs.push_back({home, grid, b, end, swapped});
        b = end;
    }
}

}  // namespace

template <int D, class T>
std::size_t BoxInput<D, T>::live() const {
    return boxes.size() -
           static_cast<std::size_t>(std::count_if(skip.begin(), skip.end(), [](auto s) { return s != 0; }));
}

template <int D, class T>
auto GridSet<D, T>::distribute(const BoxInput<D, T>& input, std::size_t all_pairs_below, Executor* executor) -> Rest {
    const std::size_t n = input.boxes.size(), live = input.live();
    if (live <= all_pairs_below) {
        const Shape single_cell;
        return distribute(input, std::span(&single_cell, 1), executor);
    }
    const std::vector<BoxT> sample = draw_sample(input, std::clamp(n / 32, least_sample, largest_sample));
    Rest rest = distribute(input, SizeClasses<D, T>::choose(sample, live), executor);
    if (rest.misfits.size() <= live / 16 || sample.size() >= live) return rest;
    // The sample was not representative. What was there may be overwritten by now: no stop any more.
    BoxInput<D, T> to_the_end = input;
    to_the_end.stop = {};
    return distribute(to_the_end, SizeClasses<D, T>::choose(draw_sample(input, n), live), executor);
}

// Bad boxes must leave everything as it was. A large set is put beside the old one; a small set is checked before the
// first box is put away.
template <int D, class T>
auto GridSet<D, T>::distribute(const BoxInput<D, T>& input, std::span<const Shape> shapes, Executor* executor) -> Rest {
    const Distribution<D, T> distribution(input, shapes, executor);
    const bool check_first = checks_first(input.boxes.size());
    beside_ = !grids_.empty() && !check_first;
    if (check_first) distribution.check_all(block_cells_);
    Rest rest = distribution.put_all(beside_ ? spare_ : partition_, check_first ? block_cells_.data() : nullptr);
    distributed_.assign(shapes.begin(), shapes.end());
    return rest;
}

template <int D, class T>
bool GridSet<D, T>::checks_first(std::size_t boxes) const {
    return !grids_.empty() && boxes * sizeof(Record<D, T>) <= kept_in_cache;
}

template <int D, class T>
void GridSet<D, T>::commit(const FilterTable* filters, Keep keep, Executor* executor) {
    if (beside_) std::swap(partition_, spare_);
    beside_ = false;
    filters_ = filters;
    filters_changed_ = false;
    keep_ = keep;
    grids_.clear();
    size_ = 0;
    std::size_t slab = 0;
    bool need_columns = keep == Keep::columns || distributed_.size() > 1;
    for (const Shape& shape : distributed_) {
        const std::size_t first_slab = slab;
        std::size_t size = 0;
        for (; slab < first_slab + shape.slabs; ++slab) size += partition_.size(slab);
        // A single cell has no neighbourhood, and rows of a wrapped grid hold boxes from all over the world.
        const bool fine = keep != Keep::columns && !shape.wrapped() && shape.cells() > 1;
        need_columns = need_columns || !fine;
        grids_.push_back({shape, first_slab, size, fine});
        size_ += size;
    }
    columns_ready_ = false;
    if (columns_used_.exchange(false) || need_columns) make_columns(executor);
    if (keep == Keep::columns) partition_ = {};
}

template <int D, class T>
void GridSet<D, T>::make_columns(Executor* executor) const {
    if (columns_.size() < grids_.size()) columns_.resize(grids_.size());
    for (std::size_t g = 0; g < grids_.size(); ++g)
        columns_[g].build(grids_[g].shape, partition_, grids_[g].first_slab,
                          keep_ == Keep::both ? Copy::columns_and_records : Copy::columns, executor);
    if (filtered()) fill_column_filters(executor);
    columns_ready_.store(true, std::memory_order_release);
}

template <int D, class T>
void GridSet<D, T>::fill_column_filters(Executor* executor) const {
    QUADRAT_ASSERT(filtered() && columns_.size() >= grids_.size());
    for (std::size_t g = 0; g < grids_.size(); ++g) columns_[g].fill_filters(filters_->values(), executor);
    column_filters_ready_.store(true, std::memory_order_release);
}

template <int D, class T>
void GridSet<D, T>::forget() {
    grids_.clear();
    size_ = 0;
}

template <int D, class T>
void GridSet<D, T>::release() {
    forget();
    columns_.clear();
    partition_ = {};
    spare_ = {};
}

template <int D, class T>
GridSet<D, T>::Window::~Window() {
    if (!window_) return;
    const std::lock_guard lock(set_.window_mutex_);
    set_.windows_.push_back(std::move(window_));
}

template <int D, class T>
FineWindow<D, T>& GridSet<D, T>::Window::on(std::size_t grid) {
    QUADRAT_ASSERT(grid < set_.grids_.size());
    if (!window_) {
        const std::lock_guard lock(set_.window_mutex_);
        if (set_.windows_.empty()) {
            set_.windows_.reserve(++set_.window_count_);  // room to give it back
            window_ = std::make_unique<FineWindow<D, T>>();
        } else {
            window_ = std::move(set_.windows_.back());
            set_.windows_.pop_back();
        }
    }
    if (grid_ != grid) {
        const Grid& g = set_.grids_[grid];
        QUADRAT_ASSERT(g.fine);
        window_->open(g.shape, set_.partition_, g.first_slab, g.size, set_.filtered() ? set_.filters_ : nullptr,
                      set_.filters_changed_);
        grid_ = grid;
    }
    return *window_;
}

template <int D, class T>
void GridSet<D, T>::cut_within(std::uint32_t g, const Cut& cut, std::vector<Job>& jobs) const {
    const Grid& grid = grids_[g];
    if (!grid.fine) {
        const GridView<D, T> columns = view(g);
        return cut_lines(
            g, grid.shape.rows, cut.objects, [&](std::size_t r) { return columns.start[r * grid.shape.bins()]; }, jobs);
    }
    std::vector<std::size_t> before(grid.shape.slabs + 1, 0);
    for (std::size_t s = 0; s < grid.shape.slabs; ++s) before[s + 1] = before[s] + partition_.size(grid.first_slab + s);
    cut_lines(
        g, grid.shape.slabs, std::max(least_fine_piece, grid.size / cut.fine_pieces),
        [&](std::size_t s) { return before[s]; }, jobs);
}

template <int D, class T>
auto GridSet<D, T>::jobs(const Cut& cut) const -> std::vector<Job> {
    QUADRAT_ASSERT(cut.objects != 0 && cut.fine_pieces != 0);
    std::vector<Job> all;
    const auto count = static_cast<std::uint32_t>(grids_.size());
    for (std::uint32_t g = 0; g < count; ++g) {
        cut_within(g, cut, all);
        for (std::uint32_t h = g + 1; h < count; ++h)
            if (overlap(grids_[g].shape.inside, grids_[h].shape.inside))
                cut_boxes(g, h, grids_[g].size, cut.objects, false, all);
    }
    return all;
}

template <int D, class T>
std::uint64_t GridSet<D, T>::run(const Job& job, Window& window, PairBuffer& out) const {
    QUADRAT_ASSERT(job.home < grids_.size() && job.home <= job.grid && job.grid < grids_.size());
    if (job.home != job.grid)
        return pairs_between(view_for_pairs(job.home), job.begin, job.end, view_for_pairs(job.grid), true, out);
    const auto begin = static_cast<std::uint32_t>(job.begin), end = static_cast<std::uint32_t>(job.end);
    if (!grids_[job.home].fine) return pairs_within(view_for_pairs(job.home), begin, end, out);
    std::uint64_t tests = 0;
    for (std::uint32_t slab = begin; slab < end; ++slab) tests += fine_pairs_of_slab(window.on(job.home), slab, out);
    return tests;
}

template <int D, class T>
auto GridSet<D, T>::jobs_between(const GridSet& a, const GridSet& b, std::size_t objects) -> std::vector<Job> {
    std::vector<Job> all;
    for (std::uint32_t g = 0; g < a.grids_.size(); ++g)
        for (std::uint32_t h = 0; h < b.grids_.size(); ++h) {
            const Grid &u = a.grids_[g], &v = b.grids_[h];
            // The grid with more cells has the smaller boxes or the more of them: those look for the others, unless
            // they are far more.
            if (u.size < v.size / 8 || (u.shape.cells() >= v.shape.cells() && v.size >= u.size / 8))
                cut_boxes(g, h, u.size, objects, false, all);
            else
                cut_boxes(h, g, v.size, objects, true, all);
        }
    return all;
}

template <int D, class T>
std::uint64_t GridSet<D, T>::run_between(const GridSet& a, const GridSet& b, const Job& job, PairBuffer& out) {
    const GridSet& homes = job.swapped ? b : a;
    const GridSet& others = job.swapped ? a : b;
    QUADRAT_ASSERT(job.home < homes.grids_.size() && job.grid < others.grids_.size());
    return pairs_between(homes.view_for_pairs(job.home), job.begin, job.end, others.view_for_pairs(job.grid), false,
                         out);
}

template <int D, class T>
std::size_t GridSet<D, T>::bytes() const {
    std::size_t sum = partition_.bytes() + spare_.bytes() + block_cells_.bytes() + grids_.capacity() * sizeof(Grid) +
                      distributed_.capacity() * sizeof(Shape);
    {
        const std::lock_guard lock(columns_mutex_);
        for (const auto& grid : columns_) sum += grid.bytes();
        sum += columns_.capacity() * sizeof(columns_[0]);
    }
    const std::lock_guard lock(window_mutex_);
    for (const auto& window : windows_) sum += sizeof(*window) + window->bytes();
    return sum + windows_.capacity() * sizeof(windows_[0]);
}

template struct BoxInput<2, float>;
template struct BoxInput<3, float>;
template struct BoxInput<2, double>;
template struct BoxInput<3, double>;
template class GridSet<2, float>;
template class GridSet<3, float>;
template class GridSet<2, double>;
template class GridSet<3, double>;

}  // namespace quadrat::broad_phase
