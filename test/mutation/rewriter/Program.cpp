#include "Program.h"

#include "clang/AST/RecursiveASTVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace clang;

namespace torchtidy::mutation {

namespace {

class FunctionFinder : public RecursiveASTVisitor<FunctionFinder> {
public:
  FunctionFinder(const Program &Whole, std::vector<const FunctionDecl *> &Found)
      : Whole(Whole), Found(Found) {}

  bool shouldVisitTemplateInstantiations() const { return true; }

  bool VisitFunctionDecl(const FunctionDecl *Decl) {
    const auto *Method = dyn_cast<CXXMethodDecl>(Decl);
    if (Decl->doesThisDeclarationHaveABody() && !Decl->isDependentContext() &&
        !(Method && Method->getParent()->isLambda()) && !Decl->isImplicit() &&
        Whole.isUserCode(Decl->getLocation()))
      Found.push_back(Decl);
    return true;
  }

private:
  const Program &Whole;
  std::vector<const FunctionDecl *> &Found;
};

} // namespace

void forEach(const Stmt *S, const std::function<void(const Stmt *)> &Visit) {
  if (!S)
    return;
  Visit(S);
  if (const auto *Loop = dyn_cast<CXXForRangeStmt>(S)) {
    // Its other children are made by Clang and repeat these.
    forEach(Loop->getInit(), Visit);
    forEach(Loop->getRangeInit(), Visit);
    forEach(Loop->getBody(), Visit);
    return;
  }
  for (const Stmt *Child : S->children())
    forEach(Child, Visit);
}

bool Function::contains(const Stmt *Outer, const Stmt *Inner) const {
  for (const Stmt *Up = Inner; Up; Up = parent(Up))
    if (Up == Outer)
      return true;
  return false;
}

std::vector<const Stmt *> Function::loops(const Stmt *S) const {
  std::vector<const Stmt *> Result;
  for (const Stmt *Up = parent(S); Up; Up = parent(Up))
    if (isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(Up))
      Result.push_back(Up);
  return Result;
}

Program::Program(ASTContext &Context, std::string Root,
                 const std::vector<Decl *> &TopLevel)
    : Context(Context), Root(std::move(Root)) {
  std::vector<const FunctionDecl *> Found;
  FunctionFinder Finder(*this, Found);
  for (Decl *Each : TopLevel)
    if (isUserCode(Each->getLocation()))
      Finder.TraverseDecl(Each);
  // Clang hands over an instantiation twice: with its template, and by itself.
  llvm::SmallPtrSet<const FunctionDecl *, 32> Seen;
  for (const FunctionDecl *Decl : Found)
    if (Seen.insert(Decl).second)
      Functions.push_back({Decl, std::make_unique<ParentMap>(Decl->getBody())});
  for (const Function &Each : Functions) {
    Index[Each.Decl->getCanonicalDecl()] = &Each;
    forEach(Each.body(), [&](const Stmt *S) {
      if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
        UsesOf[Ref->getDecl()].push_back({Ref, &Each});
      else if (const auto *Member = dyn_cast<MemberExpr>(S))
        UsesOf[Member->getMemberDecl()].push_back({Member, &Each});
    });
  }
}

const std::vector<Use> &Program::uses(const ValueDecl *Of) const {
  static const std::vector<Use> None;
  auto Found = UsesOf.find(Of);
  return Found == UsesOf.end() ? None : Found->second;
}

const Function *Program::find(const FunctionDecl *Decl) const {
  if (!Decl)
    return nullptr;
  auto Found = Index.find(Decl->getCanonicalDecl());
  return Found == Index.end() ? nullptr : Found->second;
}

const std::string *Program::source(FileID File, std::string &Name) const {
  const SourceManager &Manager = Context.getSourceManager();
  OptionalFileEntryRef Entry = Manager.getFileEntryRefForID(File);
  if (!Entry)
    return nullptr;
  llvm::StringRef Path = Entry->getFileEntry().tryGetRealPathName();
  if (!Path.consume_front(Root) || !Path.consume_front("/"))
    return nullptr;
  Name = Path.str();
  std::string &Text = Sources[Name];
  if (Text.empty())
    Text = Manager.getBufferData(File).str();
  return &Text;
}

bool Program::isUserCode(SourceLocation Location) const {
  const SourceManager &Manager = Context.getSourceManager();
  Location = Manager.getExpansionLoc(Location);
  std::string Name;
  return Location.isValid() && !Manager.isInSystemHeader(Location) &&
         source(Manager.getFileID(Location), Name);
}

std::optional<Piece> Program::piece(SourceRange Range) const {
  const SourceManager &Manager = Context.getSourceManager();
  CharSourceRange Chars = Lexer::makeFileCharRange(
      CharSourceRange::getTokenRange(Range), Manager, Context.getLangOpts());
  std::string Name;
  if (Chars.isInvalid() || Range.getBegin().isMacroID() ||
      !source(Manager.getFileID(Chars.getBegin()), Name))
    return std::nullopt;
  unsigned Begin = Manager.getFileOffset(Chars.getBegin());
  return Piece{Name, Begin, Manager.getFileOffset(Chars.getEnd()) - Begin};
}

std::string Program::text(const Piece &Where) const {
  return Sources.at(Where.File).substr(Where.Offset, Where.Length);
}

std::string Program::text(SourceRange Range) const {
  std::optional<Piece> Where = piece(Range);
  return Where ? text(*Where) : "";
}

std::optional<Piece> Program::statement(const Stmt *S) const {
  std::optional<Piece> Where = piece(S->getSourceRange());
  if (!Where)
    return std::nullopt;
  const std::string &Text = Sources.at(Where->File);
  // A declaration's range has its semicolon, an expression's has not.
  if (Text[Where->end() - 1] != ';') {
    size_t Semicolon = Text.find_first_not_of(" \t\n", Where->end());
    if (Semicolon == std::string::npos || Text[Semicolon] != ';')
      return std::nullopt;
    Where->Length = unsigned(Semicolon) + 1 - Where->Offset;
  }
  return Where;
}

std::optional<Edit> Program::removal(const Function &In, const Stmt *S) const {
  std::optional<Piece> Where = statement(S);
  if (!Where)
    return std::nullopt;
  if (!isa_and_nonnull<CompoundStmt>(In.parent(S)))
    return Edit{*Where, "{}"};
  const std::string &Text = Sources.at(Where->File);
  size_t Before = Text.find_last_not_of(" \t", Where->Offset - 1);
  size_t After = Text.find_first_not_of(" \t", Where->end());
  if (Before != std::string::npos && Text[Before] == '\n' &&
      After != std::string::npos && Text[After] == '\n')
    *Where = {Where->File, unsigned(Before) + 1, unsigned(After - Before)};
  return Edit{*Where, ""};
}

std::string Program::indentation(const Piece &Where) const {
  const std::string &Text = Sources.at(Where.File);
  size_t Newline = Text.rfind('\n', Where.Offset);
  size_t Begin = Newline == std::string::npos ? 0 : Newline + 1;
  return Text.substr(Begin, Text.find_first_not_of(" \t", Begin) - Begin);
}

std::vector<const Function *> Program::callees(const Stmt *S) const {
  std::vector<const Function *> Result;
  llvm::SmallPtrSet<const Function *, 8> Seen;
  std::function<void(const Stmt *)> Collect = [&](const Stmt *From) {
    forEach(From, [&](const Stmt *Node) {
      const FunctionDecl *Called = nullptr;
      if (const auto *Call = dyn_cast<CallExpr>(Node))
        Called = Call->getDirectCallee();
      else if (const auto *Make = dyn_cast<CXXConstructExpr>(Node))
        Called = Make->getConstructor();
      const Function *Found = find(Called);
      if (Found && Seen.insert(Found).second) {
        Result.push_back(Found);
        Collect(Found->body());
      }
    });
  };
  Collect(S);
  return Result;
}

std::vector<Piece> Program::reach(const Function &In, const Stmt *S) const {
  std::vector<Piece> Result;
  if (auto Own = piece(S->getSourceRange()))
    Result.push_back(*Own);
  for (const Function *Called : callees(S))
    if (auto Body = piece(Called->body()->getSourceRange()))
      Result.push_back(*Body);
  return Result;
}

// Names
// -------------------------------------------------------------------------

bool isTensor(QualType Type) {
  const CXXRecordDecl *Record =
      Type.getNonReferenceType()->getAsCXXRecordDecl();
  return Record && Record->getQualifiedNameAsString() == "at::Tensor";
}

bool derivesFrom(QualType Type, llvm::StringRef Name) {
  Type = Type.getNonReferenceType();
  if (Type->isPointerType())
    Type = Type->getPointeeType();
  const CXXRecordDecl *Record = Type->getAsCXXRecordDecl();
  if (!Record || !Record->getDefinition())
    return false;
  if (Record->getQualifiedNameAsString() == Name)
    return true;
  for (const CXXBaseSpecifier &Base : Record->getDefinition()->bases())
    if (derivesFrom(Base.getType(), Name))
      return true;
  return false;
}

bool isModule(QualType Type) {
  return derivesFrom(Type, "torch::nn::Module") ||
         derivesFrom(Type, "torch::nn::ModuleHolder") ||
         derivesFrom(Type, "torch::nn::AnyModule") ||
         derivesFrom(Type, "torch::jit::Module");
}

bool isOptimizer(QualType Type) {
  return derivesFrom(Type, "torch::optim::Optimizer");
}

llvm::StringRef methodName(const CXXMemberCallExpr *Call) {
  const CXXMethodDecl *Method = Call ? Call->getMethodDecl() : nullptr;
  return Method && Method->getIdentifier() ? Method->getName() : "";
}

bool isForward(const Stmt *S) {
  if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S)) {
    const CXXMethodDecl *Method = Call->getMethodDecl();
    if (!Method || !isModule(Call->getObjectType()))
      return false;
    return methodName(Call) == "forward" ||
           (Method->getParent()->getQualifiedNameAsString().rfind("torch::",
                                                                  0) != 0 &&
            isTensor(Method->getReturnType()) && Method->getNumParams() > 0);
  }
  const auto *Call = dyn_cast<CXXOperatorCallExpr>(S);
  return Call && Call->getOperator() == OO_Call && Call->getNumArgs() > 1 &&
         isModule(Call->getArg(0)->getType());
}

const Expr *plain(const Expr *E) {
  while (E) {
    const Expr *Inner = E->IgnoreImplicit()->IgnoreParenCasts();
    if (const auto *Make = dyn_cast<CXXConstructExpr>(Inner))
      if (Make->getConstructor()->isCopyOrMoveConstructor() &&
          Make->getNumArgs() >= 1)
        Inner = Make->getArg(0);
    if (Inner == E)
      break;
    E = Inner;
  }
  return E;
}

const ValueDecl *placeOf(const Expr *E) {
  E = plain(E);
  if (!E)
    return nullptr;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Ref->getDecl();
  if (const auto *Member = dyn_cast<MemberExpr>(E))
    return Member->getMemberDecl();
  if (const auto *Index = dyn_cast<ArraySubscriptExpr>(E))
    return placeOf(Index->getBase());
  if (const auto *Unary = dyn_cast<UnaryOperator>(E))
    return placeOf(Unary->getSubExpr());
  if (const auto *Call = dyn_cast<CXXOperatorCallExpr>(E))
    if (Call->getOperator() == OO_Subscript || Call->getOperator() == OO_Star ||
        Call->getOperator() == OO_Arrow)
      return placeOf(Call->getArg(0));
  if (const auto *Call = dyn_cast<CallExpr>(E))
    if (const FunctionDecl *Callee = Call->getDirectCallee();
        Callee && Callee->isInStdNamespace() && Callee->getIdentifier() &&
        Callee->getName() == "get" && Call->getNumArgs() == 1)
      return placeOf(Call->getArg(0));
  return nullptr;
}

} // namespace torchtidy::mutation
