#include "server/api/entry_upload.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "server/api/library_entries.h"
#include "server/api/run_parameters.h"
#include "server/http/multipart.h"

namespace beryl::server {
namespace {

constexpr size_t kLongestText = size_t{64} << 10;

bool Has(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The fields of a form, in the order that they come: "rank" is of the files that follow it.
class FormFields {
 public:
  FormFields(const UploadForm& form, store::Library& library, LibraryEntry& entry)
      : known_(form), library_(library), entry_(entry) {}

  Status Begin(const PartHead& head) {
    field_ = head.name;
    text_.clear();
    const auto file = std::find_if(known_.files.begin(), known_.files.end(),
                                   [&](const auto& known) { return known.first == field_; });
    if (file == known_.files.end()) return CheckText();
    TRY(BeginFile(*file, head.file_name.value_or("")));
    file_.media_type = head.type;
    return {};
  }
  // `field`: of UploadForm::files.
  Status BeginFile(const std::pair<std::string_view, FileRole>& field, const std::string& name) {
    file_ = {};
    const FileRole role = field.second;
    file_.role = role;
    file_.name = name.empty() ? std::string(field.first) : name;
    if (role == FileRole::kOps || role == FileRole::kPower) file_.rank = rank_;
    intake_ = TRY(library_.BeginFile());
    return {};
  }

  Status Take(std::string_view bytes) {
    if (intake_) return intake_->Write(bytes);
    if (text_.size() + bytes.size() > kLongestText) {
      return Refusal(fmt::format("is longer than {} bytes", kLongestText));
    }
    text_ += bytes;
    return {};
  }

  Status End() {
    if (intake_) {
      file_.stored = TRY(intake_->Keep());
      intake_.reset();
      entry_.files.push_back(std::move(file_));
      return {};
    }
    if (field_ == "name") entry_.name = text_;
    if (field_ == "tag") entry_.tags.push_back(text_);
    if (field_ == "notes") entry_.notes = text_;
    if (field_ == "model") entry_.model = text_;
    if (field_ == "machine") entry_.machine = text_;
    if (field_ == "rank") rank_ = text_;
    if (field_ != "accuracy") return {};
    entry_.figures.accuracy = ParseNumber(text_);
    return entry_.figures.accuracy ? Status() : Refusal("expected a number");
  }

  // Which field is wrong; empty: none.
  const std::vector<ProblemPart>& wrong() const { return wrong_; }

 private:
  Error Refusal(std::string detail) {
    wrong_.push_back({field_, {}, std::move(detail)});
    return MisuseError("the form has a field that cannot be used");
  }
  Status CheckText() {
    if (Has(known_.texts, field_)) return {};
    std::vector<std::string_view> there = known_.texts;
    for (const auto& file : known_.files) there.push_back(file.first);
    return Refusal(fmt::format("there is no such field; there are {}", fmt::join(there, ", ")));
  }

  const UploadForm& known_;
  store::Library& library_;
  LibraryEntry& entry_;
  std::string field_;
  std::string text_;
  std::string rank_;
  EntryFile file_;
  std::optional<store::FileIntake> intake_;
  std::vector<ProblemPart> wrong_;
};

class EntryUpload : public HttpUpload {
 public:
  EntryUpload(const UploadForm& known, store::Library& library, LibraryEntry said,
              std::string instance)
      : known_(known),
        library_(library),
        entry_(std::move(said)),
        instance_(std::move(instance)),
        form_(known_, library_, entry_) {}

  // A form; or the bytes of one file.
  Status Begin(const std::optional<std::string>& boundary, const std::string& file_name) {
    if (!boundary) return form_.BeginFile(known_.files.front(), file_name);
    reader_.emplace(*boundary, MultipartReader::Sink{
                                   [this](const PartHead& head) { return form_.Begin(head); },
                                   [this](std::string_view bytes) { return form_.Take(bytes); },
                                   [this] { return form_.End(); }});
    return {};
  }

  std::optional<HttpAnswer> Take(std::string_view piece) override {
    const auto taken =
        Guarded([&]() -> Status { return reader_ ? reader_->Take(piece) : form_.Take(piece); });
    return taken ? std::nullopt : std::optional(AnswerOf(taken.error()));
  }

  HttpAnswer Finish() override {
    std::optional<HttpAnswer> answer;
    const auto done = Guarded([&]() -> Status {
      TRY(reader_ ? reader_->End() : form_.End());
      answer = AddedAnswer(library_, TRY(known_.add(library_, std::move(entry_))));
      return {};
    });
    return done ? *std::move(answer) : AnswerOf(done.error());
  }

 private:
  static Status Guarded(const std::function<Status()>& work) {
    try {
      return work();
    } catch (const std::bad_alloc&) {
      return Error{ErrorCode::kTooMuch, "there is not enough memory to read that"};
    } catch (const std::exception&) {
      return IoError("what was uploaded could not be read");
    }
  }
  HttpAnswer AnswerOf(const Error& error) const {
    if (form_.wrong().empty()) return ProblemAnswer(error, instance_);
    return ProblemAnswer(400, error.message, instance_, form_.wrong());
  }

  const UploadForm& known_;
  store::Library& library_;
  LibraryEntry entry_;
  const std::string instance_;
  FormFields form_;
  std::optional<MultipartReader> reader_;
};

// `form` outlives the upload.
Result<std::unique_ptr<HttpUpload>> BeginUpload(const UploadForm& form, store::Library& library,
                                                Parameters& parameters,
                                                const HttpRequest& request) {
  LibraryEntry said = AskForWords(parameters);
  if (Has(form.texts, "model")) said.model = parameters.Text("model");
  if (Has(form.texts, "machine")) said.machine = parameters.Text("machine");
  if (Has(form.texts, "accuracy")) {
    said.figures.accuracy = parameters.Number("accuracy", -std::numeric_limits<double>::max());
  }
  const std::string file_name = parameters.Text("file_name");
  const std::string_view type = request.Field("content-type");
  const auto boundary = BoundaryOf(type);
  if (!boundary && type.starts_with("multipart/")) {
    return MisuseError("a form with files is multipart/form-data with a boundary");
  }
  if (boundary && !file_name.empty()) {
    parameters.Refuse("file_name", "a form names its files itself");
  }
  TRY(CheckParameters(parameters));
  auto upload = std::make_unique<EntryUpload>(form, library, std::move(said), request.path);
  TRY(upload->Begin(boundary, file_name));
  return Result<std::unique_ptr<HttpUpload>>(std::move(upload));
}

}  // namespace

HttpUploadHandler HandleUpload(Api& api, UploadForm form) {
  return [&api, known = std::make_shared<const UploadForm>(std::move(form))](
             const HttpRequest& request) -> std::variant<HttpAnswer, std::unique_ptr<HttpUpload>> {
    if (api.library == nullptr) return NoLibrary(request);
    Parameters parameters(request);
    auto upload = BeginUpload(*known, *api.library, parameters, request);
    if (upload) return *std::move(upload);
    return AnswerOfError(std::move(upload).error(), parameters, request);
  };
}

}  // namespace beryl::server
