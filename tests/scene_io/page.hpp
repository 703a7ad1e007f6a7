// The generated parts of docs/scenes.md: tables of keys, made from the tables that the reader reads by.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quadrat::scene_io {

/// What the page has tables of: "scene", "domain", "bodies" and so on, in the order of the page.
[[nodiscard]] std::span<const char* const> page_sections();

/// The table of a section as Markdown. Throws Error{bad_value} for a section that there is not.
[[nodiscard]] std::string keys_table(std::string_view section);

/// The keys of a section, in the order of the table.
[[nodiscard]] std::vector<std::string> keys_of(std::string_view section);

/// The page with each part between "<!-- keys: NAME -->" and "<!-- end -->" made again. Throws Error{bad_format} when a
/// section is missing or a part has no end.
[[nodiscard]] std::string renewed_page(std::string_view page);

}  // namespace quadrat::scene_io
