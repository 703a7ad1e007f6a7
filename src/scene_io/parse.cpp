// Text to JSON in one pass that keeps an eye on where it is, so that an error has a path and a key that is there twice
// is seen: the library's own parser would keep the last of them in silence.
#include "scene_io/json.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace quadrat::scene_io {
namespace {

// Where the parser is: told of every value, it keeps the chain of objects and lists around it.
class Watch {
  public:
    void see(Json::parse_event_t event, const Json& value) {
        using Event = Json::parse_event_t;
        switch (event) {
            case Event::object_start:
            case Event::array_start:
                levels_.push_back({event == Event::array_start, 0, {}, {}});
                break;
            case Event::object_end:
            case Event::array_end:
                levels_.pop_back();
                next();
                break;
            case Event::key:
                levels_.back().key = value.get<std::string>();
                if (!levels_.back().keys.insert(levels_.back().key).second && twice_.empty()) twice_ = path();
                break;
            case Event::value:
                next();
                break;
        }
    }
    [[nodiscard]] std::string path() const {
        std::string p;
        for (const Level& level : levels_) {
            p += "/";
            p += level.is_list ? std::to_string(level.index) : token(level.key);
        }
        return p.empty() ? "/" : p;
    }
    /// The first key that an object has twice, or empty.
    [[nodiscard]] const std::string& twice() const { return twice_; }

  private:
    struct Level {
        bool is_list;
        std::size_t index;  ///< of the element that comes next
        std::string key;    ///< of the member that comes next
        std::set<std::string> keys;
    };
    void next() {
        if (!levels_.empty() && levels_.back().is_list) ++levels_.back().index;
    }

    std::vector<Level> levels_;
    std::string twice_;
};

}  // namespace

Json parse_json(std::string_view text, const std::string& file) {
    Watch watch;
    const auto see = [&](int, Json::parse_event_t event, Json& value) {
        watch.see(event, value);
        return true;
    };
    try {
        Json json = Json::parse(text.begin(), text.end(), see, true, true);
        if (!watch.twice().empty())
            throw Error(ErrorKind::duplicate, "this key is there twice", {.file = file, .field = watch.twice()});
        return json;
    } catch (const Json::out_of_range&) {  // 1e999
        throw Error(ErrorKind::bad_value, "expected a finite number, found one that is too large",
                    {.file = file, .field = watch.path()});
    } catch (const Json::parse_error& error) {
        const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
        // The library's text after its own position: "unexpected end of input; expected ...".
        std::string what = error.what();
        if (const std::size_t colon = what.find(": "); colon != what.npos) what = what.substr(colon + 2);
        for (char& c : what)
            if (c < 32 || c > 126) c = '?';
        throw Error(ErrorKind::bad_format, "not JSON: " + what,
                    {.file = file, .line = 1 + static_cast<std::uint64_t>(std::count(text.begin(), end, '\n'))});
    }
}

}  // namespace quadrat::scene_io
