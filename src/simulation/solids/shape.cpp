// See shape.hpp: from the name of a shape to its file, and what all shapes do alike.
#include "simulation/solids/shape.hpp"

#include "base/assert.hpp"
#include "simulation/scene/scene_fields.hpp"
#include "simulation/solids/meetings.hpp"

#include <cmath>

namespace quadrat::simulation {
namespace {

static_assert(names_of<BodyShape>.size() == shape_count, "a shape has no name in scene files");

// A shape that is missing here fails to compile.
#pragma GCC diagnostic error "-Wswitch"
const ShapeRow& row(BodyShape shape) {
    switch (shape) {
        case BodyShape::sphere:
            return sphere_row;
        case BodyShape::box:
            return box_row;
        case BodyShape::plane:
            return plane_row;
        case BodyShape::mesh:
            return mesh_row;
    }
    QUADRAT_ASSERT(false);  // not a BodyShape
    return sphere_row;
}

}  // namespace

std::unique_ptr<Shape> make_shape(const RigidBody& body, int dimension) {
    QUADRAT_ASSERT(dimension == 2 || dimension == 3);
    return row(body.shape).make(body, dimension);
}

void check_shape(const RigidBody& body, int dimension, const std::string& path) {
    row(body.shape).check(body, dimension, path);
}

double turning_arm(const RigidBody& body, int dimension) {
    return row(body.shape).arm(body, dimension);
}

double surface_area(const RigidBody& body, int dimension) {
    return row(body.shape).area(body, dimension);
}

std::vector<Vector> Shape::sample_inside(double spacing, double depth) const {
    QUADRAT_ASSERT(spacing > 0);
    QUADRAT_ASSERT(!unbounded());
    std::vector<Vector> out;
    int low[3], high[3];
    for (int k = 0; k < 3; ++k) {
        low[k] = static_cast<int>(std::floor(bounds_.lo[k] / spacing)) - 1;
        high[k] = static_cast<int>(std::ceil(bounds_.hi[k] / spacing)) + 1;
    }
    if (dimension_ == 2) low[2] = 0, high[2] = 0;
    const double shift = 0.5 * spacing;
    for (int z = low[2]; z <= high[2]; ++z)
        for (int y = low[1]; y <= high[1]; ++y)
            for (int x = low[0]; x <= high[0]; ++x) {
                const Vector p(x * spacing + shift, y * spacing + shift, dimension_ == 2 ? 0 : z * spacing + shift);
                const double d = distance(p, depth + spacing).value;
                if (d < 0 && d > -depth) out.push_back(p);
            }
    return out;
}

}  // namespace quadrat::simulation
