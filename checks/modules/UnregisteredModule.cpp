// What a file shows of the members of a module: how each is made, whether it is
// registered, and where it is used.
#include "modules/UnregisteredModule.h"
#include "ast/Expressions.h"
#include "ast/Names.h"
#include "ast/Walk.h"
#include "model/syntax/FreshModules.h"
#include "model/syntax/ModuleMakers.h"
#include "queries/paths/Calls.h"
#include "torch/Api.h"
#include "torch/Members.h"
#include "torch/Modules.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"
#include "llvm/ADT/MapVector.h"

using namespace clang;
using torchtidy::torch::Api;
using torchtidy::torch::TypeKind;

namespace torchtidy::model {

namespace {

struct Uses {
  /// Registered, passed on, or handled manually: never reported.
  bool IsAccountedFor = false;
  /// Made by its class, and how; the assignment, where it is one, or the only
  /// call that puts modules into a container.
  const Expr *Made = nullptr;
  const Expr *Assignment = nullptr;
  const Expr *Used = nullptr;
  /// What is put into it, where it is a Sequential or a container.
  ModuleContent Content;
};

/// Between an expression and what is done with it nothing happens.
bool isTransparent(const Stmt *S) {
  return isa<ParenExpr, ImplicitCastExpr, MaterializeTemporaryExpr,
             CXXBindTemporaryExpr, ExprWithCleanups, CXXStaticCastExpr>(S);
}

class MemberQuery {
public:
  explicit MemberQuery(Program &User, Code &Source)
      : User(User), Source(Source) {}

  std::vector<UnregisteredMember> run() {
    collectClasses();
    if (Members.empty())
      return {};
    for (const FunctionDecl *F : Source.functions().all())
      if (!Source.functions().lambda(F))
        read(F);
    std::vector<UnregisteredMember> Result;
    for (const auto &[Field, Found] : Members) {
      if (Found.IsAccountedFor || !Found.Made || !Found.Used)
        continue;
      if (const std::optional<UnregisteredMember::Kind> What =
              kind(Field, Found))
        Result.push_back(
            {Field, *What, Found.Made, Found.Used, Found.Assignment});
    }
    return Result;
  }

private:
  /// Classes of modules whose methods all have a body here.
  void collectClasses() {
    std::set<const CXXRecordDecl *> Seen;
    for (const FunctionDecl *F : Source.functions().all()) {
      const auto *Method = dyn_cast<CXXMethodDecl>(F);
      const CXXRecordDecl *Class =
          Method ? Method->getParent()->getDefinition() : nullptr;
      if (!Class || !Seen.insert(Class).second || Class->isDependentContext() ||
          torch::isLibTorch(Class) ||
          torch::kindOf(Class) != TypeKind::Module || !isWhole(Class))
        continue;
      collectForward(Class);
      for (const FieldDecl *Field : Class->fields()) {
        const QualType Type = Field->getType();
        if (Type->isReferenceType() || Type->isPointerType())
          continue;
        Members.try_emplace(Field);
        if (const Expr *Init = Field->getInClassInitializer()) {
          make(Field, Init, nullptr);
          read(Init);
        }
      }
    }
  }

  /// What is not seen may register.
  static bool isWhole(const CXXRecordDecl *Class) {
    for (const Decl *D : Class->decls()) {
      const FunctionDecl *F = D->getAsFunction();
      if (F && !F->isImplicit() && !F->isDefaulted() && !F->isDeleted() &&
          !F->isPureVirtual() && !F->hasBody())
        return false;
    }
    return true;
  }

  void collectForward(const CXXRecordDecl *Class) {
    llvm::SmallVector<const FunctionDecl *, 8> Work;
    for (const CXXMethodDecl *Method : Class->methods())
      if (torch::isForward(Method))
        if (const FunctionDecl *F = Source.functions().definition(Method))
          Work.push_back(F);
    while (!Work.empty()) {
      const FunctionDecl *F = Work.pop_back_val();
      if (Forward.insert(F).second)
        Work.append(Source.calls().callees(F));
    }
  }

  void read(const FunctionDecl *F) {
    In = F;
    Aliases.clear();
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(F))
      for (const CXXCtorInitializer *Init : Constructor->inits()) {
        if (!Init->getInit() || !Init->isAnyMemberInitializer()) {
          if (Init->getInit())
            read(Init->getInit());
          continue;
        }
        if (!isa<CXXDefaultInitExpr>(Init->getInit())) {
          make(Init->getAnyMember(), Init->getInit(), nullptr);
          read(Init->getInit());
        }
      }
    read(F->getBody());
    In = nullptr;
  }

  /// Of lambdas the bodies as well: what they do with a member counts as done
  /// by the function around.
  void read(const Stmt *Root) {
    ast::walk(
        Root,
        [&](const Stmt *S, llvm::ArrayRef<const Stmt *> Around) {
          Ancestors = Around;
          look(S);
          return ast::Next::Children;
        },
        ast::Lambdas::Enter);
    Ancestors = {};
  }

  void look(const Stmt *S) {
    if (const auto *Member = dyn_cast<MemberExpr>(S)) {
      if (const auto *Field = dyn_cast<FieldDecl>(Member->getMemberDecl()))
        if (Members.count(Field))
          use(Field, Member);
    } else if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      if (const FieldDecl *Field = Aliases.lookup(Ref->getDecl()))
        use(Field, Ref);
      // A pointer to a member: it may be anything.
      if (const auto *Field = dyn_cast<FieldDecl>(Ref->getDecl()))
        if (Members.count(Field))
          Members[Field].IsAccountedFor = true;
    }
    if (const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
        Call && torch::asksForMode(Call->getMethodDecl()) &&
        isa_and_nonnull<CXXMethodDecl>(In))
      AsksForMode.insert(cast<CXXMethodDecl>(In)->getParent());
  }

  /// F runs where an object of its class is made, and at no other time: a
  /// constructor, reset() of a Cloneable, a method that nothing but these
  /// calls.
  bool onlyMakes(const FunctionDecl *F) const {
    if (isa<CXXConstructorDecl>(F) || torch::registersAnew(F))
      return true;
    const auto *Method = dyn_cast<CXXMethodDecl>(F);
    const auto Callers = Source.calls().callers(F);
    return Method && !Callers.empty() &&
           llvm::all_of(Callers, [&](const FunctionDecl *Caller) {
             const auto *Own = dyn_cast<CXXMethodDecl>(Caller);
             return Own && Own->getParent() == Method->getParent() &&
                    (isa<CXXConstructorDecl>(Own) || torch::registersAnew(Own));
           });
  }

  /// The member gets its value.
  void make(const FieldDecl *Field, const Expr *Init, const Expr *Assignment) {
    auto It = Members.find(Field);
    if (It == Members.end())
      return;
    Uses &Found = It->second;
    if (torch::isTensor(Field->getType())) {
      if (mayRegister(Init))
        Found.IsAccountedFor = true;
      else if ((!In || onlyMakes(In)) && !isEmptyHandle(Init)) {
        Found.Made = Init;
        Found.Assignment = Assignment;
      }
      return;
    }
    if (!torch::moduleClass(Field->getType()))
      return; // A container is filled element by element.
    if (isEmptyHandle(Init))
      return;
    const std::optional<ModuleContent> Content = contentOfFresh(Init);
    if (!Content) {
      Found.IsAccountedFor = true;
      return;
    }
    Found.Content.add(*Content);
    Found.Made = Init;
    Found.Assignment = Assignment;
  }

  std::optional<UnregisteredMember::Kind> kind(const FieldDecl *Field,
                                               const Uses &Found) const {
    if (torch::isTensor(Field->getType())) {
      if (isLeaf(Field))
        return UnregisteredMember::Parameter;
      return std::nullopt;
    }
    if (Found.Content.HoldsParameters)
      return UnregisteredMember::Submodule;
    const auto *Class = cast<CXXRecordDecl>(Field->getParent());
    if (Found.Content.DependsOnMode && !AsksForMode.count(Class))
      return UnregisteredMember::ModeOnly;
    return std::nullopt;
  }

  /// Requires a gradient for certain, whatever constructor made the object.
  bool isLeaf(const FieldDecl *Field) const {
    uint8_t Held = 0;
    for (const auto &Entry : User.executions())
      Held |= historyAtEnd(*Entry, Field);
    if (Held)
      return Held == history::Leaf;
    // All objects are made and gone in entries that begin elsewhere.
    const auto *Class = cast<CXXRecordDecl>(Field->getParent());
    for (const CXXConstructorDecl *Constructor : Class->ctors())
      if (!Constructor->isCopyOrMoveConstructor() && Constructor->hasBody())
        Held |= historyAtEnd(Execution(Source, Constructor), Field);
    return Held == history::Leaf;
  }

  /// Of the member of the object that the entry is a method of.
  static uint8_t historyAtEnd(const Execution &Entry, const FieldDecl *Field) {
    const PlaceTable &Places = Entry.places();
    uint8_t Result = 0;
    for (PlaceId P : Places.all())
      if (!Places.isRoot(P) && Places.step(P).Of == Step::Field &&
          Places.step(P).Member == Field && Places.rootKind(P) == Root::This)
        Result |= Entry.heldAtEnd(P).History;
    return Result;
  }

  /// E names the member, or an element of it.
  void use(const FieldDecl *Field, const Expr *E) {
    Uses &Found = Members[Field];
    const Stmt *Inner = E;
    for (const Stmt *Around : llvm::reverse(Ancestors)) {
      if (isTransparent(Around)) {
        Inner = Around;
        continue;
      }
      if (const auto *Unary = dyn_cast<UnaryOperator>(Around)) {
        if (Unary->getOpcode() == UO_AddrOf)
          Found.IsAccountedFor = true;
        if (Unary->getOpcode() != UO_Deref)
          return;
        Inner = Around;
        continue;
      }
      if (const auto *Declaration = dyn_cast<DeclStmt>(Around)) {
        for (const Decl *D : Declaration->decls())
          if (const auto *V = dyn_cast<VarDecl>(D); V && V->getInit() == Inner)
            Aliases[V] = Field;
        return;
      }
      if (const auto *Construct = dyn_cast<CXXConstructExpr>(Around)) {
        if (!Construct->getConstructor()->isCopyOrMoveConstructor()) {
          Found.IsAccountedFor = true;
          return;
        }
        Inner = Around;
        continue;
      }
      if (const auto *Member = dyn_cast<MemberExpr>(Around)) {
        if (isa<FieldDecl>(Member->getMemberDecl()))
          return useOfPart(Found, Member);
        Inner = Around;
        continue;
      }
      if (const auto *Call = dyn_cast<CallExpr>(Around)) {
        const Outcome What = call(Field, Found, Call, Inner);
        if (What == Done)
          return;
        Inner = Around;
        continue;
      }
      // An operand of ?:, an element of a list, a return value.
      if (isa<Expr, ReturnStmt>(Around))
        Found.IsAccountedFor = true;
      return;
    }
  }

  enum Outcome { Done, Same };

  /// fc->weight, in forward() or elsewhere.
  void useOfPart(Uses &Found, const MemberExpr *Part) {
    if (!torch::mayHoldTensor(Part->getType()))
      return;
    for (const Stmt *Around : llvm::reverse(Ancestors)) {
      if (isa<InitListExpr, ReturnStmt, DeclStmt, LambdaExpr>(Around)) {
        Found.IsAccountedFor = true;
        return;
      }
      const auto *Call = dyn_cast<CallExpr>(Around);
      if (!Call)
        continue;
      const Api Kind = torch::classify(Call).Kind;
      if (Kind == Api::Initialize)
        return;
      if (Kind == Api::Operation || Kind == Api::Library) {
        if (Forward.count(In)) {
          if (!Found.Used)
            Found.Used = Part;
          return;
        }
        continue;
      }
      Found.IsAccountedFor = true;
      return;
    }
  }

  Outcome call(const FieldDecl *Field, Uses &Found, const CallExpr *Call,
               const Stmt *Inner) {
    const Expr *Object = ast::objectOf(Call);
    const bool IsObject =
        Inner == Call->getCallee() || (Object && Inner == Object);
    const auto *Operator = dyn_cast<CXXOperatorCallExpr>(Call);
    const FunctionDecl *Callee = Call->getDirectCallee();
    const Api Kind = torch::classify(Call).Kind;
    if (!IsObject) {
      if (Operator && Operator->getOperator() == OO_Equal) {
        Found.IsAccountedFor = true;
        return Done;
      }
      if (isTensorUse(Field, Kind)) {
        useInForward(Found, Call);
        return Done;
      }
      const bool IsNeutral =
          Kind == Api::Initialize ||
          (Operator && (Operator->isComparisonOp() ||
                        Operator->getOperator() == OO_PlusPlus));
      if (!IsNeutral)
        Found.IsAccountedFor = true;
      return Done;
    }
    if (Operator) {
      switch (Operator->getOperator()) {
      case OO_Arrow:
      case OO_Star:
      case OO_Subscript:
        if (torch::isTensor(Field->getType()))
          break;
        return Same;
      case OO_Call:
        useInForward(Found, Call);
        return Done;
      case OO_Equal:
        make(Field, Operator->getArg(1), Operator);
        // register_module("fc", fc = Linear(2, 2))
        return Same;
      case OO_PlusPlus:
      case OO_ExclaimEqual:
      case OO_EqualEqual:
        if (!torch::isTensor(Field->getType()))
          return Done;
        break;
      default:
        break;
      }
    }
    if (isa_and_nonnull<CXXConversionDecl>(Callee))
      return Done;
    if (torch::isTensor(Field->getType())) {
      if (torch::asksTensor(Callee))
        return Done;
      const torch::Call What = torch::classify(Call);
      if (What.Kind == Api::Operation &&
          What.Op->Writes != torch::operation::Self) {
        useInForward(Found, Call);
        return Done;
      }
      if (!In || !onlyMakes(In))
        Found.IsAccountedFor = true;
      return Done;
    }
    if (Kind == Api::ModuleForward) {
      useInForward(Found, Call);
      return Done;
    }
    if (torch::addsElements(Callee)) {
      fill(Field, Found, Call);
      return Done;
    }
    // Elements of a container; the module of a holder.
    if (torch::leadsToElements(Callee))
      return Same;
    if (!torch::keepsAsIs(Callee))
      Found.IsAccountedFor = true;
    return Done;
  }

  bool isTensorUse(const FieldDecl *Field, Api Kind) const {
    return torch::isTensor(Field->getType()) &&
           (Kind == Api::Operation || Kind == Api::Library);
  }

  void useInForward(Uses &Found, const Expr *E) {
    if (!Found.Used && In && Forward.count(In))
      Found.Used = E;
  }

  /// layers.push_back(Linear(2, 2)), seq->push_back("fc", Linear(2, 2)).
  void fill(const FieldDecl *Field, Uses &Found, const CallExpr *Call) {
    const bool IsContainer = !torch::moduleClass(Field->getType());
    const auto Add = [&](const std::optional<ModuleContent> &Content) {
      if (!Content) {
        // What is registered is told by the call that registers it.
        Found.IsAccountedFor = true;
        return;
      }
      Found.Content.add(*Content);
      // The line that makes all modules of a container is where to register
      // them; of several lines none is.
      if (IsContainer && Found.Made != Call)
        Found.Assignment = Found.Made ? nullptr : Call;
      if (!Found.Made)
        Found.Made = Call;
    };
    if (const CXXRecordDecl *Class = madeInPlace(Field, Call))
      Add(contentOf(Class));
    for (const Expr *Argument : ast::argumentsOf(Call))
      if (torch::moduleClass(Argument->getType()))
        Add(contentOfFresh(Argument));
  }

  /// Of layers.emplace_back(2, 2), of a container of holders, the module that
  /// is made there; null for other calls.
  static const CXXRecordDecl *madeInPlace(const FieldDecl *Field,
                                          const CallExpr *Call) {
    const QualType Element = torch::elementType(Field->getType());
    if (Element.isNull() || torch::kindOf(Element) != TypeKind::ModuleHolder ||
        !torch::constructsLast(Call->getDirectCallee()))
      return nullptr;
    const bool IsGiven =
        llvm::any_of(ast::argumentsOf(Call), [](const Expr *Argument) {
          return torch::moduleClass(Argument->getType()) ||
                 isEmptyHandle(Argument);
        });
    return IsGiven ? nullptr : torch::moduleClass(Element);
  }

  Program &User;
  Code &Source;
  llvm::MapVector<const FieldDecl *, Uses> Members;
  std::set<const FunctionDecl *> Forward;
  std::set<const CXXRecordDecl *> AsksForMode;
  llvm::DenseMap<const ValueDecl *, const FieldDecl *> Aliases;
  /// Around the statement that is looked at.
  llvm::ArrayRef<const Stmt *> Ancestors;
  const FunctionDecl *In = nullptr;
};

} // namespace

std::vector<UnregisteredMember> unregisteredMembers(Program &Program) {
  if (Program.executions().empty())
    return {};
  return MemberQuery(Program, Program.executions().front()->code()).run();
}

/// The name that a registration is given, where it is a literal.
static std::optional<StringRef> literalName(const RegisterEvent &Register) {
  const auto *Call = dyn_cast<CallExpr>(Register.Site);
  if (!Call || Call->getNumArgs() == 0)
    return std::nullopt;
  const auto *Literal =
      dyn_cast<StringLiteral>(ast::stripCopies(Call->getArg(0)));
  if (!Literal || Literal->getCharByteWidth() != 1)
    return std::nullopt;
  return Literal->getString();
}

static const FunctionDecl *calleeOf(const RegisterEvent &Register) {
  const auto *Call = dyn_cast_or_null<CallExpr>(Register.Site);
  return Call ? Call->getDirectCallee() : nullptr;
}

/// In the block of a try statement of its function: the exception is expected
/// there.
static bool isTried(const RegisterEvent &Register) {
  const Stmt *Inner = Register.Site;
  while (const Stmt *Around = Register.In->Flow->parent(Inner)) {
    const auto *Try = dyn_cast<CXXTryStmt>(Around);
    if (Try && Inner == Try->getTryBlock())
      return true;
    Inner = Around;
  }
  return false;
}

/// First registers the name, and then Again does, in the same module.
static bool isRepetition(const Execution &Entry, const RegisterEvent &First,
                         const RegisterEvent &Again) {
  if (ast::nameOf(calleeOf(First)) != ast::nameOf(calleeOf(Again)) ||
      *literalName(First) != *literalName(Again) ||
      First.Modules != Again.Modules)
    return false;
  if (torch::registersAnew(Entry.root().Function) &&
      isInOwnConstructor(First.In) && !isInOwnConstructor(Again.In))
    return false;
  if (&First != &Again)
    return Entry.comesBefore(First.Point, Again.Point);
  return llvm::any_of(
      Entry.loopsAround(Again.Point), [&](const flow::Loop *Around) {
        return Entry.outlives(Again.Modules.front(), *Around).value_or(false);
      });
}

std::vector<RepeatedName> repeatedNames(Program &Program) {
  std::vector<RepeatedName> Result;
  for (const auto &Entry : Program.executions()) {
    std::vector<const RegisterEvent *> Known;
    bool IsUnregistered = false;
    for (const RegisterEvent &Register : Entry->events<RegisterEvent>()) {
      IsUnregistered |= torch::unregisters(calleeOf(Register));
      if (torch::registersNewName(calleeOf(Register)) &&
          literalName(Register) && Register.Modules.size() == 1)
        Known.push_back(&Register);
    }
    if (IsUnregistered)
      continue;
    for (const RegisterEvent *Again : Known) {
      const auto First = llvm::find_if(Known, [&](const RegisterEvent *Other) {
        return isRepetition(*Entry, *Other, *Again);
      });
      if (First == Known.end() || isTried(*Again))
        continue;
      RepeatedName Found;
      Found.Entry = Entry.get();
      Found.First = *First;
      Found.Again = Again;
      Found.Name = *literalName(*Again);
      Result.push_back(Found);
    }
  }
  return Result;
}

} // namespace torchtidy::model
