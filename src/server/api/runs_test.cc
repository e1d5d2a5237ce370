#include <filesystem>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flows/analyse_run.h"
#include "flows/measure_run.h"
#include "flows/run_files.h"
#include "server/api/library_routes_for_test.h"
#include "types/library_json.h"

namespace beryl::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr const char* kOps = "tests/golden/tensorflow-layers-json/ops.json";
constexpr const char* kPower = "tests/golden/tensorflow-layers-json/power.csv";
constexpr const char* kRecording = "tests/data/recordings/training.beryl";

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string Part(const std::string& head, const std::string& body) {
  return "--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + body + "\r\n";
}
std::string FilePart(const std::string& name, const std::string& path) {
  const std::string file = std::filesystem::path(path).filename();
  return Part("name=\"" + name + "\"; filename=\"" + file + "\"", ContentOf(path));
}

class RunsTest : public testing::Test, protected LibraryRoutesForTest {
 protected:
  RunsTest() { AddAnalysisRoutes(api_, options_.routes); }

  HttpAnswer Ask(const std::string& method, const std::string& target, const std::string& body = "",
                 const std::string& type = "application/octet-stream") {
    return LibraryRoutesForTest::Ask(method, target, body, "Content-Type: " + type + "\r\n");
  }
  HttpAnswer PostForm(const std::string& parts) {
    return Ask("POST", "/api/v1/runs", parts + "--b--\r\n", "multipart/form-data; boundary=b");
  }
  // Where a new run is.
  std::string Added(const HttpAnswer& answer) {
    EXPECT_EQ(answer.status, 201) << answer.body;
    EXPECT_FALSE(answer.fields.empty());
    return answer.fields.empty() ? "" : answer.fields.front().value;
  }
  std::string AddTraces() {
    return Added(PostForm(FilePart("ops", kOps) + FilePart("power", kPower) +
                          Part("name=\"name\"", "first") + Part("name=tag", "paper")));
  }
};

TEST_F(RunsTest, KeepsAnUploadOnceAndGivesItBack) {
  const std::string bytes = ContentOf(kRecording);
  const std::string target = "/api/v1/runs?name=one&tag=a&tag=b&file_name=training.beryl";
  const HttpAnswer added = Ask("POST", target, bytes);
  const std::string place = Added(added);
  EXPECT_THAT(place, StartsWith("/api/v1/runs/"));
  EXPECT_THAT(added.body, AllOf(HasSubstr("\"form\":\"recording\""), HasSubstr("\"name\":\"one\""),
                                HasSubstr("training.beryl")));
  const HttpAnswer again = Ask("POST", "/api/v1/runs?name=other", bytes);
  EXPECT_EQ(again.status, 200);
  ASSERT_FALSE(again.fields.empty());
  EXPECT_EQ(again.fields.front().value, place);
  EXPECT_EQ(library_->Count()->runs, 1u);
  EXPECT_EQ(library_->Count()->files, 1u);
  const HttpAnswer file = Get(place + "/file");
  EXPECT_EQ(file.status, 200);
  EXPECT_EQ(file.type, "application/octet-stream");
  ASSERT_TRUE(file.stream);
  EXPECT_EQ(file.stream->size(), bytes.size());
  EXPECT_EQ(StreamOf(file), bytes);
}

TEST_F(RunsTest, AnalysesAreThoseOfTheCommandLine) {
  const std::string place = AddTraces();
  flows::RunFiles files;
  std::filesystem::copy(kOps, folder_);
  std::filesystem::copy(kPower, folder_);
  files.ops = {folder_ / "ops.json"};
  files.power = {folder_ / "power.csv"};
  const auto run = flows::AccountRunOf(files, {});
  ASSERT_TRUE(run) << run.error().message;
  const AccountReport report = flows::MakeReport(*run, {});
  // The program names the files as it was told.
  const auto plain = [&](std::string text) {
    for (size_t at = 0; (at = text.find(folder_.string() + "/")) != std::string::npos;) {
      text.erase(at, folder_.string().size() + 1);
    }
    return text;
  };
  const HttpAnswer account = Get(place + "/account");
  EXPECT_EQ(account.status, 200) << account.body;
  EXPECT_EQ(account.body, plain(views::Write(report, views::Format::kJson, {})));
  EXPECT_EQ(Get(place + "/account").body, account.body);
  const HttpAnswer rank = Get(place + "/rank?top=3&format=csv");
  views::ViewOptions top;
  top.top = 3;
  EXPECT_EQ(rank.body,
            plain(views::Write(report, flows::RankRun(*run, {OperationRanking::Kind::kStef}),
                               views::Format::kCsv, top)));
  EXPECT_THAT(Get(place + "/timeline?slices=7").body, HasSubstr("beryl.timeline/"));
  EXPECT_EQ(Get(place + "/diagram?format=svg").type, "image/svg+xml");
  EXPECT_THAT(Get(place + "/export?to=folded").body, HasSubstr(";"));
  EXPECT_THAT(Get(place + "/account?format=html").body, HasSubstr("<html"));
  EXPECT_THAT(Get(place + "/measurement").body, HasSubstr("beryl.measurement/"));
  EXPECT_EQ(Get(place + "/account?level=model&columns=none-such").status, 400);
  EXPECT_EQ(Get(place + "/rank?by=power&no_fold=1").status, 400);
  EXPECT_EQ(Get(place + "/export").status, 400);
  EXPECT_EQ(Get(place + "/account?only_ours=1").status, 400);
}

TEST_F(RunsTest, AModelIsANameAndNoFile) {
  const std::string place = AddTraces();
  const HttpAnswer known = Get(place + "/account?model=bert-base-uncased&profile=h100");
  EXPECT_EQ(known.status, 200) << known.body;
  for (const char* file : {"model=tests/data/models/tiny-bert.json",
                           "model=gpt2&profile=data/gtx1080ti-i9-7900x.json"}) {
    EXPECT_EQ(Get(place + "/account?" + file).status, 422) << file;
  }
  EXPECT_EQ(Get(place + "/account?batch=8").status, 400);
}

TEST_F(RunsTest, ListsChangesAndRemoves) {
  const std::string first = AddTraces();
  const std::string second = Added(Ask("POST", "/api/v1/runs?tag=new", ContentOf(kRecording)));
  const std::string id = second.substr(second.rfind('/') + 1);
  EXPECT_THAT(Get("/api/v1/runs?tag=paper").body, AllOf(HasSubstr("first"), Not(HasSubstr(id))));
  const HttpAnswer page = Get("/api/v1/runs?max_results=1");
  EXPECT_THAT(page.body, AllOf(HasSubstr(id), Not(HasSubstr("\"next_page_token\":null"))));
  EXPECT_EQ(Get("/api/v1/runs?since=yesterday").status, 400);
  const HttpAnswer changed =
      Ask("PATCH", second, R"({"name":"two","tags":["z","a"],"notes":"n","accuracy":0.5})");
  EXPECT_EQ(changed.status, 200) << changed.body;
  EXPECT_THAT(changed.body, AllOf(HasSubstr("\"name\":\"two\""), HasSubstr("\"accuracy\":0.5")));
  EXPECT_EQ(library_->Get(id)->tags, (std::vector<std::string>{"a", "z"}));
  const HttpAnswer wrong = Ask("PATCH", second, R"({"name":1,"tags":"a","mode":"x"})");
  EXPECT_EQ(wrong.status, 422);
  EXPECT_THAT(wrong.body,
              AllOf(HasSubstr("\"/name\""), HasSubstr("\"/tags\""), HasSubstr("\"/mode\"")));
  EXPECT_EQ(Ask("PATCH", second, "{").status, 422);
  EXPECT_EQ(library_->Get(id)->name, "two");
  EXPECT_EQ(Get(first + "/account").status, 200);
  EXPECT_THAT(Ask("DELETE", first).body, HasSubstr("first"));
  // Also what was asked for before.
  EXPECT_EQ(Get(first + "/account").status, 404);
  EXPECT_EQ(Get(first).status, 404);
  EXPECT_EQ(Ask("DELETE", first).status, 404);
  EXPECT_EQ(Get("/api/v1/runs/none-such/file").status, 404);
  EXPECT_THAT(Get("/api/v1/runs/none-such").body, Not(HasSubstr(folder_)));
}

TEST_F(RunsTest, RefusesUploadsThatAreNoRun) {
  const HttpAnswer no_run = Ask("POST", "/api/v1/runs", "no run");
  EXPECT_EQ(no_run.status, 422);
  EXPECT_THAT(no_run.body, Not(HasSubstr(folder_.string())));
  EXPECT_EQ(Ask("POST", "/api/v1/runs", "").status, 422);
  EXPECT_EQ(PostForm("").status, 400);
  const HttpAnswer field = PostForm(Part("name=nmae", "x"));
  EXPECT_EQ(field.status, 400);
  EXPECT_THAT(field.body, HasSubstr("\"parameter\":\"nmae\""));
  EXPECT_EQ(PostForm(Part("name=accuracy", "good")).status, 400);
  EXPECT_EQ(PostForm(Part("name=notes", std::string(70'000, 'n'))).status, 400);
  EXPECT_EQ(Ask("POST", "/api/v1/runs", "--b", "multipart/form-data; boundary=b").status, 422);
  EXPECT_EQ(Ask("POST", "/api/v1/runs", "x", "multipart/mixed; boundary=b").status, 400);
  EXPECT_EQ(Ask("POST", "/api/v1/runs?nmae=x", "x").status, 400);
  EXPECT_EQ(library_->Count()->runs, 0u);
}

TEST_F(RunsTest, RanksAreOfTheFilesThatFollowThem) {
  const std::string place =
      Added(PostForm(Part("name=rank", "0") + FilePart("ops", kOps) + FilePart("power", kPower) +
                     Part("name=rank", "1") + FilePart("ops", kOps) + FilePart("power", kPower)));
  const auto run = library_->Get(place.substr(place.rfind('/') + 1));
  ASSERT_TRUE(run);
  ASSERT_EQ(run->files.size(), 4u);
  EXPECT_EQ(run->files[1].rank, "0");
  EXPECT_EQ(run->files[3].rank, "1");
  EXPECT_EQ(Get(place + "/account").status, 200);
  EXPECT_EQ(Get(place + "/file").status, 400);
  EXPECT_EQ(StreamOf(Get(place + "/file?digest=" + run->files[1].stored.digest)),
            ContentOf(kPower));
  EXPECT_EQ(Get(place + "/file?digest=abc").status, 404);
}

TEST_F(RunsTest, AProfileThatIsUploadedPredicts) {
  const HttpAnswer shipped = Get("/api/v1/profiles/h100");
  const std::string place = Added(Ask("POST", "/api/v1/profiles?name=mine", shipped.body));
  const std::string id = place.substr(place.rfind('/') + 1);
  EXPECT_EQ(Get(place).body, shipped.body);
  EXPECT_THAT(Get("/api/v1/profiles?stored=1").body, AllOf(HasSubstr(id), HasSubstr("mine")));
  const HttpAnswer predicted = Get("/api/v1/predict?model=gpt2&profile=" + id);
  EXPECT_EQ(predicted.status, 200) << predicted.body;
  EXPECT_THAT(predicted.body, HasSubstr(R"("profile":"mine")"));
  const std::string by_name = Get("/api/v1/predict?model=gpt2&profile=h100").body;
  EXPECT_EQ(predicted.body.substr(predicted.body.find("\"energy_j\"")),
            by_name.substr(by_name.find("\"energy_j\"")));
  EXPECT_EQ(predicted.reuse, HttpReuse::kCheck);
  EXPECT_EQ(Ask("DELETE", place).status, 200);
  EXPECT_EQ(Get("/api/v1/predict?model=gpt2&profile=" + id).status, 422);
  EXPECT_EQ(Ask("POST", "/api/v1/profiles", "{}").status, 422);
  EXPECT_EQ(Ask("POST", "/api/v1/profiles", "").status, 422);
}

TEST_F(RunsTest, PredictionsAreKeptAndRanked) {
  const std::string large = Added(Ask("POST", "/api/v1/predictions?model=gpt2-large&tag=a"));
  const std::string small = Added(Ask("POST", "/api/v1/predictions?model=gpt2&tag=a&batch=2"));
  AddTraces();
  const auto entry = library_->Get(small.substr(small.rfind('/') + 1));
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->model, "gpt2");
  EXPECT_EQ(entry->request, R"({"parameters":{"batch":["2"],"model":["gpt2"],"tag":["a"]}})");
  EXPECT_TRUE(entry->origin && entry->figures.energy_j && entry->figures.per_query_j);
  EXPECT_THAT(StreamOf(Get(small + "/file")), HasSubstr("beryl.predict/"));
  const std::string leaders = Get("/api/v1/leaderboard?tag=a&by=per_query_j").body;
  const size_t first = leaders.find(small.substr(small.rfind('/') + 1));
  const size_t second = leaders.find(large.substr(large.rfind('/') + 1));
  ASSERT_NE(second, std::string::npos);
  EXPECT_LT(first, second);
  EXPECT_THAT(Get("/api/v1/leaderboard?max_results=1").body, Not(HasSubstr("gpt2-large")));
  EXPECT_THAT(Get("/api/v1/leaderboard?kind=run").body, HasSubstr("first"));
  EXPECT_EQ(Get("/api/v1/leaderboard?by=beauty").status, 400);
  EXPECT_EQ(Ask("POST", "/api/v1/predictions?model=gpt2&profile=h100,a100").status, 400);
  EXPECT_EQ(Ask("POST", "/api/v1/predictions").status, 400);
}

TEST_F(RunsTest, RunsAreComparedWithEachOtherAndWithModels) {
  const std::string place = AddTraces();
  const std::string id = place.substr(place.rfind('/') + 1);
  AddCompareRoute(api_, options_.routes);
  const HttpAnswer same = Get("/api/v1/compare?of=" + id + "&of=" + id + "&labels=a,b");
  EXPECT_EQ(same.status, 200) << same.body;
  EXPECT_THAT(same.body, AllOf(HasSubstr("beryl.compare/"), HasSubstr("\"label\":\"b\"")));
  EXPECT_THAT(Get("/api/v1/compare?of=" + id + "&of=" + id).body, HasSubstr("first (" + id + ")"));
  EXPECT_THAT(Get("/api/v1/compare?of=gpt2@h100&of=gpt2@a100&seq=8").body,
              HasSubstr("beryl.side-by-side/"));
  for (const char* wrong : {"of=gpt2", "of=gpt2&of=none-such", "of=gpt2,gpt2&of=gpt2",
                            "of=gpt2&of=gpt2&labels=a", "of=gpt2&of=gpt2&format=svg"}) {
    EXPECT_THAT(Get(std::string("/api/v1/compare?") + wrong).status, testing::AnyOf(400, 404))
        << wrong;
  }
}

TEST_F(RunsTest, WithoutALibraryItSaysSo) {
  api_.library = nullptr;
  EXPECT_EQ(Get("/api/v1/runs").status, 503);
  EXPECT_EQ(Ask("POST", "/api/v1/runs", "x").status, 503);
  EXPECT_EQ(Get("/api/v1/runs/x/account").status, 503);
}

}  // namespace
}  // namespace beryl::server
