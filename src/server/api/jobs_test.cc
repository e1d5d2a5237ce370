#include <filesystem>
#include <fstream>
#include <sstream>
#include <stop_token>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "flows/learn_machine.h"
#include "server/api/job_kinds.h"
#include "server/api/kept_request.h"
#include "server/api/library_routes_for_test.h"

namespace beryl::server {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kFolder = "tests/data/three-models";

class JobRoutesTest : public testing::Test, protected LibraryRoutesForTest {
 protected:
  JobRoutesTest() {
    AddCostRoutes(api_, options_.routes);
    AddJobRoutes(api_, options_.routes);
  }

  static std::string PlaceOf(const HttpAnswer& answer) {
    EXPECT_FALSE(answer.fields.empty()) << answer.body;
    return answer.fields.empty() ? "" : answer.fields.front().value;
  }
  std::string AddDataset(const std::string& folder = kFolder) {
    std::string form;
    for (const auto& file : std::filesystem::directory_iterator(folder)) {
      form += "--b\r\nContent-Disposition: form-data; name=file; filename=\"" +
              file.path().filename().string() + "\"\r\n\r\n" + Content(file.path()) + "\r\n";
    }
    form += "--b\r\nContent-Disposition: form-data; name=name\r\n\r\nmodels\r\n--b--\r\n";
    const HttpAnswer added =
        Ask("POST", "/api/v1/datasets", form, "Content-Type: multipart/form-data; boundary=b\r\n");
    EXPECT_EQ(added.status, 201) << added.body;
    return PlaceOf(added);
  }
  // Asks for a job; returns its place.
  std::string Queue(const std::string& target) {
    const HttpAnswer queued = Ask("POST", target);
    EXPECT_EQ(queued.status, 202) << queued.body;
    EXPECT_THAT(queued.body, HasSubstr(R"("state":"queued")"));
    return PlaceOf(queued);
  }
  // Does what waits.
  void DoJobs() {
    while (const auto job = *library_->ClaimJob()) {
      ASSERT_TRUE(flows::RunJob(*library_, *job, TaskOf(api_, *library_, *job), std::stop_token()));
    }
  }
};

TEST_F(JobRoutesTest, AnEvaluationIsThatOfTheCommand) {
  const std::string place =
      Queue(AddDataset() + "/evaluate?method=end2end&seeds=2&features=resource");
  EXPECT_EQ(Get(place + "/result").status, 409);
  DoJobs();
  EXPECT_THAT(Get(place).body,
              AllOf(HasSubstr(R"("state":"done")"), HasSubstr(R"("seeds":["2"])")));
  const HttpAnswer result = Get(place + "/result");
  EXPECT_EQ(result.type, "application/json");
  const std::string text = StreamOf(result);
  learn::TrainOptions options;
  options.method = Method::kEnd2End;
  options.features = FeatureSet::kResource;
  auto direct = flows::EvaluateMethod(kFolder, "", options, 2);
  ASSERT_TRUE(direct);
  // The same numbers; the time it took and the place differ.
  const std::string wanted = views::Write(*direct, views::Format::kJson, {});
  const size_t levels = wanted.find("\"levels\"");
  ASSERT_NE(levels, std::string::npos);
  EXPECT_THAT(text, HasSubstr(wanted.substr(levels, 400)));
  EXPECT_THAT(text, HasSubstr(R"("models")"));
}

TEST_F(JobRoutesTest, AProfileThatIsLearnedIsKept) {
  const std::string place = Queue(AddDataset() + "/train?name=mine&tag=a&machine=lab");
  DoJobs();
  const auto job = library_->GetJob(place.substr(place.rfind('/') + 1));
  ASSERT_EQ(job->state, JobState::kDone) << job->error;
  ASSERT_EQ(job->entries.size(), 1U);
  const std::string& id = job->entries[0].id;
  EXPECT_THAT(Get(place).body, HasSubstr(R"("location":"/api/v1/profiles/)" + id));
  EXPECT_EQ(library_->Get(id)->machine, "lab");
  EXPECT_EQ(library_->Get(id)->name, "mine");
  EXPECT_EQ(Get("/api/v1/profiles/" + id).status, 200);
}

TEST_F(JobRoutesTest, ASweepIsThatOfPredict) {
  const std::string query = "?model=gpt2&sweep=batch=1,2&sweep=seq=4,8&profile=h100";
  const std::string place = Queue("/api/v1/sweeps" + query);
  DoJobs();
  EXPECT_EQ(StreamOf(Get(place + "/result")), Get("/api/v1/predict" + query).body);
  const std::string config = Content("tests/data/models/tiny-bert.json");
  EXPECT_EQ(Ask("POST", "/api/v1/sweeps?sweep=batch=1,2", config).status, 202);
  EXPECT_EQ(Ask("POST", "/api/v1/sweeps?sweep=batch=1,2", "{").status, 422);
  EXPECT_EQ(Ask("POST", "/api/v1/sweeps?model=gpt2").status, 400);
  EXPECT_EQ(Ask("POST", "/api/v1/sweeps?model=gpt2&sweep=batch=x").status, 400);
  DoJobs();
  EXPECT_EQ(library_->Count()->done, 2U);
}

TEST_F(JobRoutesTest, RefusesAtOnceWhatCannotBeDone) {
  const std::string dataset = AddDataset();
  EXPECT_EQ(Ask("POST", "/api/v1/datasets/none-such/train").status, 404);
  EXPECT_EQ(Ask("POST", dataset + "/evaluate?test=none-such").status, 404);
  EXPECT_EQ(Ask("POST", dataset + "/evaluate?test=x&leave=size").status, 400);
  EXPECT_EQ(Ask("POST", dataset + "/evaluate?method=datasheet").status, 400);
  EXPECT_EQ(Ask("POST", dataset + "/evaluate?seeds=0").status, 400);
  const HttpAnswer file = Ask("POST", dataset + "/train?model=tests/data/models/tiny-bert.json");
  EXPECT_EQ(file.status, 400);
  EXPECT_THAT(file.body, HasSubstr(R"("parameter":"model")"));
  EXPECT_EQ(library_->Count()->queued, 0U);
  // What turns out to be impossible later fails, and says why.
  const std::string place = Queue(dataset + "/evaluate?leave=family");
  DoJobs();
  EXPECT_THAT(Get(place).body, AllOf(HasSubstr(R"("state":"failed")"), HasSubstr("family"),
                                     HasSubstr(R"("parameter":"leave")")));
  EXPECT_EQ(Get(place + "/result").status, 409);
  Queue(dataset + "/train");
  Ask("DELETE", dataset);
  DoJobs();
  EXPECT_EQ(library_->Count()->failed, 2U);
}

TEST_F(JobRoutesTest, ListsAndCancels) {
  const std::string dataset = AddDataset();
  const std::string first = Queue(dataset + "/train");
  const std::string second = Queue(dataset + "/evaluate");
  const std::string id = first.substr(first.rfind('/') + 1);
  EXPECT_THAT(Get("/api/v1/jobs?kind=train").body,
              AllOf(HasSubstr(id), Not(HasSubstr(second.substr(second.rfind('/') + 1)))));
  EXPECT_THAT(Get("/api/v1/jobs?max_results=1").body, Not(HasSubstr(R"("next_page_token":null)")));
  EXPECT_THAT(Ask("DELETE", first).body, HasSubstr(R"("state":"cancelled")"));
  EXPECT_EQ(Ask("DELETE", first).status, 200);
  EXPECT_THAT(Get("/api/v1/jobs?state=queued").body, Not(HasSubstr(id)));
  EXPECT_THAT(Get("/api/v1/jobs?format=csv").body, HasSubstr(id + ",train,cancelled"));
  for (const char* target : {"/api/v1/jobs/none-such", "/api/v1/jobs/none-such/events",
                             "/api/v1/jobs/none-such/result"}) {
    EXPECT_EQ(Get(target).status, 404) << target;
  }
  EXPECT_EQ(Get("/api/v1/jobs?state=lost").status, 400);
  EXPECT_EQ(Get("/api/v1/jobs?page_token=x").status, 400);
}

TEST_F(JobRoutesTest, EventsComeOnceAndGoOnWhereTheyStopped) {
  const std::string place = Queue(AddDataset() + "/train");
  DoJobs();
  const std::string all = StreamOf(Get(place + "/events"));
  EXPECT_THAT(all, testing::StartsWith("retry: 1000\n\nid: 1\nevent: queued\ndata: {"));
  EXPECT_THAT(all, AllOf(HasSubstr("id: 2\nevent: running\n"), HasSubstr("event: done\n")));
  const std::string rest = StreamOf(Ask("GET", place + "/events", "", "Last-Event-ID: 2\r\n"));
  EXPECT_EQ(rest, "retry: 1000\n\n" + all.substr(all.find("id: 3\n")));
  EXPECT_EQ(StreamOf(Get(place + "/events?after=2")), rest);
  const auto last = library_->GetJob(place.substr(place.rfind('/') + 1))->last_event;
  const std::string seen = "Last-Event-ID: " + std::to_string(last) + "\r\n";
  EXPECT_EQ(Ask("GET", place + "/events", "", seen).status, 204);
  EXPECT_EQ(Ask("GET", place + "/events", "", "Last-Event-ID: x\r\n").status, 400);
  EXPECT_EQ(Get(place + "/events?after=-1").status, 400);
}

TEST_F(JobRoutesTest, KeptRequestsAreTheSameAgain) {
  HttpRequest request;
  request.method = "POST";
  request.parts = {"0123456789abcdef"};
  request.query = "set=a%3Ab&set=c&name=two+words%20%C3%A4&seed=1";
  request.body = R"({"a": [1, {"b": "\"c"}]})";
  const std::string text = WriteKeptRequest(request);
  const auto again = ReadKeptRequest(text);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->parts, request.parts);
  EXPECT_EQ(again->body, request.body);
  EXPECT_EQ(WriteKeptRequest(*again), text);
  EXPECT_THAT(text, HasSubstr(R"("set":["a:b","c"])"));
  for (const char* broken : {"", "[]", R"({"parameters":[]})", R"({"parameters":{"a":"b"}})",
                             R"({"parameters":{"a":[1]}})", R"({"id":1})", R"({"other":1})",
                             "{\"parameters\":{\"\x7f\":[\"a\"]}}"}) {
    EXPECT_FALSE(ReadKeptRequest(broken)) << broken;
  }
}

TEST_F(JobRoutesTest, AJobThatIsNotKnownFails) {
  ASSERT_TRUE(library_->Enqueue("paint", R"({"parameters":{}})"));
  ASSERT_TRUE(library_->Enqueue("train", R"({"parameters":{}})"));
  ASSERT_TRUE(library_->Enqueue("evaluate", R"({"id":"x","parameters":{"seeds":["many"]}})"));
  DoJobs();
  const auto jobs = library_->ListJobs({}, {});
  for (const LibraryJob& job : jobs->jobs) EXPECT_EQ(job.state, JobState::kFailed) << job.kind;
  EXPECT_THAT(jobs->jobs.front().error, HasSubstr("seeds"));
  EXPECT_THAT(jobs->jobs.back().error, HasSubstr("paint"));
}

TEST_F(JobRoutesTest, RegionsAndTradeoffs) {
  EXPECT_THAT(Get("/api/v1/regions").body,
              AllOf(HasSubstr("beryl.regions/1"), HasSubstr(R"("region":"DE")")));
  EXPECT_THAT(Get("/api/v1/regions?format=csv").body, HasSubstr("\nUS,0.1319,USD,"));
  const std::string place = PlaceOf(Ask("POST", "/api/v1/predictions?model=gpt2&batch=2&name=two"));
  EXPECT_EQ(Get("/api/v1/tradeoff").status, 422);
  EXPECT_EQ(Ask("PATCH", place, R"({"accuracy":0.5})").status, 200);
  const HttpAnswer stored = Get("/api/v1/tradeoff?budget=1000");
  EXPECT_EQ(stored.status, 200) << stored.body;
  EXPECT_THAT(stored.body, AllOf(HasSubstr("beryl.tradeoff/"), HasSubstr(R"("label":"two")")));
  EXPECT_EQ(Get("/api/v1/tradeoff?by=accuracy").status, 400);
  const std::string dataset = AddDataset("tests/data/two-models");
  const std::string csv = Content("tests/golden/tradeoff-table/accuracy.csv");
  EXPECT_THAT(Ask("POST", dataset + "/tradeoff", csv).body, HasSubstr("\"points\":[{"));
  EXPECT_EQ(Ask("POST", dataset + "/tradeoff?format=svg", csv).type, "image/svg+xml");
  EXPECT_EQ(Ask("POST", dataset + "/tradeoff", "x").status, 422);
  EXPECT_EQ(Ask("POST", dataset + "/tradeoff?model=none", csv).status, 400);
}

}  // namespace
}  // namespace beryl::server
