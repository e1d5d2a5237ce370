#include "types/module_names.h"

#include "base/matchers_for_test.h"

namespace beryl {
namespace {

TEST(ModuleNamesTest, SeparatorsAndWrappersDoNotCount) {
  EXPECT_EQ(NameKey("layer_._3"), "layer.3");
  EXPECT_EQ(NameKey("layer/3"), NameKey("layer.3"));
  EXPECT_EQ(NameKey("_orig_mod.module.Dense"), "dense");
}

TEST(ModuleNamesTest, APathInFullIsTheNameInsideOfWhatIsAroundIt) {
  EXPECT_EQ(NameKey("model.layers.0", "model"), "layers.0");
  EXPECT_EQ(NameKey("module.model.layers.0", "_orig_mod.model"), "layers.0");
  EXPECT_EQ(NameKey("layers.0", "model"), "layers.0");
  EXPECT_EQ(NameKey("models.0", "model"), "models.0");
  EXPECT_EQ(NameKey("model", "model"), "model");
  EXPECT_EQ(NameKey("norm", ""), "norm");
}

TEST(ModuleNamesTest, ClassesThatAVersionRenamesAreRelated) {
  EXPECT_TRUE(AreRelated("BertSdpaSelfAttention", "BertSelfAttention"));
  EXPECT_TRUE(AreRelated("RMSNorm", "LlamaRMSNorm"));
  EXPECT_FALSE(AreRelated("BertOutput", "BertLayer"));
  EXPECT_FALSE(AreRelated("", "Linear"));
}

}  // namespace
}  // namespace beryl
