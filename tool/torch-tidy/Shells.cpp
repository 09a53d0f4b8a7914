#include "Shells.h"
#include "Messages.h"
#include "Registry.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <algorithm>
#include <vector>

using namespace llvm;

namespace torchtidy::tool {
namespace {

struct OptionText {
  std::string Name;
  /// What stands for its value in --help; empty for none.
  std::string Value;
  std::string Help;
  /// The values that there are, if they can be listed.
  std::vector<std::string> Values;
  /// The next word is its value where no "=" is.
  bool NeedsValue = false;

  /// "-p", "--level"
  std::string dashed() const { return (Name.size() == 1 ? "-" : "--") + Name; }
  bool takesFolder() const { return Value == "folder" || Name == "p"; }
  bool takesPath() const {
    return takesFolder() || StringRef(Value).ends_with("filename") ||
           Value == "file" || Value == "prefix" || Name == "config-file";
  }
  /// Values with commas between.
  bool isList() const {
    return Name == "checks" || Name == "warnings-as-errors";
  }
  /// The first sentence, on one line.
  std::string brief() const {
    SmallVector<StringRef> Words;
    SplitString(Help, Words);
    const std::string All = join(Words, " ");
    const size_t End = std::min(All.find(": "), All.find(". "));
    StringRef First = StringRef(All).take_front(End);
    First.consume_back(".");
    return First.str();
  }
};

std::vector<std::string> checkNames() {
  std::vector<std::string> Result;
  for (const CheckInfo &Check : registry())
    Result.push_back(Check.Name.str());
  return Result;
}

std::vector<std::string> valuesOf(StringRef Name) {
  if (Name == "level" || Name == "fail-on")
    return {"0", "1", "2"};
  if (Name == "format")
    return {"text", "sarif", "github", "gitlab", "jsonl", "junit"};
  if (Name == "color")
    return {"auto", "always", "never"};
  if (Name == "format-style")
    return {"none",    "file",   "llvm",      "google", "chromium",
            "mozilla", "webkit", "microsoft", "gnu"};
  if (Name == "list-checks")
    return {"table", "json"};
  if (Name == "completions")
    return {"bash", "zsh", "fish"};
  std::vector<std::string> Result;
  if (Name == "explain" || Name == "checks" || Name == "warnings-as-errors")
    Result = checkNames();
  if (Name == "explain")
    Result.emplace_back("levels");
  return Result;
}

/// Those that --help shows, by name.
std::vector<OptionText> allOptions() {
  std::vector<OptionText> Result;
  for (const auto &Entry : cl::getRegisteredOptions()) {
    const cl::Option &Each = *Entry.second;
    if (Each.getOptionHiddenFlag() != cl::NotHidden || Entry.first().empty())
      continue;
    OptionText To;
    To.Name = Entry.first().str();
    To.Help = Each.HelpStr.str();
    if (Each.getValueExpectedFlag() != cl::ValueDisallowed) {
      const StringRef Shown = Each.ValueStr;
      // A flag's may be given, and is of no use.
      if (!Shown.empty() || Each.getValueExpectedFlag() == cl::ValueRequired)
        To.Value = Shown.empty() ? "value" : Shown.str();
    }
    To.NeedsValue = Each.getValueExpectedFlag() == cl::ValueRequired;
    To.Values = valuesOf(To.Name);
    Result.push_back(std::move(To));
  }
  llvm::sort(Result, [](const OptionText &A, const OptionText &B) {
    return A.Name < B.Name;
  });
  return Result;
}

/// In quotes of a shell.
std::string quoted(StringRef Text) {
  std::string Result = "'";
  for (const char C : Text)
    if (C == '\'')
      Result += "'\\''";
    else
      Result += C;
  return Result + "'";
}

/// "--a | --b": of a case.
std::string pattern(ArrayRef<OptionText> All,
                    function_ref<bool(const OptionText &)> Are) {
  std::string Result;
  for (const OptionText &Each : All)
    if (Are(Each))
      Result += (Result.empty() ? "" : " | ") + Each.dashed();
  return Result;
}

void writeBash(raw_ostream &OS) {
  const std::vector<OptionText> All = allOptions();
  std::string Names;
  for (const OptionText &Each : All)
    Names += (Names.empty() ? "" : " ") + Each.dashed() +
             (Each.Value.empty() || Each.Name.size() == 1 ? "" : "=");
  // The words are taken from the line: bash parts them at "=" too, which is why
  // what is completed after one begins behind it.
  OS << R"(# Completes torch-tidy in bash. Written by torch-tidy itself.
_torch_tidy() {
  local line=${COMP_LINE:0:COMP_POINT} option='' value='' kind='' values='' head=''
  local names=)"
     << quoted(Names) << R"(
  local -a words
  COMPREPLY=()
  read -ra words <<< "$line"
  [[ $line == *[[:space:]] ]] && words+=('')
  local cur=${words[-1]} before=${words[-2]}
  [[ $before == -[!-]?* ]] && before=-$before
  [[ ${words[1]} == merge && ${#words[@]} -gt 2 ]] && names='--fail-on='
  if [[ " ${words[*]:1:${#words[@]}-2} " == *' -- '* ]]; then
    kind=file value=$cur
  elif [[ $cur == -*=* ]]; then
    option=${cur%%=*} value=${cur#*=}
    [[ $option == -[!-]?* ]] && option=-$option
  else
    case $before in
      )"
     << pattern(All, [](const OptionText &Each) { return Each.NeedsValue; })
     << R"()
        option=$before value=$cur ;;
    esac
  fi
  case $option in
    '') ;;
)";
  for (const OptionText &Each : All)
    if (!Each.Values.empty())
      OS << "    " << Each.dashed() << ") "
         << (Each.isList() ? "kind=list " : "")
         << "values=" << quoted(join(Each.Values, " ")) << " ;;\n";
  OS << "    --diff) kind=revision ;;\n    "
     << pattern(All, [](const OptionText &Each) { return Each.takesFolder(); })
     << ") kind=folder ;;\n    "
     << pattern(All,
                [](const OptionText &Each) {
                  return Each.takesPath() && !Each.takesFolder();
                })
     << R"() kind=file ;;
  esac
  # A quote that is open stays.
  value=${value#[\"\']}
  # Only where a file may stand: names with blanks are readline's business.
  [[ $kind == file || ( -z $option && $cur != -* ) ]] || compopt +o default
  if [[ $kind == file ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$value")
  elif [[ $kind == folder ]]; then
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -d -- "$value")
  elif [[ $kind == list ]]; then
    compopt -o nospace
    [[ $value == *,* ]] && head=${value%,*},
    value=${value##*,}
    [[ $value == -* ]] && head+=- value=${value#-}
    mapfile -t COMPREPLY < <(compgen -P "$head" -W "$values" -- "$value")
  elif [[ $kind == revision ]]; then
    # What else a branch may be called would mean something to the shell.
    while read -r head; do
      [[ $head == "$value"* && $head != *[!A-Za-z0-9._/@+-]* ]] && COMPREPLY+=("$head")
    done < <(printf '%s\n' - HEAD; git for-each-ref --format='%(refname:short)' 2> /dev/null)
  elif [[ -n $option ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$value")
  elif [[ $cur == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$names" -- "$cur")
    [[ ${COMPREPLY[0]-} == *= ]] && compopt -o nospace
  else
    compopt -o filenames
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    [[ ${#words[@]} -eq 2 && merge == "$cur"* ]] && COMPREPLY+=(merge)
  fi
}
complete -o default -F _torch_tidy torch-tidy
)";
}

void writeZsh(raw_ostream &OS) {
  OS << "#compdef torch-tidy\n"
        "# Completes torch-tidy in zsh. Written by torch-tidy itself.\n"
        "# Names behind what the list of the option has before its last one.\n"
        "_torch_tidy_list() {\n"
        "  compset -P '*,'\n"
        "  compset -P '[-]'\n"
        "  compadd -q -S , -- $@\n"
        "}\n"
        "_arguments \\\n";
  for (const OptionText &Each : allOptions()) {
    std::string Brief;
    for (const char C : Each.brief()) {
      if (C == '[' || C == ']' || C == '\\')
        Brief += '\\';
      Brief += C;
    }
    std::string Spec = Each.dashed();
    if (!Each.Value.empty() && Each.Name.size() > 1)
      Spec += '=';
    Spec += "[" + Brief + "]";
    if (!Each.Value.empty()) {
      std::string Shown = Each.Value;
      std::replace(Shown.begin(), Shown.end(), ':', ' ');
      Spec += ":" + Shown + ":";
      if (Each.isList())
        Spec += "{_torch_tidy_list " + join(Each.Values, " ") + "}";
      else if (!Each.Values.empty())
        Spec += "(" + join(Each.Values, " ") + ")";
      else if (Each.takesPath())
        Spec += "_files";
    }
    OS << "  " << quoted(Spec) << " \\\n";
  }
  OS << "  '*:source:_files'\n";
}

void writeFish(raw_ostream &OS) {
  OS << R"(# Completes torch-tidy in fish. Written by torch-tidy itself.
# Names behind what the list of the option has before its last one.
function __torch_tidy_list
  set -l head (commandline -ct | string replace -r -- '^--?[a-z-]+=' '' |
    string match -r -- '^(?:.*,)?-?')
  printf '%s\n' $head$argv
end
)";
  for (const OptionText &Each : allOptions()) {
    OS << "complete -c torch-tidy " << (Each.Name.size() == 1 ? "-s " : "-l ")
       << Each.Name << " -d " << quoted(Each.brief());
    if (Each.isList())
      OS << " -x -a "
         << quoted("(__torch_tidy_list " + join(Each.Values, " ") + ")");
    else if (!Each.Values.empty())
      OS << " -x -a " << quoted(join(Each.Values, " "));
    else if (!Each.Value.empty())
      OS << (Each.takesPath() ? " -r" : " -x");
    OS << '\n';
  }
}

/// Text as roff has it: a line that begins with a dot or a quote is a request.
std::string roff(StringRef Text) {
  std::string Result;
  bool AtStart = true;
  for (const char C : Text) {
    if (AtStart && (C == '.' || C == '\''))
      Result += "\\&";
    if (C == '\\')
      Result += "\\e";
    else if (C == '-')
      Result += "\\-";
    else
      Result += C;
    AtStart = C == '\n';
  }
  return Result;
}

/// What stands indented is as it is; the rest are paragraphs.
void writeText(raw_ostream &OS, StringRef Text) {
  bool IsVerbatim = false, IsFirst = true;
  SmallVector<StringRef> Lines;
  Text.trim('\n').split(Lines, '\n');
  for (StringRef Line : Lines) {
    const bool IsIndented = Line.starts_with(" ");
    if (!Line.empty() && IsIndented != IsVerbatim) {
      OS << (IsIndented ? "" : ".fi\n") << (IsFirst ? "" : ".PP\n")
         << (IsIndented ? ".nf\n" : "");
      IsVerbatim = IsIndented;
    }
    IsFirst = false;
    if (!Line.empty())
      OS << roff(Line) << '\n';
    else if (!IsVerbatim)
      OS << ".PP\n";
  }
  if (IsVerbatim)
    OS << ".fi\n";
}

} // namespace

bool writeCompletions(raw_ostream &OS, StringRef Shell) {
  if (Shell == "bash")
    writeBash(OS);
  else if (Shell == "zsh")
    writeZsh(OS);
  else if (Shell == "fish")
    writeFish(OS);
  else
    return false;
  return true;
}

void writeManPage(raw_ostream &OS, StringRef Overview, StringRef Footer) {
  const auto [Title, Rest] = Overview.split("\n\n");
  OS << ".TH TORCH\\-TIDY 1 \"\" \"torch\\-tidy " << TORCH_TIDY_VERSION
     << "\"\n.SH NAME\ntorch\\-tidy \\- "
     << roff(Title.drop_while([](char C) { return C != ' '; }).trim())
     << "\n.SH SYNOPSIS\n.B torch\\-tidy\n[\\fIoption\\fR ...] [\\fIfile, "
        "folder or glob\\fR ...] [\\-\\- \\fIflags\\fR]\n.SH DESCRIPTION\n";
  writeText(OS, Rest);
  OS << ".SH OPTIONS\n";
  for (const OptionText &Each : allOptions()) {
    OS << ".TP\n\\fB" << roff(Each.dashed()) << "\\fR";
    if (!Each.Value.empty())
      OS << (Each.Name.size() == 1 ? " " : "=") << "\\fI" << roff(Each.Value)
         << "\\fR";
    OS << '\n' << roff(Each.Help) << '\n';
  }
  // Its parts begin with "Sources and flags:".
  SmallVector<StringRef> Parts;
  Footer.trim('\n').split(Parts, "\n\n");
  for (StringRef Part : Parts) {
    const auto [Name, Body] = Part.trim('\n').split(":\n");
    OS << ".SH " << Name.upper() << '\n';
    writeText(OS, Body);
  }
}

bool writeShellFiles(StringRef Folder, StringRef Overview, StringRef Footer) {
  const std::pair<const char *, StringRef> Files[] = {
      {"torch-tidy.1", "man"},
      {"torch-tidy", "bash"},
      {"_torch-tidy", "zsh"},
      {"torch-tidy.fish", "fish"}};
  for (const auto &[Name, What] : Files) {
    SmallString<256> Path = Folder;
    sys::path::append(Path, Name);
    std::error_code Failure;
    raw_fd_ostream OS(Path, Failure);
    if (!Failure) {
      if (What == "man")
        writeManPage(OS, Overview, Footer);
      else
        writeCompletions(OS, What);
      OS.close();
      Failure = OS.error();
      OS.clear_error();
    }
    if (Failure) {
      error() << "cannot write '" << Path << "': " << Failure.message() << '\n';
      return false;
    }
  }
  return true;
}

} // namespace torchtidy::tool
