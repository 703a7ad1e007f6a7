// Two frames of a cloth in a funnel, with pairs of features and their exact answers from the public data set of
// scalable collision detection. Features are numbered vertices, then edges by (larger, smaller vertex), then faces.
#include <quadrat/ccd.hpp>

#include "io/by_ending.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace quadrat {
namespace {

std::string text_of(const std::filesystem::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// All whole numbers of a JSON text, in order.
std::vector<std::uint32_t> numbers(const std::string& json) {
    std::vector<std::uint32_t> r;
    bool inside = false;
    for (const char c : json) {
        const bool digit = c >= '0' && c <= '9';
        if (digit && !inside) r.push_back(0);
        if (digit) r.back() = 10 * r.back() + static_cast<std::uint32_t>(c - '0');
        inside = digit;
    }
    return r;
}

// All truth values: only "true" has a t, only "false" an f.
std::vector<bool> truths(const std::string& json) {
    std::vector<bool> r;
    for (const char c : json)
        if (c == 't' || c == 'f') r.push_back(c == 't');
    return r;
}

TEST(Frames, ClothFunnel) {
    const std::filesystem::path root = std::string(QUADRAT_SHARED_DATA) + "/ccd/frames/cloth-funnel";
    if (!std::filesystem::exists(root / "truth_ee.json")) GTEST_SKIP() << root << " is absent";
    const io::Mesh start = io::read_mesh((root / "227.ply").string());
    const io::Mesh end = io::read_mesh((root / "228.ply").string());
    const MovingMesh mesh{.triangles = start.triangles, .start = start.vertices, .end = end.vertices};
    const Candidates candidates = find_candidates({&mesh, 1});
    const auto vertices = static_cast<std::uint32_t>(start.vertices.size());
    const auto edges = static_cast<std::uint32_t>(candidates.edges.size());
    const ContactList list = find_contacts(mesh);
    for (const bool faces : {true, false}) {
        const std::vector<std::uint32_t> pairs = numbers(text_of(root / (faces ? "pairs_vf.json" : "pairs_ee.json")));
        const std::vector<bool> truth = truths(text_of(root / (faces ? "truth_vf.json" : "truth_ee.json")));
        ASSERT_EQ(pairs.size(), 2 * truth.size());
        ASSERT_EQ(truth.size(), faces ? 92u : 263u);
        int false_positive = 0, false_negative = 0;
        for (std::size_t i = 0; i < truth.size(); ++i) {
            std::array<std::uint32_t, 2> feature;
            std::array<std::uint32_t, 4> ids;
            if (faces) {
                feature = {pairs[2 * i], pairs[2 * i + 1] - vertices - edges};
                const Triangle& t = start.triangles.at(feature[1]);
                ids = {feature[0], t.a, t.b, t.c};
            } else {
                feature = {pairs[2 * i] - vertices, pairs[2 * i + 1] - vertices};
                const auto &a = candidates.edges.at(feature[0]), &b = candidates.edges.at(feature[1]);
                ids = {a[0], a[1], b[0], b[1]};
            }
            FourPoints p, q;
            for (std::size_t j = 0; j < 4; ++j) {
                p[j] = start.vertices.at(ids[j]);
                q[j] = end.vertices.at(ids[j]);
            }
            const double t = impact_time(faces ? ImpactKind::vertex_face : ImpactKind::edge_edge, p, q);
            false_positive += t <= 1 && !truth[i];
            false_negative += t > 1 && truth[i];
            // The mesh pipeline says the same.
            const auto listed = std::find_if(list.begin(), list.end(), [&](const Contact& c) {
                return c.kind == (faces ? ContactKind::vertex_face : ContactKind::edge_edge) && c.features == feature;
            });
            ASSERT_EQ(listed != list.end(), t <= 1) << i;
            if (t <= 1) {
                EXPECT_NEAR(listed->time, t, 1e-6);
            }
        }
        EXPECT_EQ(false_negative, 0);
        EXPECT_EQ(false_positive, 0);
    }
}

// The listed pairs alone, which live in the repository (tests/data/ccd).
TEST(Frames, ClothFunnelExtract) {
    const std::string root = std::string(QUADRAT_SOURCE_DIR) + "/tests/data/ccd/funnel/";
    const io::Mesh start = io::read_mesh(root + "start.ply");
    const io::Mesh end = io::read_mesh(root + "end.ply");
    const MovingMesh mesh{.triangles = start.triangles, .start = start.vertices, .end = end.vertices};
    const ContactList list = find_contacts(mesh);
    std::ifstream file(root + "pairs.csv");
    std::size_t pairs = 0, contacts = 0;
    double earliest = 2;
    for (std::string line; std::getline(file, line); ++pairs) {
        const bool faces = line.starts_with("vf");
        const std::vector<std::uint32_t> n = numbers(line);  // four vertices and the answer
        ASSERT_EQ(n.size(), 5u);
        FourPoints p, q;
        for (std::size_t j = 0; j < 4; ++j) {
            p[j] = start.vertices.at(n[j]);
            q[j] = end.vertices.at(n[j]);
        }
        const double t = impact_time(faces ? ImpactKind::vertex_face : ImpactKind::edge_edge, p, q);
        ASSERT_EQ(t <= 1, n[4] == 1) << line;
        if (t > 1) continue;
        ++contacts;
        earliest = std::min(earliest, t);
        // The mesh pipeline has it, whatever the order of the features.
        std::array<std::uint32_t, 4> wanted = {n[0], n[1], n[2], n[3]};
        std::sort(wanted.begin(), wanted.end());
        EXPECT_TRUE(std::any_of(list.begin(), list.end(), [&](const Contact& c) {
            std::array<std::uint32_t, 4> v = c.vertices;
            std::sort(v.begin(), v.end());
            return v == wanted && (c.kind == ContactKind::vertex_face) == faces && std::fabs(c.time - t) <= 1e-6;
        })) << line;
    }
    EXPECT_EQ(pairs, 355u);
    EXPECT_EQ(contacts, 134u);
    EXPECT_LE(list.earliest, earliest);
    EXPECT_EQ(earliest_time(mesh), list.earliest);
}

}  // namespace
}  // namespace quadrat
