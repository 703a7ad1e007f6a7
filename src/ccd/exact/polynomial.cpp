#include "ccd/exact/polynomial.hpp"

#include "base/assert.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace quadrat::ccd {
namespace {

// The sign at k / 2^depth.
int sign_at_dyadic(const Polynomial& g, const BigInt& k, unsigned depth) {
    if (g.degree < 0) return 0;
    BigInt value = g.c[g.degree];
    for (int i = g.degree - 1, steps = 1; i >= 0; --i, ++steps) {
        value = value * k;
        if (g.c[i].sign() != 0) value += g.c[i] << (depth * static_cast<unsigned>(steps));
    }
    return value.sign();
}

int variations(const BigInt (&b)[4]) {
    int count = 0;
    int last = 0;
    for (const BigInt& x : b) {
        const int s = x.sign();
        if (s == 0) continue;
        count += last != 0 && s != last;
        last = s;
    }
    return count;
}

// Rounded down, by at most a relative 2^-49.
double lower_double(const BigInt& n, const BigInt& d) {
    if (n.sign() <= 0) return 0;
    if ((n - d).sign() == 0) return 1;
    const int shift = d.bits();
    const double q = n.to_double(shift) / d.to_double(shift);
    return std::max(0.0, q * (1 - 0x1p-50));
}

void push_rational(BigInt n, BigInt d, std::vector<Root>& roots) {
    if (d.sign() < 0) {
        n.negate();
        d.negate();
    }
    if (n.sign() < 0 || (n - d).sign() > 0) return;
    Root r;
    r.lower = lower_double(n, d);
    r.n = std::move(n);
    r.d = std::move(d);
    roots.push_back(std::move(r));
}

// If f has a multiple root, all of its roots are rational: appends them and returns true.
bool multiple_roots(const Polynomial& f, std::vector<Root>& roots) {
    const auto& c = f.c;
    if (f.degree == 2) {
        if ((c[1] * c[1] - (c[0] * c[2] << 2)).sign() != 0) return false;
        push_rational(-c[1], c[2] << 1, roots);
        return true;
    }
    if (f.degree != 3) return false;
    // 9 c3 f = (3 c3 t + c2) f' + r1 t + r0.
    const BigInt r1 = ((c[1] * c[3] << 1) + (c[1] * c[3] << 2)) - (c[2] * c[2] << 1);
    const BigInt r0 = (c[0] * c[3] << 3) + c[0] * c[3] - c[1] * c[2];
    if (r1.sign() == 0) {
        if (r0.sign() != 0) return false;
        push_rational(-c[2], (c[3] << 1) + c[3], roots);
        return true;
    }
    // f'(-r0 / r1) r1^2
    const BigInt c3 = (c[3] << 1) + c[3];
    const BigInt slope = c3 * r0 * r0 - (c[2] * r0 * r1 << 1) + c[1] * r1 * r1;
    if (slope.sign() != 0) return false;
    const std::size_t first = roots.size();
    push_rational(-r0, r1, roots);
    push_rational((r0 * c[3] << 1) - c[2] * r1, c[3] * r1, roots);  // the sum of the roots is -c2 / c3
    if (roots.size() == first + 2) {
        Root& a = roots[first];
        Root& b = roots.back();
        if ((a.n * b.d - b.n * a.d).sign() > 0) std::swap(a, b);
    }
    return true;
}

// Halves (n, d) / 2^depth around the root until it is narrower than the width, or the root itself is found.
void bisect(Root& root, double width) {
    QUADRAT_ASSERT(root.of);
    while ((root.d - root.n).to_double(static_cast<int>(root.depth)) > width) {
        BigInt middle = root.n + root.d;
        root.n <<= 1;
        root.d <<= 1;
        ++root.depth;
        const int s = sign_at_dyadic(*root.of, middle, root.depth);
        if (s == 0) {
            root.n = std::move(middle);
            root.d = BigInt(1) << root.depth;
            root.of = nullptr;
            return;
        }
        (s == root.before ? root.n : root.d) = std::move(middle);
    }
}

// One step towards the root of f = root.of in (n, d) / 2^depth, given the four coefficients of f there (up to a
// positive factor): a floating point guess, proved by exact signs around it. False if it did not narrow the interval.
bool step(Root& root, const BigInt (&b)[4]) {
    QUADRAT_ASSERT(root.of);
    const Polynomial& f = *root.of;
    int top = 0;
    for (const BigInt& x : b) top = std::max(top, x.bits());
    const double w[4] = {b[0].to_double(top), b[1].to_double(top), b[2].to_double(top), b[3].to_double(top)};
    double lo = 0;
    double hi = 1;
    double x = 0.5;
    for (int i = 0; i < 64 && hi - lo > 0x1p-46; ++i) {
        const double y = 1 - x;
        const double p = w[0] * y + w[1] * x, q = w[1] * y + w[2] * x, r = w[2] * y + w[3] * x;
        const double pp = p * y + q * x, qq = q * y + r * x;
        const double value = pp * y + qq * x;
        (value * root.before > 0 ? lo : hi) = x;
        const double change = value / (3 * (qq - pp));
        const double next = x - change;
        if (std::fabs(change) < 0x1p-50) break;
        x = next > lo && next < hi ? next : 0.5 * (lo + hi);
    }
    constexpr unsigned fine = 46;
    const auto guess = static_cast<std::int64_t>(std::ldexp(x, fine));
    const BigInt base = root.n << fine;
    const BigInt width = root.d - root.n;
    for (const std::int64_t slack :
         {std::int64_t{1}, std::int64_t{1} << 10, std::int64_t{1} << 20, std::int64_t{1} << 30}) {
        const std::int64_t from = std::max<std::int64_t>(guess - slack, 0);
        const std::int64_t to = std::min<std::int64_t>(guess + slack + 1, std::int64_t{1} << fine);
        BigInt left = base;
        left.add_product(width, BigInt(from));
        BigInt right = base;
        right.add_product(width, BigInt(to));
        const int s = from == 0 ? root.before : sign_at_dyadic(f, left, root.depth + fine);
        const int e = to == std::int64_t{1} << fine ? -root.before : sign_at_dyadic(f, right, root.depth + fine);
        if (s == root.before && e == -root.before) {
            root.n = std::move(left);
            root.d = std::move(right);
            root.depth += fine;
            return true;
        }
        if (s == 0 || e == 0) {  // the root itself
            root.n = s == 0 ? std::move(left) : std::move(right);
            root.d = BigInt(1) << (root.depth + fine);
            root.of = nullptr;
            return true;
        }
    }
    return false;
}

// Narrows an interval of one unit of 2^-depth, whose coefficients are known, to the tolerance, usually to 2^-45.
void narrow(Root& root, const BigInt (&b)[4], double tolerance) {
    step(root, b);
    if (root.of) bisect(root, tolerance);
}

// Narrows any interval to the width.
void narrow(Root& root, double width) {
    const Polynomial& f = *root.of;
    for (int i = 0; i < 4 && root.of; ++i) {
        if ((root.d - root.n).to_double(static_cast<int>(root.depth)) <= width) return;
        // 3 f(l, l, l), 3 f(l, l, r), 3 f(l, r, r), 3 f(r, r, r) of the polar form, times 2^(3 depth).
        const BigInt& l = root.n;
        const BigInt& r = root.d;
        const BigInt c0 = (f.c[0] << 1) + f.c[0];
        const BigInt c3 = (f.c[3] << 1) + f.c[3];
        BigInt b[4];
        for (int j = 0; j < 4; ++j) {
            const BigInt& x = j < 3 ? l : r;
            const BigInt& y = j < 2 ? l : r;
            const BigInt& z = j < 1 ? l : r;
            const BigInt xy = x * y;
            b[j] = c0 << (3 * root.depth);
            b[j] += (f.c[1] * (x + y + z)) << (2 * root.depth);
            b[j] += (f.c[2] * (xy + (x + y) * z)) << root.depth;
            b[j].add_product(c3, xy * z);
        }
        if (!step(root, b)) break;
    }
    if (root.of) bisect(root, width);
}

void finish(Root& r) {
    r.narrow = !r.of || (r.d - r.n).to_double(static_cast<int>(r.depth)) < 0x1p-41;
    r.lower = lower_double(r.n, r.of ? BigInt(1) << r.depth : r.d);
}

struct Isolation {
    const Polynomial& f;
    double tolerance;
    const Ignore& ignore;
    std::vector<Root>& roots;
    std::size_t first;
    bool checked = false;  // f is known to have only simple roots

    // All roots, if those of the derivative separate them well: between two neighbouring critical points f is monotone,
    // and its sign at a critical point is that of the linear remainder f mod f'. Saves halving down to a close pair of
    // roots. f has no multiple roots.
    bool by_critical_points() {
        struct Point {
            BigInt left, right;  // dyadic, around the critical point, with the same sign of f
            unsigned depth;
            int sign;
        };
        const auto& c = f.c;
        Polynomial slope;
        slope.c[0] = c[1];
        slope.c[1] = c[2] << 1;
        slope.c[2] = (c[3] << 1) + c[3];
        slope.set_degree(2);
        if (slope.degree < 1) return false;
        std::vector<Root> critical;
        find_roots(slope, 0x1p-40, Ignore{}, critical);
        Polynomial rest;  // 9 c3 f mod f'
        rest.c[0] = (c[0] * c[3] << 3) + c[0] * c[3] - c[1] * c[2];
        rest.c[1] = ((c[1] * c[3] << 1) + (c[1] * c[3] << 2)) - (c[2] * c[2] << 1);
        rest.set_degree(1);
        std::vector<Point> points;
        points.push_back({BigInt(0), BigInt(0), 0, sign_at_dyadic(f, BigInt(0), 0)});
        for (const Root& r : critical) {
            Point p;
            p.sign = r.of ? sign_at(rest, r) * c[3].sign() : sign_at(f, r.n, r.d);
            if (r.of) {
                p.left = r.n;
                p.right = r.d;
                p.depth = r.depth;
            } else {
                p.depth = 50;
                const auto k = static_cast<std::int64_t>(std::ldexp(r.lower, 50));
                p.left = BigInt(std::max<std::int64_t>(k - 2, 0));
                p.right = BigInt(std::min<std::int64_t>(k + 3, std::int64_t{1} << 50));
            }
            if (p.sign == 0 || sign_at_dyadic(f, p.left, p.depth) != p.sign ||
                sign_at_dyadic(f, p.right, p.depth) != p.sign)
                return false;
            points.push_back(std::move(p));
        }
        points.push_back({BigInt(1), BigInt(1), 0, sign_at_dyadic(f, BigInt(1), 0)});
        if (points.front().sign == 0 || points.back().sign == 0) return false;
        roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(first), roots.end());
        for (std::size_t i = 1; i < points.size(); ++i) {
            const Point& a = points[i - 1];
            const Point& b = points[i];
            if (a.sign == b.sign) continue;
            Root r;
            r.of = &f;
            r.before = a.sign;
            r.depth = std::max(a.depth, b.depth);
            r.n = a.right << (r.depth - a.depth);
            r.d = b.left << (r.depth - b.depth);
            const BigInt one = BigInt(1) << r.depth;
            if (ignore(lower_double(r.n, one), std::min(1.0, lower_double(r.d, one) * (1 + 0x1p-45)))) continue;
            narrow(r, std::min(tolerance, 0x1p-42));
            finish(r);
            roots.push_back(std::move(r));
        }
        return true;
    }

    // The roots in the open interval (k, k + 1) / 2^depth, by Descartes' rule on the Bernstein coefficients b. False if
    // f turned out to have a multiple root and its roots were taken from there.
    bool open_interval(const BigInt (&b)[4], const BigInt& k, unsigned depth) {
        const int v = variations(b);
        if (v == 0) return true;
        const double from = k.to_double(static_cast<int>(depth));  // exact to depth 52, and no finer than that is asked
        if (depth <= 30 && ignore(from, from + std::ldexp(1.0, -static_cast<int>(depth)))) return true;
        if (v == 1) {
            Root r;
            r.of = &f;
            for (int i = 0; r.before == 0; ++i) r.before = b[i].sign();
            r.n = k;
            r.d = k + BigInt(1);
            r.depth = depth;
            narrow(r, b, tolerance);
            finish(r);
            roots.push_back(std::move(r));
            return true;
        }
        if (depth >= 3 && !checked) {
            const std::size_t before = roots.size();
            if (multiple_roots(f, roots)) {
                roots.erase(roots.begin() + static_cast<std::ptrdiff_t>(first),
                            roots.begin() + static_cast<std::ptrdiff_t>(before));
                return false;
            }
            checked = true;
            if (by_critical_points()) return false;
        }
        // de Casteljau at the middle, times 8.
        const BigInt ab = b[0] + b[1];
        const BigInt bc = b[1] + b[2];
        const BigInt cd = b[2] + b[3];
        const BigInt abc = ab + bc;
        const BigInt bcd = bc + cd;
        const BigInt middle = abc + bcd;
        const BigInt left[4] = {b[0] << 3, ab << 2, abc << 1, middle};
        const BigInt right[4] = {middle, bcd << 1, cd << 2, b[3] << 3};
        const BigInt k2 = k << 1;
        if (!open_interval(left, k2, depth + 1)) return false;
        const BigInt odd = k2 + BigInt(1);
        if (middle.sign() == 0) push_rational(odd, BigInt(1) << (depth + 1), roots);
        return open_interval(right, odd, depth + 1);
    }
};

// Whether g is a multiple of f.
bool proportional(const Polynomial& g, const Polynomial& f) {
    if (&g == &f) return true;
    if (g.degree != f.degree) return false;
    const BigInt& p = g.c[g.degree];
    const BigInt& q = f.c[f.degree];
    for (int i = 0; i < g.degree; ++i)
        if (g.c[i].sign() * p.sign() != f.c[i].sign() * q.sign()) return false;
    for (int i = 0; i < g.degree; ++i)
        if ((g.c[i] * q - f.c[i] * p).sign() != 0) return false;
    return true;
}

// Where the root of f = root.of stands relative to x = n / d: -1 root < x, 0 equal, 1 root > x.
int compare_root(const Root& root, const BigInt& n, const BigInt& d) {
    if ((n << root.depth).sign() <= 0 || ((n << root.depth) - root.n * d).sign() <= 0) return 1;
    if (((n << root.depth) - root.d * d).sign() >= 0) return -1;
    const int s = sign_at(*root.of, n, d);
    return s == 0 ? 0 : s == root.before ? 1 : -1;
}

// The sign of g at an irrational-form root; g has degree 1 or 2 and may have roots in the interval.
int sign_by_comparison(const Polynomial& g, const Root& root) {
    const Polynomial& f = *root.of;
    const int lead = g.c[g.degree].sign();
    if (g.degree == 1) {  // root at -g0 / g1
        const BigInt n = lead > 0 ? -g.c[0] : g.c[0];
        const BigInt d = lead > 0 ? g.c[1] : -g.c[1];
        return lead * compare_root(root, n, d);
    }
    const int discriminant = (g.c[1] * g.c[1] - (g.c[0] * g.c[2] << 2)).sign();
    if (discriminant < 0) return lead;
    const BigInt mn = lead > 0 ? -g.c[1] : g.c[1];  // the vertex of the parabola
    const BigInt md = lead > 0 ? g.c[2] << 1 : -(g.c[2] << 1);
    const int side = compare_root(root, mn, md);
    if (discriminant == 0) return side == 0 ? 0 : lead;
    if (side == 0) return -lead;

    // rho: the root of g on that side of the vertex. outside(x): 1 beyond rho as seen from the vertex, 0 at rho, -1
    // inside.
    const auto outside = [&](const BigInt& n, const BigInt& d) {
        const int s = (n * md - mn * d).sign();  // x against the vertex
        return s * side <= 0 ? -1 : lead * sign_at(g, n, d);
    };
    const BigInt one = BigInt(1) << root.depth;
    const int left = outside(root.n, one) * side;   // 1: left > rho, -1: left < rho
    const int right = outside(root.d, one) * side;  // the same for right
    if (left >= 0) return side > 0 ? lead : -lead;  // rho <= left < root
    if (right <= 0) return side > 0 ? -lead : lead;

    // rho is inside the interval: f there has the sign of the remainder c2^2 f mod g = r1 t + r0 (c2^2 > 0).
    const BigInt& g0 = g.c[0];
    const BigInt& g1 = g.c[1];
    const BigInt& g2 = g.c[2];
    const BigInt square = g2 * g2;
    BigInt r1;
    BigInt r0;
    if (f.degree >= 0) r0 = f.c[0] * square;
    if (f.degree >= 1) r1 = f.c[1] * square;
    if (f.degree >= 2) {
        r1.subtract_product(f.c[2] * g2, g1);
        r0.subtract_product(f.c[2] * g2, g0);
    }
    if (f.degree >= 3) {
        // g2^2 t^3 = (g1^2 - g0 g2) t + g0 g1 modulo g
        r1.add_product(f.c[3], g1 * g1 - g0 * g2);
        r0.add_product(f.c[3], g0 * g1);
    }
    int f_at_rho = 0;
    if (r1.sign() == 0) {
        f_at_rho = r0.sign();
    } else {
        const BigInt n = r1.sign() > 0 ? -r0 : r0;
        const BigInt d = r1.sign() > 0 ? r1 : -r1;
        f_at_rho = r1.sign() * -(outside(n, d) * side);  // rho against n / d
    }
    if (f_at_rho == 0) return 0;
    const bool rho_first = f_at_rho == root.before;
    return (rho_first ? side : -side) * lead;
}

}  // namespace

int sign_at(const Polynomial& g, const BigInt& n, const BigInt& d) {
    QUADRAT_ASSERT(d.sign() > 0);
    if (g.degree < 0) return 0;
    BigInt value = g.c[g.degree];
    BigInt power = d;
    for (int i = g.degree - 1; i >= 0; --i) {
        value = value * n;
        if (g.c[i].sign() != 0) value.add_product(g.c[i], power);
        if (i > 0) power = power * d;
    }
    return value.sign();
}

int sign_at(const Polynomial& g, const Root& root) {
    QUADRAT_ASSERT(g.degree <= 2);
    if (g.degree <= 0) return g.degree < 0 ? 0 : g.c[0].sign();
    if (!root.of) return sign_at(g, root.n, root.d);
    if (proportional(g, *root.of)) return 0;
    // Bernstein coefficients of g on the interval: if they agree, that is the sign.
    const int s = sign_at_dyadic(g, root.n, root.depth);
    if (s != 0 && s == sign_at_dyadic(g, root.d, root.depth)) {
        if (g.degree == 1) return s;
        BigInt middle = g.c[0] << (2 * root.depth + 1);
        middle.add_product(g.c[1] << root.depth, root.n + root.d);
        middle.add_product(g.c[2] << 1, root.n * root.d);
        if (middle.sign() == s) return s;
    }
    return sign_by_comparison(g, root);
}

void find_roots(const Polynomial& f, double tolerance, const Ignore& ignore, std::vector<Root>& roots) {
    QUADRAT_ASSERT(f.degree >= 0 && f.degree <= 3 && tolerance > 0);
    if (f.degree == 0) return;
    const BigInt three_c0 = (f.c[0] << 1) + f.c[0];
    BigInt sum = f.c[0] + f.c[1];
    BigInt b[4];
    b[0] = three_c0;
    b[1] = three_c0 + f.c[1];
    b[2] = b[1] + f.c[1];
    if (f.degree >= 2) {
        b[2] += f.c[2];
        sum += f.c[2];
    }
    if (f.degree >= 3) sum += f.c[3];
    b[3] = (sum << 1) + sum;
    Isolation isolation{f, tolerance, ignore, roots, roots.size()};
    if (b[0].sign() == 0) push_rational(0, 1, roots);
    if (!isolation.open_interval(b, 0, 0)) return;
    if (b[3].sign() == 0) push_rational(1, 1, roots);
}

}  // namespace quadrat::ccd
