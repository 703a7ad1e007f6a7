// Candidate pairs of features as a stream: boxes over the step, all overlapping ones, without incident, masked and
// out-of-scope pairs. They come in blocks that are still in the cache, so that the narrow phase can eat them at once: a
// list of all candidates is made only for who asks for it. The work is cut into jobs that share nothing.
// The pipeline has no other room above it: contacts.cpp here is the public call. Nothing below uses these headers.
#pragma once

#include <quadrat/ccd/contacts.hpp>

#include "base/assert.hpp"
#include "ccd/pipeline/box_grids.hpp"
#include "ccd/pipeline/features.hpp"

#include <cmath>
#include <functional>
#include <mutex>

namespace quadrat::ccd {

/// Which meshes may meet.
class MeetingRule {
  public:
    MeetingRule(std::span<const MovingMesh> meshes, ContactScope scope);

    [[nodiscard]] bool everything() const { return everything_; }
    [[nodiscard]] bool operator()(std::uint32_t a, std::uint32_t b) const {
        QUADRAT_ASSERT(a < count_ && b < count_);
        return allowed_[a * count_ + b] != 0;
    }

  private:
    std::size_t count_;
    std::vector<std::uint8_t> allowed_;
    bool everything_ = true;
};

/// Boxes of all kinds of features.
struct AllBoxes {
    FeatureBoxes vertices, faces, edges, points, segments;
};

/// How far boxes grow on each side so that features within the distance overlap: half of it, rounded up.
[[nodiscard]] inline double half(double distance) {
    QUADRAT_ASSERT(distance >= 0);
    const double h = distance / 2;
    return 2 * h < distance ? std::nextafter(h, distance) : h;
}

class CandidateStream {
  public:
    /// Bounds the motion of the features, which must outlive this object.
    CandidateStream(const Features& features, std::span<const MovingMesh> meshes, const ContactOptions& options)
        : CandidateStream(features, meshes, options, half(options.min_distance)) {
        exact_ = true;
    }
    /// The same with boxes that grow by `grow` on each side, and perhaps some pairs more: the boxes in float decide
    /// alone.
    CandidateStream(const Features& features, std::span<const MovingMesh> meshes, const ContactOptions& options,
                    double grow);

    /// The boxes, as they would be given to any other broad phase.
    [[nodiscard]] const AllBoxes& boxes() const { return boxes_; }

    /// Sorts the boxes; to be called once, before everything below.
    void prepare();

    /// Parts are numbered by kind, in the order of ContactKind; each can run on its own thread.
    [[nodiscard]] std::size_t parts() const { return parts_.size(); }
    [[nodiscard]] ContactKind kind(std::size_t part) const { return parts_[part].kind; }

    /// Calls visit with the candidates of a part, if there are any. What the parts give depends on the meshes only.
    void run(std::size_t part, const std::function<void(std::span<const Pair>)>& visit) const;

  private:
    struct Part {
        ContactKind kind;
        PairJob job;
    };
    // Lists that were used by a part before: their memory is there already.
    class Scratch;

    const Features& f_;
    MeetingRule meet_;
    double grow_;
    bool exact_ = false;  // boxes in double decide where rounding to float made them larger
    Executor* executor_;
    AllBoxes boxes_;
    BoxGrids vertices_, faces_, edges_, points_, segments_;
    std::vector<Part> parts_;
    mutable std::mutex mutex_;
    mutable std::vector<std::vector<Pair>> free_;
};

/// Candidates of an earlier call, cut into parts in the order of their kinds. Throws bad_value for those of other
/// meshes, as far as that shows.
class CandidateParts {
  public:
    CandidateParts(const Features& f, const Candidates& candidates);

    [[nodiscard]] std::size_t size() const { return parts_.size(); }
    [[nodiscard]] ContactKind kind(std::size_t part) const { return parts_[part].kind; }
    [[nodiscard]] std::span<const Pair> pairs(std::size_t part) const { return parts_[part].pairs; }

  private:
    struct Part {
        ContactKind kind;
        std::span<const Pair> pairs;
    };
    std::vector<Part> parts_;
};

}  // namespace quadrat::ccd
