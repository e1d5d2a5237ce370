// Adds descriptions to data sets whose models are in the catalog.
#pragma once

#include "types/dataset.h"

namespace beryl::flows {

// Describes every run whose model is in the catalog, at its batch size and length, with the
// operations of the published measurements. Notes list the runs that could not be described.
void DescribeRuns(Dataset& data);

// Names the lineage of every run whose model is known: it has a description or is in the catalog.
void NameLineages(Dataset& data);

}  // namespace beryl::flows
