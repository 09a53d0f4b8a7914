// Tensors that are collected in a vector and concatenated once grow in the
// loop.
#include "Calls.h"
#include "Operators.h"

#include "llvm/ADT/StringSet.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

bool isVectorOfTensors(QualType Type) {
  const auto *Record = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Type->getAsCXXRecordDecl());
  return Record && Record->isInStdNamespace() &&
         Record->getName() == "vector" &&
         isTensor(Record->getTemplateArgs()[0].getAsType());
}

/// The uses of a vector, sorted by what they do.
struct Collected {
  explicit Collected(const ValueDecl *Place) : Place(Place) {}

  const ValueDecl *Place;
  /// Calls of push_back() and emplace_back().
  std::vector<std::pair<const Function *, const CXXMemberCallExpr *>> Pushes;
  /// Calls of cat() and stack().
  std::vector<const CallExpr *> Joins;
  std::vector<std::pair<const Function *, const CXXMemberCallExpr *>> Others;

  bool sort(const Program &Whole) {
    return llvm::all_of(Whole.uses(Place),
                        [&](const Use &Each) { return add(Each); }) &&
           !Pushes.empty() && Joins.size() == 1;
  }

private:
  bool add(const Use &Each) {
    static const llvm::StringSet<> Harmless = {"reserve", "clear", "empty"};
    static const llvm::StringSet<> Joining = {"cat", "concat", "stack"};
    const Stmt *Up = Each.In->parent(Each.Node);
    while (isa_and_nonnull<ImplicitCastExpr>(Up))
      Up = Each.In->parent(Up);
    if (const auto *Member = dyn_cast_or_null<MemberExpr>(Up)) {
      const auto *Call =
          dyn_cast_or_null<CXXMemberCallExpr>(Each.In->parent(Member));
      llvm::StringRef Name = methodName(Call);
      if (Harmless.contains(Name))
        Others.emplace_back(Each.In, Call);
      else if ((Name == "push_back" || Name == "emplace_back") &&
               Call->getNumArgs() == 1)
        Pushes.emplace_back(Each.In, Call);
      else
        return false;
      return true;
    }
    const auto *Call = Each.In->enclosing<CallExpr>(Each.Node);
    const FunctionDecl *Callee = Call ? Call->getDirectCallee() : nullptr;
    if (!Callee || !Callee->getIdentifier() ||
        !Joining.contains(Callee->getName()) ||
        !isTensor(Callee->getReturnType()) ||
        placeOf(Call->getArg(0)->IgnoreUnlessSpelledInSource()) != Place)
      return false;
    Joins.push_back(Call);
    return true;
  }
};

/// How people begin: with a tensor that is not defined, or with one that has no
/// elements.
enum class Start { Undefined, Empty };

class Adapter {
public:
  Adapter(const Program &Whole, const Collected &Parts, Start From)
      : Whole(Whole), Parts(Parts), From(From) {}

  bool adapt(SourceRange Declaration, bool Ends) {
    Name = Parts.Place->getNameAsString();
    const CallExpr *Join = Parts.Joins.front();
    bool Stacks = Join->getDirectCallee()->getName() == "stack";
    std::string Dimension = writtenArguments(Join) == 2
                                ? Whole.text(Join->getArg(1)->getSourceRange())
                                : "";
    std::string Made = From == Start::Empty ? " = torch::empty({0})" : "";
    if (!replace(Declaration,
                 "torch::Tensor " + Name + Made + (Ends ? ";" : "")) ||
        !replace(Join->getSourceRange(),
                 Whole.text(Join->getArg(0)->getSourceRange())))
      return false;
    for (const auto &[In, Call] : Parts.Pushes)
      if (!adaptPush(Call, Stacks, Dimension))
        return false;
    for (const auto &[In, Call] : Parts.Others)
      if (!adaptOther(*In, Call))
        return false;
    return true;
  }

  std::vector<Edit> Edits;
  std::vector<Piece> Expected;

private:
  bool replace(SourceRange Range, const std::string &Text) {
    auto Where = Whole.piece(Range);
    if (Where)
      Edits.push_back({*Where, Text});
    return Where.has_value();
  }

  bool adaptPush(const CXXMemberCallExpr *Call, bool Stacks,
                 const std::string &Dimension) {
    std::string Part = Whole.text(Call->getArg(0)->getSourceRange());
    auto Where = Whole.piece(Call->getSourceRange());
    if (Part.empty() || !Where)
      return false;
    // A row becomes a matrix of one row before it is appended.
    if (Stacks) {
      bool Simple =
          isa<DeclRefExpr, MemberExpr, CallExpr>(plain(Call->getArg(0))) &&
          !isa<CXXOperatorCallExpr>(plain(Call->getArg(0)));
      Part = (Simple ? Part : "(" + Part + ")") + ".unsqueeze(" +
             (Dimension.empty() ? "0" : Dimension) + ")";
    }
    std::string All = "torch::cat({" + Name + ", " + Part + "}" +
                      (Dimension.empty() ? "" : ", " + Dimension) + ")";
    Expected.push_back(*Where);
    Edits.push_back({*Where, From == Start::Empty
                                 ? Name + " = " + All
                                 : Name + " = " + Name + ".defined() ? " + All +
                                       " : " + Part});
    return true;
  }

  bool adaptOther(const Function &In, const CXXMemberCallExpr *Call) {
    llvm::StringRef Method = methodName(Call);
    if (Method == "empty")
      return replace(Call->getSourceRange(), From == Start::Empty
                                                 ? Name + ".numel() == 0"
                                                 : "!" + Name + ".defined()");
    if (Method == "clear")
      return replace(Call->getSourceRange(),
                     Name + (From == Start::Empty ? " = torch::empty({0})"
                                                  : " = torch::Tensor()"));
    auto Removed = Whole.removal(In, Call);
    if (Removed)
      Edits.push_back(*Removed);
    return Removed.has_value();
  }

  const Program &Whole;
  const Collected &Parts;
  Start From;
  std::string Name;
};

void add(const Program &Whole, const Collected &Parts, SourceRange Declaration,
         bool Ends, std::vector<Mutation> &Out) {
  auto Point = Whole.piece(Declaration);
  if (!Point)
    return;
  for (Start From : {Start::Undefined, Start::Empty}) {
    Adapter Uses(Whole, Parts, From);
    if (Uses.adapt(Declaration, Ends))
      Out.push_back({"cat",
                     {"torch-cat-in-loop"},
                     *Point,
                     "all that has been collected is copied in every iteration",
                     std::move(Uses.Edits),
                     std::move(Uses.Expected)});
  }
}

/// Whether something is pushed in a loop that the vector outlives.
bool growsInLoop(const Collected &Parts, const Function &In,
                 const DeclStmt *Declaration) {
  return llvm::any_of(Parts.Pushes, [&](const auto &Push) {
    return Push.first == &In &&
           llvm::any_of(In.loops(Push.second), [&](const Stmt *Loop) {
             return !In.contains(Loop, Declaration) &&
                    !In.contains(Loop, Parts.Joins.front());
           });
  });
}

} // namespace

void concatenateInLoops(const Program &Whole, std::vector<Mutation> &Out) {
  llvm::SmallPtrSet<const FieldDecl *, 8> Fields;
  for (const Function &In : Whole.functions()) {
    if (const auto *Method = dyn_cast<CXXMethodDecl>(In.Decl))
      for (const FieldDecl *Field : Method->getParent()->fields())
        if (isVectorOfTensors(Field->getType()) &&
            Fields.insert(Field).second) {
          Collected Parts(Field);
          if (Parts.sort(Whole))
            add(Whole, Parts, Field->getSourceRange(), false, Out);
        }
    forEach(In.body(), [&](const Stmt *S) {
      const auto *Declaration = dyn_cast<DeclStmt>(S);
      const auto *Variable =
          Declaration && Declaration->isSingleDecl()
              ? dyn_cast<VarDecl>(Declaration->getSingleDecl())
              : nullptr;
      if (!Variable || !isVectorOfTensors(Variable->getType()))
        return;
      Collected Parts(Variable);
      if (Parts.sort(Whole) && growsInLoop(Parts, In, Declaration))
        add(Whole, Parts, Declaration->getSourceRange(), true, Out);
    });
  }
}

} // namespace torchtidy::mutation
