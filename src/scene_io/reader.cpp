#include "scene_io/reader.hpp"

#include "scene_io/view_fields.hpp"

namespace quadrat::scene_io {

std::uint32_t read_color(JsonObject& object, std::uint32_t otherwise) {
    const auto at = object.find("color");
    if (!at) return otherwise;
    const std::string text = at->text();
    if (text.size() != 7 || text[0] != '#' || text.find_first_not_of("0123456789abcdefABCDEF", 1) != text.npos)
        at->expected("a colour such as \"#2f6690\"");
    return static_cast<std::uint32_t>(std::stoul(text.substr(1), nullptr, 16));
}

void SceneReader::read_view(const JsonCursor& at) {
    SceneView& view = file_.view;
    JsonObject object(at);
    read_fields(object, view, *this);
    object.end();
    if (view.field_of_view >= 170) object.need("field_of_view").expected("degrees below 170");
    if (view.eye && view.target && *view.eye == *view.target) at.fail("eye and target are the same point");
    if (at.dimension() == 2 && view.fluid == FluidLook::surface)
        object.need("fluid").expected("balls or auto in two dimensions");
}

void SceneReader::read(const JsonCursor& at) {
    Scene& scene = file_.scene;
    int dimension = scene.dimension;  // decides how everything else is read
    if (const auto given = JsonObject(at).find("dimension")) dimension = static_cast<int>(given->count(2, 3));
    scene = blank<Scene>(dimension);
    JsonObject object(at.in_dimension(dimension));
    read_fields(object, scene, *this);
    if (const auto about = object.find("about")) (void)about->text();
    if (const auto view = object.find("view")) read_view(*view);
    (void)object.find("variants");
    object.end();
    if (scene.stepping.kind == StepKind::fixed && scene.stepping.fixed == 0)
        (void)JsonObject(object.need("stepping")).need("fixed");
    if (scene.stepping.kind != StepKind::fixed && scene.stepping.fixed > 0)
        JsonObject(object.need("stepping")).need("fixed").fail("needs the kind fixed");
    if (scene.end_time / scene.frame_interval > 1e6)
        object.need("frame_interval").expected("at most a million frames until end_time");
    if (scene.blocks.empty() && scene.particles.empty() && scene.emitters.empty() && scene.bodies.empty() &&
        scene.cloths.empty())
        at.fail("expected blocks, particles, emitters, bodies or cloths, found none of them");
}

}  // namespace quadrat::scene_io
