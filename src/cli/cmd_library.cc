#include <memory>
#include <utility>

#include "cli/arguments.h"
#include "flows/edit_library.h"
#include "flows/library_export.h"
#include "flows/open_library.h"

namespace beryl::cli {
namespace {

constexpr CommandText kText = {
    "library", "Keep runs, predictions, profiles and data sets",
    R"(A library is a folder, or a PostgreSQL database that several machines share. --library DIR or
--library postgresql://... names it, otherwise $BERYL_LIBRARY, otherwise ~/.local/share/beryl/library. It keeps
each file once and unchanged, with what is known about it. See docs/library.md.

EXAMPLES
  beryl library add run.beryl --tag paper --model bert-base-uncased
  beryl library ls --tag paper
  beryl library export -o backup/
  beryl library verify)"};

constexpr CommandText kListText = {"ls", "List the entries, the newest first", R"(EXAMPLES
  beryl library ls
  beryl library ls --kind run --model gpt2 --since 2026-11-01
  beryl library ls --search 'before the fix' --format json)"};

constexpr CommandText kAddText = {
    "add", "Add runs, a profile, a data set, or an export of another library",
    R"(RUN is a run file or a recording; --ops and --power are one run, as for beryl account. A run that cannot be
read is not added. If the library already has the same files, it prints the id of that entry and adds nothing.
Entries of a folder that beryl library export wrote keep their ids and times.

EXAMPLES
  beryl library add before.beryl after.beryl --tag fix
  beryl library add --ops trace.json.gz --power power.csv --name 'first try'
  beryl library add --as profile machine.json
  beryl library add backup/ --library postgresql://box/energy)"};

constexpr CommandText kGetText = {"get", "Write the files of an entry, unchanged",
                                  R"(It replaces no file.

EXAMPLES
  beryl library get 8f3k2m9qw4tz7abc -o there/)"};

constexpr CommandText kRemoveText = {
    "rm", "Remove entries",
    R"(It prints the entries that it removes. Their files stay until beryl library gc.

EXAMPLES
  beryl library rm 8f3k2m9qw4tz7abc)"};

constexpr CommandText kGarbageText = {"gc", "Remove files that no entry or job refers to",
                                      R"(EXAMPLES
  beryl library gc
  beryl library gc --older-than 0)"};

constexpr CommandText kVerifyText = {
    "verify", "Check that every file is there and unchanged",
    R"(It reads every file and compares it with its digest. A problem makes it fail.

EXAMPLES
  beryl library verify)"};

constexpr CommandText kExportText = {
    "export", "Write all entries with their files into a folder",
    R"(The folder has a manifest.json and the files, named by their digests. beryl library add reads it. Jobs are not
exported.

EXAMPLES
  beryl library export -o backup/
  beryl library export -o all/ && beryl library add all/ --library postgresql://box/energy)"};

// Each command has some of these.
struct LibraryArguments {
  std::string library;
  OutputArguments output;
  flows::ListRequest list;
  RunArguments run;
  LibraryEntry entry;
  std::vector<std::string> ids;
  std::string folder;
  int older_than_s = 3600;
};

std::pair<Command&, LibraryArguments&> AddTo(Command& program, const CommandText& text,
                                             Result<int> (*run)(const LibraryArguments&)) {
  auto [command, arguments] = program.Subcommand(text, "Commands", run);
  command.Option("--library DIR", arguments.library,
                 "The library: a folder, or postgresql://...; default: $BERYL_LIBRARY or your own");
  command.AlsoReads([&library = arguments.library] { return flows::LibraryPlace(library); });
  return {command, arguments};
}

Result<std::unique_ptr<store::Library>> OpenToRead(const LibraryArguments& arguments) {
  return flows::OpenLibrary(arguments.library, {.read_only = true});
}

Result<int> RunList(const LibraryArguments& arguments) {
  return WriteResult(arguments.output, [&](auto&) -> Result<EntryList> {
    const auto library = TRY(OpenToRead(arguments));
    return flows::ListLibrary(*library, arguments.list);
  });
}

void AddList(Command& program) {
  auto [command, arguments] = AddTo(program, kListText, RunList);
  auto& [filter, since, until, page] = arguments.list;
  command.Choice<std::optional<EntryKind>>("--kind", filter.kind,
                                           {{"run", EntryKind::kRun},
                                            {"prediction", EntryKind::kPrediction},
                                            {"profile", EntryKind::kProfile},
                                            {"dataset", EntryKind::kDataset}},
                                           "Only entries of this kind");
  command.Option("--tag TAG", filter.tags, "Only with this tag; several: with all");
  command.Option("--model NAME", filter.model, "Only of this model");
  command.Option("--machine NAME", filter.machine, "Only from this machine");
  command.Option("--profile NAME", filter.profile, "Only predicted by this profile");
  command.Option("--search TEXT", filter.text, "Only with this text in name, tags or notes");
  command.Option("--since TIME", since, "Only added then or later: 2026-11-18, in UTC");
  command.Option("--until TIME", until, "Only added before");
  command.Option("--max-results N", page.size, "Entries on a page", Between(1, 1000));
  command.Option("--page-token TOKEN", page.token,
                 "The next page: the token that a page ends with");
  AddOutputOptions(command, arguments.output, views::kFormats<EntryList>);
}

Result<int> RunAdd(const LibraryArguments& arguments) {
  const std::vector<std::string>& given = arguments.run.files.runs;
  if (given.size() == 1 && flows::IsLibraryExport(given.front())) {
    const auto library = TRY(flows::OpenLibrary(arguments.library));
    const auto transfer = TRY(flows::AddLibraryExport(*library, given.front()));
    Say("added {} entries with {} files ({}); {} were there already\n", transfer.entries,
        transfer.files, FormatBytes(transfer.bytes), transfer.already_there);
    return kSuccess;
  }
  const auto options = TRY(ReadOptions(arguments.run));
  return WriteResult(arguments.output, [&](auto&) -> Result<EntryList> {
    const auto library = TRY(flows::OpenLibrary(arguments.library));
    auto added = TRY(flows::AddToLibrary(*library, arguments.run.files, arguments.entry, options));
    for (const std::string& id : added.already_there) {
      Say("{} is there already, with these files\n", id);
    }
    return std::move(added.list);
  });
}

void AddAdd(Command& program) {
  auto [command, arguments] = AddTo(program, kAddText, RunAdd);
  LibraryEntry& entry = arguments.entry;
  AddInputOptions(command, arguments.run, "A run file, a recording, or an export of a library");
  command.Choice("--as", entry.kind,
                 {{"run", EntryKind::kRun},
                  {"profile", EntryKind::kProfile},
                  {"dataset", EntryKind::kDataset}},
                 "What the files are");
  AddEntryOptions(command, entry);
  AddReadingOptions(command, arguments.run);
  AddOutputOptions(command, arguments.output, views::kFormats<EntryList>);
}

Result<int> RunGet(const LibraryArguments& arguments) {
  const auto library = TRY(OpenToRead(arguments));
  for (const std::string& file :
       TRY(flows::WriteLibraryFiles(*library, arguments.ids.front(), arguments.folder))) {
    Say("wrote {}\n", Printable(file));
  }
  return kSuccess;
}

void AddGet(Command& program) {
  auto [command, arguments] = AddTo(program, kGetText, RunGet);
  command.Argument("ID", arguments.ids.emplace_back(), "The entry").Required();
  arguments.folder = ".";
  command.Option("-o,--output DIR", arguments.folder, "The folder to write to");
}

Result<int> RunRemove(const LibraryArguments& arguments) {
  const auto remove = [&](auto&) -> Result<EntryList> {
    const auto library = TRY(flows::OpenLibrary(arguments.library));
    return flows::RemoveFromLibrary(*library, arguments.ids);
  };
  TRY(WriteResult(arguments.output, remove));
  Say("removed; the files stay until beryl library gc\n");
  return kSuccess;
}

void AddRemove(Command& program) {
  auto [command, arguments] = AddTo(program, kRemoveText, RunRemove);
  command.Argument("ID", arguments.ids, "The entries").Required();
  AddOutputOptions(command, arguments.output, views::kFormats<EntryList>);
}

Result<int> RunGarbage(const LibraryArguments& arguments) {
  return WriteResult(arguments.output, [&](auto&) -> Result<LibraryGarbage> {
    const auto library = TRY(flows::OpenLibrary(arguments.library));
    return flows::CollectLibraryGarbage(*library,
                                        {.files = std::chrono::seconds(arguments.older_than_s)});
  });
}

void AddGarbage(Command& program) {
  auto [command, arguments] = AddTo(program, kGarbageText, RunGarbage);
  command.Option("--older-than SECONDS", arguments.older_than_s,
                 "How old such files must be; younger ones may be about to become an entry's",
                 Between(0, 1'000'000'000));
  AddOutputOptions(command, arguments.output, views::kFormats<LibraryGarbage>);
}

Result<int> RunVerify(const LibraryArguments& arguments) {
  bool is_whole = false;
  const auto verify = [&](auto&) -> Result<LibraryCheck> {
    const auto library = TRY(OpenToRead(arguments));
    const auto shown = ShowProgress("verify", TRY(library->Count()).file_bytes);
    auto check = TRY(flows::VerifyLibrary(*library, [&](uint64_t done, uint64_t) { shown(done); }));
    is_whole = check.problems.empty();
    return check;
  };
  TRY(WriteResult(arguments.output, verify));
  return is_whole ? kSuccess : kFailure;
}

void AddVerify(Command& program) {
  auto [command, arguments] = AddTo(program, kVerifyText, RunVerify);
  AddOutputOptions(command, arguments.output, views::kFormats<LibraryCheck>);
}

Result<int> RunExport(const LibraryArguments& arguments) {
  const auto library = TRY(OpenToRead(arguments));
  const auto transfer = TRY(flows::ExportLibrary(*library, arguments.folder));
  Say("wrote {}: {} entries with {} files ({})\n", Printable(arguments.folder), transfer.entries,
      transfer.files, FormatBytes(transfer.bytes));
  return kSuccess;
}

void AddLibraryExport(Command& program) {
  auto [command, arguments] = AddTo(program, kExportText, RunExport);
  command.Option("-o,--output DIR", arguments.folder, "A new or empty folder").Required();
}

}  // namespace

void AddLibrary(Command& program, const char* group) {
  Command& library = program.Subcommand(kText, group);
  for (const auto add :
       {AddList, AddAdd, AddGet, AddRemove, AddGarbage, AddVerify, AddLibraryExport}) {
    add(library);
  }
}

}  // namespace beryl::cli
