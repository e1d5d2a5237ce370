// Datasheets: those that ship with the program, and the part of an energy model's file that a user
// writes one in.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "learn/members.h"
#include "types/datasheet.h"

namespace beryl::learn {

struct NamedDatasheet {
  std::string name;  // "a100-80gb-sxm"
  Datasheet sheet;
};
// A table of the form of datasheets.csv. A line with a figure that cannot be (no number, not above
// 0, an idle power above that of the board) is an error that names it: a wrong figure would be
// worse than none. Fields that may be empty are the rates of types other than float32, the link and
// the memory.
Result<std::vector<NamedDatasheet>> ReadDatasheets(std::string_view text, const std::string& name);

// Those that ship with the program, in the order of their table.
std::vector<std::string> DatasheetNames();
std::optional<Datasheet> FindDatasheet(std::string_view name);

// The member "datasheet" of an energy model's file.
void Read(MemberReader& in, json::Value value, const std::string& path, Datasheet& into);
void Write(MemberWriter& out, const Datasheet& sheet);

// What is wrong with its figures: "board_w has to be above 0"; empty: nothing.
std::string FaultOf(const Datasheet& sheet);

}  // namespace beryl::learn
