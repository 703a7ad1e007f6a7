// The files of a neighbour list: PREFIX.offsets.npy, PREFIX.indices.npy and what stands beside them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "io/files.hpp"
#include "io/table/npy.hpp"
#include "neighbor_rows.hpp"

namespace quadrat::cli {

/// The output files, opened before the work and named together when all are complete.
template <int D, class T>
class NeighborOutputs {
  public:
    NeighborOutputs(const std::string& prefix, bool distances, bool vectors, bool shifts) {
        if (prefix.empty()) return;
        const auto open = [&](bool asked, const char* name, auto write) {
            if (asked) files_.push_back({io::AtomicFile(prefix + name), write});
        };
        open(true, ".offsets.npy", [](io::AtomicFile& f, const NeighborRows<T>& r) { put(f, r.offsets, 1); });
        open(true, ".indices.npy", [](io::AtomicFile& f, const NeighborRows<T>& r) { put(f, r.indices, 1); });
        open(distances, ".distances.npy", [](io::AtomicFile& f, const NeighborRows<T>& r) { put(f, r.distances, 1); });
        open(vectors, ".vectors.npy", [](io::AtomicFile& f, const NeighborRows<T>& r) { put(f, r.vectors, D); });
        open(shifts, ".shifts.npy", [](io::AtomicFile& f, const NeighborRows<T>& r) { put(f, r.shifts, D); });
    }
    [[nodiscard]] bool wanted() const { return !files_.empty(); }
    void write(const NeighborRows<T>& rows) {
        for (Output& output : files_) output.write(output.file, rows);
        for (Output& output : files_) output.file.commit();
    }

  private:
    struct Output {
        io::AtomicFile file;
        void (*write)(io::AtomicFile&, const NeighborRows<T>&);
    };

    template <class V>
    static void put(io::AtomicFile& file, const std::vector<V>& values, std::uint64_t columns) {
        const std::uint64_t count = values.size() / columns;
        io::write_npy(
            file, io::view(std::span<const V>(values), columns > 1 ? std::vector{count, columns} : std::vector{count}));
    }

    std::vector<Output> files_;
};

}  // namespace quadrat::cli
