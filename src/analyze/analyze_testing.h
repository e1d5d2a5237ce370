// Runs for the tests of this room, with trees and footprints from the room `tree`.
#pragma once

#include "analyze/analyze.h"
#include "tree/tree.h"
#include "tree/tree_testing.h"

namespace beryl::analyze {

using tree::Build;
using tree::Columns;
using tree::FindPath;
using tree::PathsOf;
using tree::TraceMaker;
using tree::WrongWith;

}  // namespace beryl::analyze
