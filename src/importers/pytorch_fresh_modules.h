// Modules that the program makes anew in every step, such as a loss created where it is used.
#pragma once

#include <vector>

#include "base/string_table.h"
#include "importers/pytorch_records.h"

namespace beryl::importers {

// The profiler numbers the modules of a class in the order in which it first sees them, so that a
// loss made anew is CrossEntropyLoss_0 in the first step, CrossEntropyLoss_1 in the second, and so
// on, until one comes to lie where an earlier one was, whose number it gets. Gives them the names
// of the first step, so that they are one module that ran several times.
//
// Modules of a class are made anew if there are more of them at a place than run in a step, as many
// in each step that has any, in two steps at least. Those with modules inside must each have run in
// one step only. With weights, another expert or another model in each step is as likely as a copy
// (DataParallel makes one in every step), so those keep their names unless, besides, they did the
// same operations on the same shapes in three steps at least. Steps are those that the trace marks,
// otherwise the calls of the first outermost module that runs again.
void NameFreshModules(std::vector<KinetoRecord>& records, StringTable& strings);

}  // namespace beryl::importers
