// What every rival has to do: take the boxes of a step and give their overlapping pairs. Rivals that report more than
// the exact pairs (fat boxes, pairs twice) have them removed inside the timed part, since their users would have to.
#pragma once

#include <quadrat/geometry.hpp>

#include <memory>
#include <span>
#include <string>
#include <vector>

using Segment3f = quadrat::Segment<3, float>;

struct Peer {
    virtual ~Peer() = default;
    virtual void setup(std::span<const quadrat::Box3f> boxes) = 0;
    virtual void step(std::span<const quadrat::Box3f> boxes, std::vector<quadrat::Pair>& pairs) = 0;
    /// Number of boxes hit by all the queries, or -1 where a rival has no such query.
    virtual long query(std::span<const quadrat::Box3f>) { return -1; }
    /// Number of boxes that segments meet: their bounding boxes are asked for and what is found is tested.
    virtual long query(std::span<const Segment3f>) { return -1; }
};

std::unique_ptr<Peer> make_bullet_dbvt();
std::unique_ptr<Peer> make_bullet_sap();
std::unique_ptr<Peer> make_fcl();
std::unique_ptr<Peer> make_embree(int threads);
std::unique_ptr<Peer> make_boost();
std::unique_ptr<Peer> make_cgal();
