// A command of the program, for those who help to type it.
#pragma once

#include <string>
#include <vector>

namespace beryl {

struct CommandSynopsis {
  struct Option {
    std::vector<std::string> names;  // long ones first, with dashes; empty: an argument
    std::vector<std::string> words;  // the values it takes; empty: any
    std::string description;
    bool takes_value = false;
  };

  std::string name;
  std::string line;  // what it does
  std::vector<Option> options = {};
};

}  // namespace beryl
