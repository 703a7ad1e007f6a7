// A font of pen strokes, as convex polygons: enough letters for the pictures of this folder.
#pragma once

#include "vector_image.hpp"

#include <cmath>
#include <string_view>

namespace example {

/// Points as two digits x, y on a grid with baseline 2 and height of small letters 6; strokes divided by spaces, round
/// ones begin with ~.
inline std::string_view strokes(char letter) {
    constexpr std::string_view small[] = {"~4536160503123243 4642",
                                          "0902 ~0516364543321203",
                                          "~4536160503123243",
                                          "4942 ~4536160503123243",
                                          "~04444536160503123243",
                                          "~3829181512 0626",
                                          "~4536160503123243 ~464241301001",
                                          "0902 ~051636454342",
                                          "1612 1818",
                                          "~262221100111 2828",
                                          "0902 0446 1542",
                                          "~09040312",
                                          "0602 ~0516263532 ~3546566562",
                                          "0602 ~051636454342",
                                          "~160503123243453616",
                                          "0600 ~0516364543321203",
                                          "4640 ~4536160503123243",
                                          "0602 ~04163646",
                                          "~45361605143443321203",
                                          "~1814132232 0636",
                                          "~060403123243 4642",
                                          "062246",
                                          "0612354266",
                                          "0642 4602",
                                          "0622 4610",
                                          "06460242"};
    if (letter >= 'a' && letter <= 'z') return small[letter - 'a'];
    return letter == '.' ? "0202" : letter == ',' ? "1201" : "";
}
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz.,";

/// The pen's way over one letter: capsules of radius `pen` around every segment, scaled and moved.
inline void write_letter(char letter, const Vec2d& corner, double scale, double pen, std::vector<Polygon>& out) {
    constexpr double pi = 3.14159265358979323846;
    const auto capsule = [&](const Vec2d& p, const Vec2d& q) {
        const double angle = std::atan2(q[1] - p[1], q[0] - p[0]);
        Polygon shape;
        for (int end = 0; end < 2; ++end)
            for (int i = 0; i <= 6; ++i) {
                const double a = angle + (end ? pi / 2 : -pi / 2) + pi * i / 6;
                const Vec2d& o = end ? p : q;
                shape.push_back(
                    {corner[0] + scale * (o[0] + pen * std::cos(a)), corner[1] + scale * (o[1] + pen * std::sin(a))});
            }
        out.push_back(std::move(shape));
    };
    const std::string_view text = strokes(letter);
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const bool round = text[at] == '~';
        std::vector<Vec2d> p;
        for (std::size_t i = at + round; i + 1 < end; i += 2)
            p.push_back({text[i] - '0' + 0.0, text[i + 1] - '0' + 0.0});
        for (int pass = 0; round && pass < 2; ++pass) {  // corners cut twice (Chaikin)
            std::vector<Vec2d> finer = {p.front()};
            for (std::size_t i = 0; i + 1 < p.size(); ++i)
                for (const double t : {0.25, 0.75})
                    finer.push_back({std::lerp(p[i][0], p[i + 1][0], t), std::lerp(p[i][1], p[i + 1][1], t)});
            finer.push_back(p.back());
            p = std::move(finer);
        }
        for (std::size_t i = 0; i + 1 < p.size(); ++i) capsule(p[i], p[i + 1]);
        at = end + 1;
    }
}

/// Units to the next letter.
inline double advance(char letter) {
    double width = letter == ' ' ? 1.2 : 0;
    const std::string_view text = strokes(letter);
    for (std::size_t i = 0; i + 1 < text.size(); ++i)
        if (text[i] >= '0' && text[i + 1] >= '0' && text[i] <= '9') {
            width = std::max(width, text[i] - '0' + 0.0);
            ++i;
        }
    return width + 1.7;
}

}  // namespace example
