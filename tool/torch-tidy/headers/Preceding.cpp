#include "headers/Preceding.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;
using namespace llvm;

namespace torchtidy::tool {
namespace {

class Preceding {
public:
  explicit Preceding(ASTContext &Context) : Context(Context) {}

  /// The first that matters, in words; or an empty string.
  std::string visit(const Decl *D) {
    if (D->isImplicit() ||
        isa<EmptyDecl, StaticAssertDecl, FileScopeAsmDecl>(D))
      return {};
    // Eigen includes <emmintrin.h> within 'extern "C"'.
    const SourceManager &SM = Context.getSourceManager();
    if (SM.isInSystemHeader(SM.getExpansionLoc(D->getLocation())))
      return {};
    if (const auto *Linkage = dyn_cast<LinkageSpecDecl>(D))
      return visitAll(Linkage);
    if (const auto *Using = dyn_cast<UsingDirectiveDecl>(D))
      return visitNominated(Using->getNominatedNamespace());
    const auto *Named = dyn_cast<NamedDecl>(D);
    if (!Named)
      return "a declaration";
    if (const auto *Namespace = dyn_cast<NamespaceDecl>(D);
        Namespace && (isTransparent(Namespace) || Namespace->isStdNamespace()))
      return visitAll(Namespace);
    const DeclContext *Around = scopeOf(Named);
    // A member that is defined outside of its class.
    if (Around->isRecord())
      return {};
    if (const auto *Class = dyn_cast<ClassTemplateSpecializationDecl>(D)) {
      if (Class->getSpecializedTemplate()->isFromASTFile())
        return isOfUsersClass(Class) ? std::string() : describe(Named);
    } else if (!Around->isTranslationUnit() &&
               isPrecompiled(cast<Decl>(Around))) {
      return describe(Named);
    }
    if (isRepeated(Named))
      return {};
    if (Around->isTranslationUnit() && isDeclared(Named->getDeclName()))
      return describe(Named);
    if (const auto *Enum = dyn_cast<EnumDecl>(D); Enum && !Enum->isScoped())
      return visitAll(Enum);
    return {};
  }

private:
  std::string visitAll(const DeclContext *Inside) {
    for (const Decl *D : Inside->noload_decls())
      if (std::string Found = visit(D); !Found.empty())
        return Found;
    return {};
  }

  static std::string describe(const NamedDecl *D) {
    return "'" + D->getQualifiedNameAsString() + "'";
  }

  static bool isTransparent(const NamespaceDecl *Namespace) {
    return Namespace->isAnonymousNamespace() || Namespace->isInlineNamespace();
  }

  /// Where its name is found without naming anything else.
  static const DeclContext *scopeOf(const NamedDecl *D) {
    const DeclContext *Around = D->getDeclContext()->getRedeclContext();
    while (const auto *Namespace = dyn_cast<NamespaceDecl>(Around)) {
      if (!isTransparent(Namespace))
        break;
      Around = Namespace->getDeclContext()->getRedeclContext();
    }
    return Around;
  }

  /// Its names can be found at global scope from then on.
  std::string visitNominated(const NamespaceDecl *Nominated) {
    if (Nominated->isStdNamespace())
      return {};
    if (isPrecompiled(Nominated))
      return describe(Nominated);
    for (const NamespaceDecl *Part : Nominated->redecls())
      for (const Decl *D : Part->noload_decls())
        if (const auto *Named = dyn_cast<NamedDecl>(D);
            Named && isDeclared(Named->getDeclName()))
          return describe(Named);
    return {};
  }

  /// Any of its declarations.
  static bool isPrecompiled(const Decl *D) {
    return llvm::any_of(D->redecls(),
                        [](const Decl *Each) { return Each->isFromASTFile(); });
  }

  /// The same once more, as OpenCV has 'typedef unsigned int uint': whichever
  /// comes first, they declare one thing.
  static bool isRepeated(const NamedDecl *D) {
    if (const auto *Function = dyn_cast<FunctionDecl>(D)) {
      if (Function->isThisDeclarationADefinition() ||
          llvm::any_of(Function->parameters(), [](const ParmVarDecl *Each) {
            return Each->hasDefaultArg();
          }))
        return false;
    } else if (const auto *Tag = dyn_cast<TagDecl>(D)) {
      if (Tag->isThisDeclarationADefinition())
        return false;
    } else if (!isa<TypedefNameDecl>(D)) {
      return false;
    }
    return isPrecompiled(D);
  }

  /// A specialization that the library has no use for: std::hash<Mine>.
  static bool isOfUsersClass(const ClassTemplateSpecializationDecl *Class) {
    return llvm::any_of(Class->getTemplateArgs().asArray(),
                        [](const TemplateArgument &Each) {
                          if (Each.getKind() != TemplateArgument::Type)
                            return false;
                          const TagDecl *Tag = Each.getAsType()->getAsTagDecl();
                          return Tag && !Tag->isFromASTFile() &&
                                 !isa<ClassTemplateSpecializationDecl>(Tag);
                        });
  }

  /// At global scope, in the precompiled header.
  bool isDeclared(DeclarationName Name) {
    return Name && llvm::any_of(Context.getTranslationUnitDecl()->lookup(Name),
                                isPrecompiled);
  }

  ASTContext &Context;
};

} // namespace

std::string findPreceding(ASTContext &Context, ArrayRef<Decl *> Scope,
                          SourceLocation Entered) {
  const SourceManager &SM = Context.getSourceManager();
  Preceding Search(Context);
  for (const Decl *D : Scope) {
    const SourceLocation Location = SM.getExpansionLoc(D->getLocation());
    if (Location.isValid() && SM.isBeforeInTranslationUnit(Location, Entered))
      if (std::string Found = Search.visit(D); !Found.empty())
        return Found + " stands before LibTorch's headers";
  }
  return {};
}

} // namespace torchtidy::tool
