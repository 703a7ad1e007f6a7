#include "gl/shader.hpp"

#include <quadrat/voxels/glsl.hpp>

#include <EGL/egl.h>
#include <EGL/eglext.h>
#include <GLES3/gl3.h>

#include <algorithm>
#include <stdexcept>

namespace quadrat::test {
namespace {

GLuint compile(GLenum kind, const std::string& text) {
    const GLuint shader = glCreateShader(kind);
    const char* source = text.c_str();
    glShaderSource(shader, 1, &source, nullptr);
    glCompileShader(shader);
    GLint good = 0;
    glGetShaderiv(shader, GL_COMPILE_STATUS, &good);
    if (good) return shader;
    char log[4096] = {};
    glGetShaderInfoLog(shader, sizeof log - 1, nullptr, log);
    throw std::runtime_error(std::string(log) + "\n" + text);
}

GLuint texture(GLint inner, GLenum format, GLenum type, int width, int height, const void* data) {
    GLuint id = 0;
    glGenTextures(1, &id);
    glBindTexture(GL_TEXTURE_2D, id);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
    glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
    glTexImage2D(GL_TEXTURE_2D, 0, inner, width, height, 0, format, type, data);
    return id;
}

GLuint filtered(const ShaderAtlas& a) {
    const GLenum target = a.solid ? GL_TEXTURE_3D : GL_TEXTURE_2D;
    constexpr GLint bytes[] = {0, GL_R8, GL_RG8, 0, GL_RGBA8}, halves[] = {0, GL_R16F, GL_RG16F, 0, GL_RGBA16F};
    constexpr GLenum formats[] = {0, GL_RED, GL_RG, 0, GL_RGBA};
    const GLint inner = (a.half ? halves : bytes)[a.components];
    const GLenum format = formats[a.components], type = a.half ? GL_HALF_FLOAT : GL_UNSIGNED_BYTE;
    GLuint id = 0;
    glGenTextures(1, &id);
    glBindTexture(target, id);
    for (const GLenum filter : {GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MAG_FILTER})
        glTexParameteri(target, filter, GL_LINEAR);
    for (const GLenum wrap : {GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TEXTURE_WRAP_R})
        glTexParameteri(target, wrap, GL_CLAMP_TO_EDGE);
    glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
    if (a.solid)
        glTexImage3D(target, 0, inner, a.width, a.height, a.depth, 0, format, type, a.texels);
    else
        glTexImage2D(target, 0, inner, a.width, a.height, 0, format, type, a.texels);
    return id;
}

}  // namespace

ShaderRunner::ShaderRunner() {
    const auto get_display =
        reinterpret_cast<PFNEGLGETPLATFORMDISPLAYEXTPROC>(eglGetProcAddress("eglGetPlatformDisplayEXT"));
    if (get_display) display_ = get_display(EGL_PLATFORM_SURFACELESS_MESA, nullptr, nullptr);
    if (!display_ || !eglInitialize(display_, nullptr, nullptr)) {
        missing_ = "no EGL without a window system (Debian: libgl1-mesa-dri)";
        return;
    }
    eglBindAPI(EGL_OPENGL_ES_API);
    const EGLint wanted[] = {EGL_RENDERABLE_TYPE, EGL_OPENGL_ES3_BIT, EGL_SURFACE_TYPE, EGL_DONT_CARE, EGL_NONE};
    EGLConfig config = nullptr;
    EGLint count = 0;
    eglChooseConfig(display_, wanted, &config, 1, &count);
    const EGLint version[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE};
    context_ = eglCreateContext(display_, count ? config : nullptr, EGL_NO_CONTEXT, version);
    if (!context_ || !eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, context_))
        missing_ = "no OpenGL ES 3 context";
}

ShaderRunner::~ShaderRunner() {
    if (!display_) return;
    eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
    if (context_) eglDestroyContext(display_, context_);
    eglTerminate(display_);
}

std::vector<std::int32_t> ShaderRunner::run(const std::string& functions, const std::string& call,
                                            std::span<const ShaderTexture> textures,
                                            std::span<const std::array<std::int32_t, 3>> queries) {
    std::vector<std::int32_t> out;
    for (const auto& r : run4(functions, call, textures, queries)) out.push_back(r[0]);
    return out;
}

std::vector<std::array<std::int32_t, 4>> ShaderRunner::run4(const std::string& functions, const std::string& call,
                                                            std::span<const ShaderTexture> textures,
                                                            std::span<const std::array<std::int32_t, 3>> queries,
                                                            const ShaderAtlas* atlas) {
    constexpr int width = 512;
    const int height = static_cast<int>((queries.size() + width - 1) / width);
    std::vector<std::int32_t> cells(std::size_t{4} * width * static_cast<std::size_t>(height));
    for (std::size_t i = 0; i < queries.size(); ++i)
        for (std::size_t a = 0; a < 3; ++a) cells[4 * i + a] = queries[i][a];

    const GLuint vertex = compile(GL_VERTEX_SHADER,
                                  "#version 300 es\n"
                                  "void main() { gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, "
                                  "gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0); }\n");
    const GLuint fragment =
        compile(GL_FRAGMENT_SHADER, "#version 300 es\nprecision highp float;\nprecision highp int;\n" + functions +
                                        "uniform highp isampler2D test_queries;\nout ivec4 test_result;\n"
                                        "void main() {\n    ivec3 q = texelFetch(test_queries, ivec2(gl_FragCoord.xy), "
                                        "0).xyz;\n    test_result = ivec4(" +
                                        call + ");\n}\n");
    const GLuint program = glCreateProgram();
    glAttachShader(program, vertex);
    glAttachShader(program, fragment);
    glLinkProgram(program);
    GLint good = 0;
    glGetProgramiv(program, GL_LINK_STATUS, &good);
    if (!good) throw std::runtime_error("the shader does not link");
    glUseProgram(program);

    std::vector<GLuint> ids;
    const auto bind = [&](const std::string& name) {
        glUniform1i(glGetUniformLocation(program, name.c_str()), static_cast<GLint>(ids.size()) - 1);
    };
    glActiveTexture(GL_TEXTURE0);
    ids.push_back(texture(GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, width, height, cells.data()));
    bind("test_queries");
    for (const ShaderTexture& t : textures) {
        glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(ids.size()));
        ids.push_back(texture(GL_R32UI, GL_RED_INTEGER, GL_UNSIGNED_INT, glsl_texture_width,
                              static_cast<int>(t.words.size() / glsl_texture_width), t.words.data()));
        bind(t.name);
    }
    if (atlas) {
        glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(ids.size()));
        ids.push_back(filtered(*atlas));
        bind(atlas->name);
    }
    GLuint frame = 0;
    glGenFramebuffers(1, &frame);
    glBindFramebuffer(GL_FRAMEBUFFER, frame);
    glActiveTexture(GL_TEXTURE0 + static_cast<GLenum>(ids.size()));
    const GLuint target = texture(GL_RGBA32I, GL_RGBA_INTEGER, GL_INT, width, height, nullptr);
    glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, target, 0);
    if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
        throw std::runtime_error("no framebuffer of integers");
    glViewport(0, 0, width, height);
    glDrawArrays(GL_TRIANGLES, 0, 3);
    glReadPixels(0, 0, width, height, GL_RGBA_INTEGER, GL_INT, cells.data());
    const GLenum error = glGetError();
    ids.push_back(target);
    glDeleteTextures(static_cast<GLsizei>(ids.size()), ids.data());
    glDeleteFramebuffers(1, &frame);
    glDeleteProgram(program);
    glDeleteShader(vertex);
    glDeleteShader(fragment);
    if (error != GL_NO_ERROR) throw std::runtime_error("OpenGL error " + std::to_string(error));

    std::vector<std::array<std::int32_t, 4>> out(queries.size());
    for (std::size_t i = 0; i < out.size(); ++i) std::copy_n(cells.data() + 4 * i, 4, out[i].begin());
    return out;
}

}  // namespace quadrat::test
