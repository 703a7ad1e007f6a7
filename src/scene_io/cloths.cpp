// Cloths of a scene file: rows of their table, and the sheet or mesh, the pins and the colour beside them.
#include "scene_io/meshes.hpp"
#include "scene_io/reader.hpp"

namespace quadrat::scene_io {
namespace {

// Numbers of vertices, or the corners of a sheet of so many cells.
std::vector<std::uint32_t> read_pins(const JsonCursor& at, bool is_sheet, const std::array<std::uint32_t, 2>& cells,
                                     std::size_t vertices) {
    std::vector<std::uint32_t> pins;
    if (at.value().is_string()) {
        constexpr const char* places[] = {"corners"};
        (void)at.choice(places);
        if (!is_sheet) at.expected("numbers of vertices");
        const std::uint32_t n = cells[0], m = cells[1];
        return {0, m, n * (m + 1), n * (m + 1) + m};
    }
    for (const JsonCursor& pin : at.list()) pins.push_back(static_cast<std::uint32_t>(pin.count(0, vertices - 1)));
    return pins;
}

}  // namespace

void SceneReader::read_list(const JsonCursor& at, std::vector<SceneCloth>& cloths) {
    for (const JsonCursor& one : at.list()) {
        JsonObject object(one);
        SceneCloth cloth;
        read_fields(object, cloth, *this);
        std::array<std::uint32_t, 2> cells = {0, 0};
        const auto sheet = object.find("sheet");
        Surface mesh = sheet ? read_sheet(*sheet, cells) : read_mesh_file(object, folder_);
        if (!sheet)
            if (const auto position = object.find("position"))
                for (Vec3d& v : mesh.vertices)
                    for (int k = 0; k < 3; ++k) v[k] += position->vector()[k];
        if (const auto pins = object.find("pins"))
            cloth.pins = read_pins(*pins, sheet.has_value(), cells, mesh.vertices.size());
        cloth.triangles = std::move(mesh.triangles);
        cloth.positions = std::move(mesh.vertices);
        file_.view.cloth_colors.push_back(read_color(object, 0xb5343f));
        object.end();
        cloths.push_back(std::move(cloth));
    }
}

}  // namespace quadrat::scene_io
