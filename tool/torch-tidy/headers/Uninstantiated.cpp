#include "headers/Uninstantiated.h"
#include "ast/TreeVisitor.h"
#include "headers/Involvement.h"
#include "headers/TypeParts.h"
#include "torch/StdRequirements.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <vector>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Whose templates know a class.
enum class Exposure {
  None,
  /// The standard library's alone: of what has a name they call what the
  /// standard says, beside constructors and operators.
  ToStd,
  /// Those that may call anything.
  ToAny,
};

/// The classes that templates of the precompiled header are given, together
/// with something that has to do with LibTorch.
class Exposed : public ast::TreeVisitor {
public:
  Exposed(ASTContext &Context, ArrayRef<Decl *> Scope,
          const Involvement &Involved)
      : TreeVisitor(ImplicitCode | Instantiations), Involved(Involved) {
    // Looking at one may load others.
    const auto &Types = Context.getTypes();
    for (size_t I = 0; I < Types.size(); ++I)
      if (const auto *Record = dyn_cast<RecordType>(Types[I]))
        if (const auto *Class =
                dyn_cast<ClassTemplateSpecializationDecl>(Record->getDecl()))
          if (Class->getSpecializedTemplate()->isFromASTFile())
            add(Class->getSpecializedTemplate(), Class->getTemplateArgs());
    for (Decl *D : Scope)
      traverseDecl(D);
    while (!Waiting.empty())
      addParts(Waiting.pop_back_val());
  }

  /// Function is a member of Class.
  bool mayCall(const CXXRecordDecl *Class, const FunctionDecl *Function) const {
    const Exposure To = Exposures.lookup(Class->getCanonicalDecl());
    return To == Exposure::ToAny ||
           (To == Exposure::ToStd && torch::mayBeCalledByStd(Function));
  }

private:
  bool visitStmt(Stmt *S) override {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
      addCalled(Ref->getDecl());
    else if (const auto *Member = dyn_cast<MemberExpr>(S))
      addCalled(Member->getMemberDecl());
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
      addCalled(Construct->getConstructor());
    return true;
  }

  void addCalled(const ValueDecl *Called) {
    const auto *Function = dyn_cast<FunctionDecl>(Called);
    if (!Function)
      return;
    const FunctionTemplateDecl *Template = Function->getPrimaryTemplate();
    if (const TemplateArgumentList *Arguments =
            Function->getTemplateSpecializationArgs();
        Template && Arguments && Template->isFromASTFile())
      add(Template, *Arguments);
  }

  /// LibTorch's templates may bring types of their own; others know those only
  /// that they are given.
  void add(const TemplateDecl *Template, const TemplateArgumentList &Arguments,
           Exposure To = Exposure::ToStd) {
    if (!Involved.of(Template) &&
        llvm::none_of(Arguments.asArray(), [&](const TemplateArgument &Each) {
          return Involved.of(Each);
        }))
      return;
    if (!torch::isStd(Template))
      To = Exposure::ToAny;
    for (const TemplateArgument &Each : Arguments.asArray())
      add(Each, To);
  }

  template <class Thing> void add(const Thing &TypeOrArgument, Exposure To) {
    forEachNamed(TypeOrArgument, [&](const Decl *D) {
      const auto *Record = dyn_cast<CXXRecordDecl>(D);
      if (!Record || Record->isFromASTFile())
        return;
      Exposure &Known = Exposures[Record->getCanonicalDecl()];
      if (Known >= To)
        return;
      Known = To;
      Waiting.push_back(Record);
    });
  }

  /// Whoever makes, copies or compares an object does the same to its parts.
  /// Other members of a base are called as if they were its own, those of a
  /// field by nobody who does not know its name.
  void addParts(const CXXRecordDecl *Record) {
    const Exposure To = Exposures.lookup(Record->getCanonicalDecl());
    if (const auto *Class = dyn_cast<ClassTemplateSpecializationDecl>(Record)) {
      add(Class->getSpecializedTemplate(), Class->getTemplateArgs(), To);
      // One of the library's own has no other parts of the user than those.
      if (Class->getSpecializedTemplate()->isFromASTFile())
        return;
    }
    Record = Record->getDefinition();
    if (!Record)
      return;
    for (const CXXBaseSpecifier &Base : Record->bases())
      add(Base.getType(), To);
    for (const FieldDecl *Field : Record->fields())
      add(Field->getType(), Exposure::ToStd);
  }

  const Involvement &Involved;
  DenseMap<const CXXRecordDecl *, Exposure> Exposures;
  SmallVector<const CXXRecordDecl *, 32> Waiting;
};

/// The templates of the user that have no instantiation.
class Uninstantiated : public ast::TreeVisitor {
public:
  struct Template {
    const CXXRecordDecl *Class;
    const FunctionDecl *Function;
    std::string What;
    /// Of a method that is no template itself, the class decides what it is
    /// called with.
    bool IsOfClass;
  };
  std::vector<Template> Found;

private:
  bool visitStmt(Stmt *S) override {
    if (const auto *Lambda = dyn_cast<LambdaExpr>(S))
      checkLambda(Lambda);
    return true;
  }
  bool visitDecl(Decl *D) override {
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(D))
      checkFunction(Template);
    else if (const auto *Class = dyn_cast<ClassTemplateDecl>(D))
      checkClass(Class);
    return true;
  }

  void checkLambda(const LambdaExpr *Lambda) {
    const FunctionTemplateDecl *Call =
        Lambda->isGenericLambda()
            ? Lambda->getLambdaClass()->getDependentLambdaCallOperator()
            : nullptr;
    if (Call && !Lambda->getLambdaClass()->isDependentContext())
      check(Call, Lambda->getLambdaClass(), "a generic lambda");
  }

  void checkFunction(const FunctionTemplateDecl *Template) {
    const auto *Method = dyn_cast<CXXMethodDecl>(Template->getTemplatedDecl());
    if (Method && !Method->getParent()->isDependentContext() &&
        Method->getParent()->getIdentifier())
      check(Template, Method->getParent(),
            "the template '" + Method->getQualifiedNameAsString() + "'");
  }

  void checkClass(const ClassTemplateDecl *Class) {
    // Of a class that is used, each method that is written out in it.
    for (const ClassTemplateSpecializationDecl *Used :
         Class->specializations()) {
      if (!Used->hasDefinition() || Used->isExplicitSpecialization())
        continue;
      for (const CXXMethodDecl *Method : Used->methods()) {
        const FunctionDecl *Pattern = Method->getTemplateInstantiationPattern();
        if (Pattern && Pattern->doesThisDeclarationHaveABody() &&
            !Method->isImplicit() && !Method->doesThisDeclarationHaveABody())
          Found.push_back({Used, Method,
                           "the method '" + Method->getQualifiedNameAsString() +
                               "' of a template",
                           true});
      }
    }
  }

  void check(const FunctionTemplateDecl *Template, const CXXRecordDecl *Class,
             std::string What) {
    for (const FunctionDecl *Instance : Template->specializations())
      if (Instance->hasBody())
        return;
    if (Template->getTemplatedDecl()->hasBody())
      Found.push_back(
          {Class, Template->getTemplatedDecl(), std::move(What), false});
  }
};

} // namespace

std::string findUninstantiated(ASTContext &Context, ArrayRef<Decl *> Scope) {
  Uninstantiated Search;
  for (Decl *D : Scope)
    Search.traverseDecl(D);
  // Most sources have none, and need not be gone through again.
  if (Search.Found.empty())
    return {};
  const Involvement Involved(Scope);
  const Exposed Library(Context, Scope, Involved);
  for (const Uninstantiated::Template &Each : Search.Found)
    if (Library.mayCall(Each.Class, Each.Function) &&
        (!Each.IsOfClass || Involved.of(Each.Class)))
      return Each.What + " has no instantiation";
  return {};
}

} // namespace torchtidy::tool
