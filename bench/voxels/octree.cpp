#include "bench/voxels/octree.hpp"

#include <openvdb/openvdb.h>

namespace quadrat::bench {

struct Octree::Tree {
    openvdb::Int32Grid::Ptr grid;
};

Octree::Octree(std::span<const Cell> cells, std::span<const std::uint32_t> values) : tree_(std::make_unique<Tree>()) {
    openvdb::initialize();
    tree_->grid = openvdb::Int32Grid::create(0);
    auto out = tree_->grid->getAccessor();
    for (std::size_t i = 0; i < cells.size(); ++i)
        out.setValue({cells[i][0], cells[i][1], cells[i][2]}, static_cast<std::int32_t>(values[i]));
}

Octree::~Octree() = default;

std::uint64_t Octree::sum(std::span<const Cell> cells) const {
    auto in = tree_->grid->getConstAccessor();
    std::uint64_t sum = 0;
    for (const Cell& c : cells) sum += static_cast<std::uint32_t>(in.getValue({c[0], c[1], c[2]}));
    return sum;
}

std::uint64_t Octree::bytes() const {
    return tree_->grid->memUsage();
}

}  // namespace quadrat::bench
