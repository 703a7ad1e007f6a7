// A fragment shader run over an array of queries, off-screen.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace quadrat::test {

/// A texture of R32UI, glsl_texture_width texels wide.
struct ShaderTexture {
    std::string name;
    std::span<const std::uint32_t> words;
};

/// A texture that is filtered linearly, with edges that do not repeat.
struct ShaderAtlas {
    std::string name;
    bool solid = false;  ///< three dimensions
    int width = 1, height = 1, depth = 1;
    bool half = false;   ///< floats of 16 bits, or else bytes
    int components = 1;  ///< 1, 2 or 4
    const void* texels = nullptr;
};

/// An OpenGL ES 3 context without a window. One at a time.
class ShaderRunner {
  public:
    ShaderRunner();
    ~ShaderRunner();
    ShaderRunner(const ShaderRunner&) = delete;

    /// Empty if shaders can be run, otherwise the reason why not.
    [[nodiscard]] const std::string& missing() const { return missing_; }

    /// `call` for each query, of type int, where `functions` holds its definition and q is an ivec3. Throws
    /// std::runtime_error with the compiler's words if the text does not compile.
    [[nodiscard]] std::vector<std::int32_t> run(const std::string& functions, const std::string& call,
                                                std::span<const ShaderTexture> textures,
                                                std::span<const std::array<std::int32_t, 3>> queries);
    /// The same for a call of type ivec4.
    [[nodiscard]] std::vector<std::array<std::int32_t, 4>> run4(const std::string& functions, const std::string& call,
                                                                std::span<const ShaderTexture> textures,
                                                                std::span<const std::array<std::int32_t, 3>> queries,
                                                                const ShaderAtlas* atlas = nullptr);

  private:
    void* display_ = nullptr;
    void* context_ = nullptr;
    std::string missing_;
};

}  // namespace quadrat::test
