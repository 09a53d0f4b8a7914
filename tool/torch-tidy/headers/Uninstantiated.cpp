#include "headers/Uninstantiated.h"
#include "ast/TreeVisitor.h"
#include "headers/Involvement.h"
#include "headers/TypeParts.h"
#include "torch/StdRequirements.h"
#include "torch/Types.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>
#include <vector>

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

/// Whose templates know a class.
enum class Callers {
  None,
  /// The standard library's, and those that do no more with it: of what has a
  /// name they call what the standard says, beside constructors and operators.
  Std,
  /// Those that may call anything.
  Any,
};

/// How templates of the precompiled header know a class.
struct Exposure {
  Callers To = Callers::None;
  /// They have objects of the class itself, which they may make: those of a
  /// base are made by constructors of what is derived from it.
  bool IsWhole = false;
  /// One of them, whose body was skipped, is handed any number of arguments,
  /// with which it may make one.
  bool MayBeMadeOf = false;

  bool covers(const Exposure &Other) const {
    return To >= Other.To && IsWhole >= Other.IsWhole &&
           MayBeMadeOf >= Other.MayBeMadeOf;
  }
  void join(const Exposure &Other) {
    To = std::max(To, Other.To);
    IsWhole |= Other.IsWhole;
    MayBeMadeOf |= Other.MayBeMadeOf;
  }
};

/// As it is written, or the partial specialization that it was made from.
const CXXRecordDecl *patternOf(const ClassTemplateSpecializationDecl *Class) {
  const CXXRecordDecl *Pattern = Class->getTemplateInstantiationPattern();
  return Pattern ? Pattern : Class;
}

/// A class whose methods have no bodies calls nothing by its name: it is a
/// trait, or makes and copies what is in it.
bool hasBodies(const CXXRecordDecl *Class) {
  return llvm::any_of(Class->decls(), [](const Decl *Member) {
    if (isa<FriendDecl>(Member))
      return true;
    if (const auto *Template = dyn_cast<FunctionTemplateDecl>(Member))
      Member = Template->getTemplatedDecl();
    const auto *Method = dyn_cast<CXXMethodDecl>(Member);
    return Method && Method->isUserProvided() && Method->isDefined();
  });
}

/// As it is written: vector<Net>::emplace_back was made from that of vector<T>.
const FunctionTemplateDecl *templateOf(const FunctionDecl *Function) {
  const FunctionTemplateDecl *Template = Function->getPrimaryTemplate();
  while (Template && Template->getInstantiatedFromMemberTemplate())
    Template = Template->getInstantiatedFromMemberTemplate();
  return Template;
}

bool takesAnyNumber(const FunctionTemplateDecl *Template) {
  return llvm::any_of(
      *Template->getTemplateParameters(),
      [](const NamedDecl *Parameter) { return Parameter->isParameterPack(); });
}

/// The classes that templates of the precompiled header are given, together
/// with something that has to do with LibTorch.
class Exposed : public ast::TreeVisitor {
public:
  Exposed(ASTContext &Context, ArrayRef<Decl *> Scope,
          const Involvement &Involved)
      : TreeVisitor(ImplicitCode | Instantiations), Involved(Involved) {
    // Looking at one may load others. What is only named has no methods to call
    // anything.
    const auto &Types = Context.getTypes();
    for (size_t I = 0; I < Types.size(); ++I)
      if (const auto *Record = dyn_cast<RecordType>(Types[I]))
        if (const auto *Class =
                dyn_cast<ClassTemplateSpecializationDecl>(Record->getDecl()))
          if (Class->getSpecializedTemplate()->isFromASTFile() &&
              Class->hasDefinition())
            addGiven(Class, {});
    for (Decl *D : Scope)
      traverseDecl(D);
    while (!Waiting.empty())
      addParts(Waiting.pop_back_val());
  }

  /// Function is a member of Class.
  bool mayCall(const CXXRecordDecl *Class, const FunctionDecl *Function) const {
    const Exposure Known = Exposures.lookup(Class->getCanonicalDecl());
    switch (Known.To) {
    case Callers::None:
      return false;
    case Callers::Std:
      if (!torch::mayBeCalledByStd(Function))
        return false;
      break;
    case Callers::Any:
      break;
    }
    if (const auto *Constructor = dyn_cast<CXXConstructorDecl>(Function))
      return mayConstruct(Known, Constructor);
    const auto *Conversion = dyn_cast<CXXConversionDecl>(Function);
    return !Conversion || knows(Conversion->getConversionType());
  }

private:
  /// One that has to be given several arguments is called by whoever hands on
  /// some, or knows what it makes.
  static bool mayConstruct(const Exposure &Known,
                           const CXXConstructorDecl *Constructor) {
    if (Constructor->getMinRequiredArguments() == 0 ||
        Constructor->isCopyOrMoveConstructor())
      return true;
    if (!Known.IsWhole)
      return false;
    return Known.To == Callers::Any || Known.MayBeMadeOf ||
           Constructor->getMinRequiredArguments() == 1;
  }

  /// Whoever converts to a class of the user's is given it, too.
  bool knows(QualType To) const {
    const CXXRecordDecl *Class = To.getNonReferenceType()->getAsCXXRecordDecl();
    return !Class || Class->isFromASTFile() ||
           Exposures.lookup(Class->getCanonicalDecl()).To != Callers::None;
  }

  bool visitStmt(Stmt *S) override {
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S))
      addCalled(Ref->getDecl());
    else if (const auto *Member = dyn_cast<MemberExpr>(S))
      addCalled(Member->getMemberDecl());
    else if (const auto *Construct = dyn_cast<CXXConstructExpr>(S))
      addConstructor(Construct->getConstructor());
    return true;
  }

  /// Or the one that it inherits, as a holder of a module does.
  void addConstructor(const CXXConstructorDecl *Constructor) {
    if (const InheritedConstructor From =
            Constructor->getInheritedConstructor())
      Constructor = From.getConstructor();
    addCalled(Constructor);
  }

  void addCalled(const ValueDecl *Called) {
    const auto *Function = dyn_cast<FunctionDecl>(Called);
    if (!Function)
      return;
    const FunctionTemplateDecl *Template = templateOf(Function);
    if (!Template || !Template->isFromASTFile())
      return;
    Exposure How;
    // One whose body is there has made what it makes.
    How.MayBeMadeOf = takesAnyNumber(Template) && !Function->hasBody();
    if (const TemplateArgumentList *Arguments =
            Function->getTemplateSpecializationArgs())
      add(Template, *Arguments, How, !torch::callsAsStdDoes(Template));
    const auto *Of =
        dyn_cast<ClassTemplateSpecializationDecl>(Function->getDeclContext());
    if (Of && How.MayBeMadeOf)
      addGiven(Of, How);
  }

  void addGiven(const ClassTemplateSpecializationDecl *Class,
                const Exposure &How) {
    const ClassTemplateDecl *Template = Class->getSpecializedTemplate();
    add(Template, Class->getTemplateArgs(), How,
        !torch::callsAsStdDoes(Template) && hasBodies(patternOf(Class)));
  }

  /// LibTorch's templates may bring types of their own; others know those only
  /// that they are given.
  void add(const TemplateDecl *Template, const TemplateArgumentList &Arguments,
           Exposure How, bool MayCallAny) {
    if (!Involved.of(Template) &&
        llvm::none_of(Arguments.asArray(), [&](const TemplateArgument &Each) {
          return Involved.of(Each);
        }))
      return;
    How.IsWhole = true;
    How.To = std::max(How.To, MayCallAny ? Callers::Any : Callers::Std);
    for (const TemplateArgument &Each : Arguments.asArray())
      add(Each, How);
  }

  template <class Thing>
  void add(const Thing &TypeOrArgument, const Exposure &How) {
    forEachNamed(TypeOrArgument, [&](const Decl *D) {
      const auto *Record = dyn_cast<CXXRecordDecl>(D);
      if (!Record || Record->isFromASTFile())
        return;
      Exposure &Known = Exposures[Record->getCanonicalDecl()];
      if (Known.covers(How))
        return;
      Known.join(How);
      Waiting.push_back(Record);
    });
  }

  /// Whoever makes, copies or compares an object does the same to its parts.
  /// Other members of a base are called as if they were its own, those of a
  /// field by nobody who does not know its name.
  void addParts(const CXXRecordDecl *Record) {
    const Exposure Known = Exposures.lookup(Record->getCanonicalDecl());
    if (const auto *Class = dyn_cast<ClassTemplateSpecializationDecl>(Record)) {
      addGiven(Class, Known);
      // One of the library's own has no other parts of the user than those.
      if (Class->getSpecializedTemplate()->isFromASTFile())
        return;
    }
    Record = Record->getDefinition();
    if (!Record)
      return;
    Exposure OfBase = Known;
    OfBase.IsWhole = Known.IsWhole && inheritsConstructors(Record);
    for (const CXXBaseSpecifier &Base : Record->bases())
      add(Base.getType(), OfBase);
    // Arguments of an aggregate become its fields.
    Exposure OfField;
    OfField.To = Callers::Std;
    OfField.IsWhole = Known.IsWhole && Record->isAggregate();
    OfField.MayBeMadeOf = Known.MayBeMadeOf && Record->isAggregate();
    for (const FieldDecl *Field : Record->fields())
      add(Field->getType(), OfField);
  }

  static bool inheritsConstructors(const CXXRecordDecl *Record) {
    return llvm::any_of(Record->decls(), [](const Decl *Member) {
      return isa<ConstructorUsingShadowDecl>(Member);
    });
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
      if (Used->isExplicitSpecialization())
        continue;
      // One that no line needs the inside of: a body that was skipped may.
      if (!Used->hasDefinition()) {
        for (const CXXMethodDecl *Method : Class->getTemplatedDecl()->methods())
          if (Method->isDefined() && !Method->isImplicit())
            addMethod(Used, Method);
        continue;
      }
      for (const CXXMethodDecl *Method : Used->methods()) {
        const FunctionDecl *Pattern = Method->getTemplateInstantiationPattern();
        if (Pattern && Pattern->doesThisDeclarationHaveABody() &&
            !Method->isImplicit() && !Method->doesThisDeclarationHaveABody())
          addMethod(Used, Method);
      }
    }
  }

  void addMethod(const ClassTemplateSpecializationDecl *Used,
                 const CXXMethodDecl *Method) {
    Found.push_back({Used, Method,
                     "the method '" + Method->getQualifiedNameAsString() +
                         "' of a template",
                     true});
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
