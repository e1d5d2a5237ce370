// Shared by tables and pictures of pairs of runs.
#pragma once

#include <string>
#include <vector>

#include "types/comparison.h"
#include "views/draw/svg.h"
#include "views/text/figures.h"
#include "views/text/text_page.h"

namespace beryl::views {

// A, B, ..., Z, AA, ...: short names for the columns of a matrix.
std::string LetterOf(size_t run);

// "0.9987"; "1" is for what is the same.
std::string SimilarityText(double value);
// A matrix in lines, with letters for the runs; cells are `width` wide.
void WriteMatrix(TextPage& page, const PairMatrix& values, size_t runs, int width, Formatter text);

// One matrix as a square of boxes with their numbers, A to .. on both sides.
struct HeatMap {
  std::string title;
  const PairMatrix* values = nullptr;
  size_t runs = 0;
  // A difference has a unit, and colours on both sides of 0; a similarity has neither.
  std::string unit;  // empty: a similarity
  // A label for each box, beside its number.
  std::vector<std::string> labels;
};
// At `at`, `width` wide, legend included; returns the y below it.
double DrawHeatMap(SvgCanvas& canvas, Point at, double width, const HeatMap& map);

}  // namespace beryl::views
