// Datasheets: those that ship with the program, and the member of an energy model's file in which
// users write their own.
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
// Reads a table in the format of datasheets.csv. An impossible figure (not a number, not above 0,
// idle power above board power) is an error that names the line, because a wrong figure is worse
// than none. Only the rates of types other than float32, the link and the memory may be empty.
Result<std::vector<NamedDatasheet>> ReadDatasheets(std::string_view text, const std::string& name);

// The datasheets that ship with the program, in the order of their table.
std::vector<std::string> DatasheetNames();
std::optional<Datasheet> FindDatasheet(std::string_view name);

// The member "datasheet" of an energy model's file.
void Read(MemberReader& in, json::Value value, const std::string& path, Datasheet& into);
void Write(MemberWriter& out, const Datasheet& sheet);

// What is wrong with the figures, for example "board_w has to be above 0"; empty if nothing is.
std::string FaultOf(const Datasheet& sheet);

}  // namespace beryl::learn
