#include "server/api/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flows/electricity.h"
#include "flows/predict_model.h"
#include "server/http/server.h"

namespace beryl::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class ApiTest : public testing::Test {
 protected:
  ApiTest() {
    ::setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    AddModelRoutes(api_, options_.routes);
    options_.limits.body_bytes = 1 << 20;
  }
  ~ApiTest() override { ::unsetenv("SOURCE_DATE_EPOCH"); }

  HttpAnswer Get(const std::string& target) {
    return AnswerTo("GET " + target + " HTTP/1.1\r\nHost: h\r\n\r\n", options_);
  }
  HttpAnswer Post(const std::string& target, const std::string& body) {
    return AnswerTo("POST " + target + " HTTP/1.1\r\nHost: h\r\nContent-Length: " +
                        std::to_string(body.size()) + "\r\n\r\n" + body,
                    options_);
  }

  Api api_;
  HttpOptions options_;
};

TEST_F(ApiTest, PredictsWhatTheCommandLineDoes) {
  flows::ModelRequest request;
  request.model = "bert-base-uncased";
  request.batch = 8;
  request.seq = 128;
  std::vector<Note> notes;
  const auto prediction = flows::PredictModel(request, {}, *flows::ChooseElectricity({}, notes));
  ASSERT_TRUE(prediction) << prediction.error().message;
  const HttpAnswer answer = Get("/api/v1/predict?model=bert-base-uncased&batch=8&seq=128");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.type, "application/json");
  EXPECT_EQ(answer.body, views::Write(*prediction, views::Format::kJson, {}));
  EXPECT_EQ(answer.reuse, HttpReuse::kKeep);
}

TEST_F(ApiTest, TakesAConfigurationAsTheBody) {
  const HttpAnswer shown = Get("/api/v1/models/bert-base-uncased");
  ASSERT_EQ(shown.status, 200) << shown.body;
  const HttpAnswer answer = Post("/api/v1/describe?batch=2&level=module&format=csv", shown.body);
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_THAT(answer.body, HasSubstr("encoder.layer.0"));
  EXPECT_EQ(Post("/api/v1/predict", "").status, 400);
  EXPECT_EQ(Post("/api/v1/predict", "{").status, 422);
  EXPECT_EQ(Post("/api/v1/predict", R"({"model_type":"none-such"})").status, 422);
}

TEST_F(ApiTest, SaysAllThatIsWrongWithARequest) {
  const HttpAnswer answer = Get("/api/v1/predict?batch=-1&dtype=float99&modle=bert");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(answer.type, "application/problem+json");
  for (const char* part : {R"("parameter":"batch")", R"("parameter":"dtype")",
                           R"("parameter":"modle")", "did you mean 'model'?", "is missing"}) {
    EXPECT_THAT(answer.body, HasSubstr(part));
  }
}

TEST_F(ApiTest, ReadsNoFilesForAStranger) {
  for (const char* target : {"/api/v1/predict?model=tests/data/models/tiny-bert.json",
                             "/api/v1/predict?model=gpt2&profile=data/gtx1080ti-i9-7900x.json",
                             "/api/v1/describe?model=-"}) {
    const HttpAnswer answer = Get(target);
    EXPECT_EQ(answer.status, 422) << target << answer.body;
  }
  EXPECT_EQ(Get("/api/v1/profiles/..%2F..%2Fetc%2Fpasswd").status, 404);
}

TEST_F(ApiTest, ListsAndSweeps) {
  EXPECT_THAT(Get("/api/v1/models?pattern=google/*").body, HasSubstr("google/"));
  EXPECT_EQ(Get("/api/v1/models?pattern=none-such").status, 404);
  EXPECT_EQ(Get("/api/v1/models/none-such").status, 404);
  EXPECT_THAT(Get("/api/v1/profiles?format=csv").body, HasSubstr("h100"));
  EXPECT_THAT(Get("/api/v1/profiles/h100").body, HasSubstr("\"method\""));
  const HttpAnswer sweep = Get("/api/v1/predict?model=gpt2&sweep=batch%3D1,2&profile=h100");
  EXPECT_EQ(sweep.status, 200) << sweep.body;
  EXPECT_THAT(sweep.body, HasSubstr("beryl.sweep/"));
  EXPECT_THAT(Get("/api/v1/predict?model=gpt2&set=n_layer:2").body, Not(HasSubstr("h.2")));
}

TEST_F(ApiTest, SendsEachVariantOfASweepByItself) {
  const HttpAnswer answer = Get("/api/v1/sweep?model=gpt2&sweep=batch%3D1,2&profile=h100,a100");
  EXPECT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.type, "application/jsonl");
  ASSERT_TRUE(answer.stream);
  std::vector<std::string> lines;
  while (const auto line = answer.stream->Next()) lines.push_back(*line);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[0], AllOf(HasSubstr("\"batch\":1"), HasSubstr("h100")));
  EXPECT_THAT(lines[3], AllOf(HasSubstr("\"batch\":2"), HasSubstr("a100")));
  const HttpAnswer alone = Get("/api/v1/sweep?model=gpt2&sweep=batch%3D2&profile=h100");
  const auto line = alone.stream->Next();
  EXPECT_EQ(line, Get("/api/v1/predict?model=gpt2&sweep=batch%3D2&profile=h100").body);
  EXPECT_FALSE(alone.stream->Next());
  for (const char* wrong : {"sweep=batch%3D1,x", "sweep=batch", "profile=h100", ""}) {
    EXPECT_EQ(Get(std::string("/api/v1/sweep?model=gpt2&") + wrong).status, 400) << wrong;
  }
}

}  // namespace
}  // namespace beryl::server
