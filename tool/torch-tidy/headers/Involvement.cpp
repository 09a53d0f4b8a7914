#include "headers/Involvement.h"
#include "ast/TreeVisitor.h"
#include "headers/TypeParts.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// What counts as one: a class with its methods, any other function, a variable
/// or an alias outside of functions. Null for what stands outside of all.
const Decl *unitOf(const Decl *D) {
  for (; D; D = cast_or_null<Decl>(D->getDeclContext())) {
    if (isa<TranslationUnitDecl>(D))
      return nullptr;
    if (const auto *Template = dyn_cast<TemplateDecl>(D))
      if (Template->getTemplatedDecl())
        D = Template->getTemplatedDecl();
    if (isa<CXXMethodDecl>(D))
      continue;
    if (isa<CXXRecordDecl, FunctionDecl>(D))
      return D->getCanonicalDecl();
    if (D->getDeclContext() && D->getDeclContext()->isFileContext())
      return isa<NamespaceDecl>(D) ? nullptr : D->getCanonicalDecl();
  }
  return nullptr;
}

/// What a class is made from, also where no line has needed its inside.
const Decl *madeFrom(const CXXRecordDecl *Record) {
  if (const CXXRecordDecl *Pattern = Record->getTemplateInstantiationPattern())
    return Pattern;
  const auto *Class = dyn_cast<ClassTemplateSpecializationDecl>(Record);
  return Class && !Class->hasDefinition()
             ? Class->getSpecializedTemplate()->getTemplatedDecl()
             : nullptr;
}

using Callback = function_ref<void(const Decl *)>;

/// With the arguments that a class template is given.
template <class Thing> void forEachPart(const Thing &Whole, Callback See) {
  forEachNamed(Whole, [&](const Decl *D) {
    See(D);
    if (const auto *Class = dyn_cast<ClassTemplateSpecializationDecl>(D))
      for (const TemplateArgument &Each : Class->getTemplateArgs().asArray())
        forEachPart(Each, See);
  });
}

} // namespace

class Involvement::Collector : public ast::TreeVisitor {
public:
  explicit Collector(Involvement &Owner)
      : TreeVisitor(ImplicitCode | Instantiations), Owner(Owner) {}

  bool traverseDecl(Decl *D) override {
    if (!D || D->isFromASTFile())
      return true;
    const Decl *Outer = Now;
    if (const Decl *Unit = unitOf(D))
      Now = Unit;
    if (Now != Outer && Now && Outer)
      uses(Outer, Now); // a lambda, a local class
    const bool Result = TreeVisitor::traverseDecl(D);
    Now = Outer;
    return Result;
  }

  void close() {
    SmallVector<const Decl *> Waiting(Owner.Involved.begin(),
                                      Owner.Involved.end());
    while (!Waiting.empty())
      for (const Decl *User : Users.lookup(Waiting.pop_back_val()))
        if (Owner.Involved.insert(User).second)
          Waiting.push_back(User);
  }

private:
  bool visitDecl(Decl *D) override {
    if (const auto *F = dyn_cast<FunctionDecl>(D))
      referFunction(F);
    else if (const auto *Record = dyn_cast<CXXRecordDecl>(D))
      referClass(Record);
    else if (const auto *Alias = dyn_cast<TypedefNameDecl>(D))
      refer(Alias->getUnderlyingType());
    if (const auto *Value = dyn_cast<ValueDecl>(D))
      refer(Value->getType());
    return true;
  }
  bool visitTypeLoc(TypeLoc Loc) override {
    refer(Loc.getType());
    return true;
  }
  bool visitStmt(Stmt *S) override {
    const auto *E = dyn_cast<Expr>(S);
    if (!E)
      return true;
    refer(E->getType());
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
      refer(Ref->getDecl());
    else if (const auto *Member = dyn_cast<MemberExpr>(E))
      refer(Member->getMemberDecl());
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(E))
      refer(Construct->getConstructor());
    else if (const auto *Overloads = dyn_cast<OverloadExpr>(E))
      referOverloads(Overloads);
    return true;
  }

  void referFunction(const FunctionDecl *F) {
    if (const FunctionDecl *Pattern = F->getTemplateInstantiationPattern())
      refer(Pattern);
    if (const TemplateArgumentList *Arguments =
            F->getTemplateSpecializationArgs())
      refer(*Arguments);
    if (!isa<CXXMethodDecl>(F))
      for (const ParmVarDecl *Parameter : F->parameters())
        forEachPart(Parameter->getType(), [&](const Decl *D) {
          if (!D->isFromASTFile())
            uses(unitOf(D), Now);
        });
  }

  void referClass(const CXXRecordDecl *Record) {
    if (const Decl *Pattern = madeFrom(Record))
      refer(Pattern);
    if (const auto *Class = dyn_cast<ClassTemplateSpecializationDecl>(Record))
      refer(Class->getTemplateArgs());
    if (Record->hasDefinition())
      for (const CXXBaseSpecifier &Base : Record->bases())
        refer(Base.getType());
  }

  /// An operator of LibTorch takes something of LibTorch: what it is given says
  /// so too, and "a < b" in a template finds all that are in sight.
  void referOverloads(const OverloadExpr *E) {
    const bool IsOperator =
        E->getName().getNameKind() == DeclarationName::CXXOperatorName;
    for (const NamedDecl *D : E->decls())
      if (!IsOperator || !D->isFromASTFile())
        refer(D->getUnderlyingDecl());
  }

  void refer(const TemplateArgumentList &Arguments) {
    for (const TemplateArgument &Each : Arguments.asArray())
      forEachPart(Each, [&](const Decl *D) { refer(D); });
  }

  void refer(QualType Type) {
    if (Now && !Type.isNull() &&
        Types.insert({Now, Type.getCanonicalType().getTypePtr()}).second)
      forEachPart(Type, [&](const Decl *D) { refer(D); });
  }

  void refer(const Decl *D) {
    if (!Now || !D)
      return;
    if (D->isFromASTFile()) {
      if (Owner.isOfLibTorch(D))
        Owner.Involved.insert(Now);
      return;
    }
    uses(Now, unitOf(D));
  }

  void uses(const Decl *User, const Decl *Used) {
    if (User && Used && User != Used && Edges.insert({User, Used}).second)
      Users[Used].push_back(User);
  }

  Involvement &Owner;
  const Decl *Now = nullptr;
  DenseSet<std::pair<const Decl *, const Type *>> Types;
  DenseSet<std::pair<const Decl *, const Decl *>> Edges;
  DenseMap<const Decl *, SmallVector<const Decl *, 4>> Users;
};

Involvement::Involvement(ArrayRef<Decl *> Scope) {
  Collector Collect(*this);
  for (Decl *D : Scope)
    Collect.traverseDecl(D);
  Collect.close();
}

bool Involvement::isOfLibTorch(const Decl *D) const {
  auto [It, IsNew] = OfLibTorch.try_emplace(D->getCanonicalDecl(), false);
  if (IsNew)
    It->second = torch::isLibTorch(D);
  return It->second;
}

bool Involvement::of(const Decl *D) const {
  if (D->isFromASTFile())
    return isOfLibTorch(D);
  if (Involved.contains(unitOf(D)))
    return true;
  const auto *Record = dyn_cast<CXXRecordDecl>(D);
  const Decl *Pattern = Record ? madeFrom(Record) : nullptr;
  return Pattern && !Pattern->isFromASTFile() &&
         Involved.contains(unitOf(Pattern));
}

bool Involvement::of(QualType Type) const {
  bool Result = false;
  forEachPart(Type, [&](const Decl *D) { Result |= of(D); });
  return Result;
}

bool Involvement::of(const TemplateArgument &Argument) const {
  bool Result = false;
  forEachPart(Argument, [&](const Decl *D) { Result |= of(D); });
  return Result;
}

} // namespace torchtidy::tool
