// Rows of indices computed in parallel and handed on in ascending order, a bounded number at a time.
#pragma once

#include "base/parallel.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quadrat::cells {

/// Calls row(i, found, scratch) for every i in [0, rows), which appends to `found` and returns what it cost, a Work,
/// and then append(i, row i) in ascending order on the calling thread. Rows of one task share `scratch`, made by
/// make(). Returns the sum of the costs.
template <class Work = std::uint64_t, class Make, class Row, class Append>
Work in_order(Executor* executor, std::size_t rows, Make&& make, Row&& row, Append&& append) {
    constexpr std::size_t rows_per_task = 256;
    constexpr std::size_t tasks_per_wave = 32;
    struct Part {
        std::vector<std::uint32_t> found;
        std::vector<std::size_t> ends;
        Work work{};
    };
    const bool serial = base::thread_count(executor) == 1;
    std::vector<Part> parts(serial ? 1 : tasks_per_wave);
    for (std::size_t wave = 0; wave < rows; wave += parts.size() * rows_per_task) {
        const std::size_t count = std::min(parts.size(), base::chunk_count(rows - wave, rows_per_task));
        base::run_tasks(executor, count, [&](std::size_t k) {
            Part& part = parts[k];
            part.found.clear();
            part.ends.clear();
            auto scratch = make();
            const std::size_t begin = wave + k * rows_per_task;
            for (std::size_t i = begin; i < std::min(rows, begin + rows_per_task); ++i) {
                part.work += row(i, part.found, scratch);
                part.ends.push_back(part.found.size());
            }
        });
        for (std::size_t k = 0; k < count; ++k) {
            std::size_t begin = 0;
            for (std::size_t r = 0; r < parts[k].ends.size(); ++r) {
                const std::size_t end = parts[k].ends[r];
                append(wave + k * rows_per_task + r,
                       std::span<const std::uint32_t>(parts[k].found).subspan(begin, end - begin));
                begin = end;
            }
        }
    }
    Work work{};
    for (const Part& part : parts) work += part.work;
    return work;
}

}  // namespace quadrat::cells
