// What a value leads to that is called: a lambda, a function, std::function.
#include "ast/Expressions.h"
#include "ast/Walk.h"
#include "model/icfg/StoredCallables.h"
#include "model/icfg/Targets.h"
#include "torch/Callbacks.h"
#include "torch/Std.h"
#include "torch/Types.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace torchtidy::model {

namespace {

class CallableResolver {
public:
  CallableResolver(Code &User, const Frame *F, Resolver::Expansion Expandable,
                   const Target &Call, std::vector<Target> &Targets)
      : User(User), F(F), Expandable(Expandable), Call(Call), Targets(Targets) {
  }

  /// Object is the variable whose member E is read from, or null.
  void follow(const Expr *E, llvm::ArrayRef<const Expr *> Arguments,
              const VarDecl *Object, bool IsElement) {
    E = ast::strip(E);
    if (!E || Hops > 16)
      return;
    ++Hops;
    lookInto(E, Arguments, Object, IsElement);
    --Hops;
  }

private:
  using Given = llvm::ArrayRef<const Expr *>;

  void add(const FunctionDecl *Function, Given Arguments, bool IsElement,
           const Expr *Object = nullptr) {
    const FunctionDecl *Definition = Expandable(Function);
    const bool IsKnown = llvm::any_of(Targets, [&](const Target &Other) {
      return Other.Function == Definition;
    });
    if (!Definition || IsKnown || Targets.size() >= MaxTargets)
      return;
    Target T = Call;
    T.Function = Definition;
    T.Object = Object;
    T.Arguments.assign(Arguments.begin(), Arguments.end());
    // All elements are called in turn.
    T.Follows = IsElement && !Targets.empty();
    Targets.push_back(T);
  }

  void lookInto(const Expr *E, Given Arguments, const VarDecl *Object,
                bool IsElement) {
    if (const auto *Lambda = dyn_cast<LambdaExpr>(E)) {
      const FunctionDecl *Operator = Lambda->getCallOperator();
      if (const FunctionTemplateDecl *Template =
              Operator->getDescribedFunctionTemplate())
        for (const FunctionDecl *Specialization : Template->specializations()) {
          if (Call.IsAnyInstance)
            add(Specialization, Arguments, IsElement);
          Operator = Specialization;
        }
      return add(Operator, Arguments, IsElement);
    }
    if (const auto *Unary = dyn_cast<UnaryOperator>(E)) {
      if (Unary->getOpcode() == UO_AddrOf || Unary->getOpcode() == UO_Deref)
        follow(Unary->getSubExpr(), Arguments, Object, IsElement);
      return;
    }
    if (const auto *Construct = dyn_cast<CXXConstructExpr>(E)) {
      // A copy, or a std::function made from what it calls.
      if (Construct->getNumArgs() > 0)
        follow(Construct->getArg(0), Arguments, Object, IsElement);
      return;
    }
    if (const auto *List = dyn_cast<InitListExpr>(E)) {
      // Overloaded{[](A) {..}, [](B) {..}}: each is a base.
      for (const Expr *Init : List->inits())
        if (List->getNumInits() == 1 ||
            (Call.IsAnyInstance && isLambda(Init->getType())))
          follow(Init, Arguments, Object, IsElement);
      if (Call.IsAnyInstance)
        lookIntoOverloads(E, Arguments, IsElement);
      return;
    }
    if (const auto *Choice = dyn_cast<AbstractConditionalOperator>(E)) {
      follow(Choice->getTrueExpr(), Arguments, Object, IsElement);
      return follow(Choice->getFalseExpr(), Arguments, Object, IsElement);
    }
    if (const auto *Inner = dyn_cast<CallExpr>(E))
      return lookIntoCall(Inner, Arguments, Object, IsElement);
    if (const Expr *Part = boundTo(E))
      return follow(Part, Arguments, Object, IsElement);
    if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      if (const auto *Function = dyn_cast<FunctionDecl>(Ref->getDecl()))
        return lookIntoFunction(Function, Arguments, IsElement);
      if (const auto *Variable = dyn_cast<VarDecl>(Ref->getDecl()))
        return lookIntoVariable(Variable, Arguments, Object, IsElement);
      return;
    }
    lookIntoMember(E, Arguments, IsElement);
  }

  static bool isLambda(QualType Type) {
    const CXXRecordDecl *Class = torch::recordOf(Type);
    return Class && Class->isLambda();
  }

  /// An object of a class of the user's with an operator() for each
  /// alternative.
  void lookIntoOverloads(const Expr *E, Given Arguments, bool IsElement) {
    const CXXRecordDecl *Class = torch::recordOf(E->getType());
    if (!Class || !Class->hasDefinition() || torch::isStd(Class))
      return;
    for (const CXXMethodDecl *Method : Class->getDefinition()->methods())
      if (Method->getOverloadedOperator() == OO_Call)
        add(Method, Arguments, IsElement, E);
  }

  void lookIntoFunction(const FunctionDecl *Function, Given Arguments,
                        bool IsElement) {
    const Expr *Object = nullptr;
    if (const auto *Method = dyn_cast<CXXMethodDecl>(Function);
        Method && !Method->isStatic()) {
      if (Arguments.empty())
        return;
      Object = Arguments.front();
      Arguments = Arguments.drop_front();
    }
    add(Function, Arguments, IsElement, Object);
  }

  void lookIntoCall(const CallExpr *Inner, Given Arguments,
                    const VarDecl *Object, bool IsElement) {
    const FunctionDecl *Callee = Inner->getDirectCallee();
    if (!Callee)
      return;
    if (torch::bindsArguments(Callee))
      return lookIntoBind(Inner, Arguments, Object, IsElement);
    if (torch::isStd(Callee)) {
      const Designated From = designated(Inner);
      if (const auto *Variable = dyn_cast_or_null<VarDecl>(From.Declaration))
        return lookIntoVariable(Variable, Arguments, Object,
                                IsElement || From.IsElement);
      if (From.Declaration)
        return lookIntoStores(From.Declaration, Arguments,
                              objectOf(From.Object),
                              IsElement || From.IsElement);
      // std::move, std::ref, std::forward of something else.
      if (Inner->getNumArgs() == 1 && !isa<CXXMemberCallExpr>(Inner))
        follow(Inner->getArg(0), Arguments, Object, IsElement);
      return;
    }
    // What the user's function returns.
    if (const FunctionDecl *Definition = User.functions().definition(Callee))
      ast::forEachStmt(
          Definition->getBody(),
          [&](const Stmt *S) {
            if (const auto *Return = dyn_cast<ReturnStmt>(S))
              follow(Return->getRetValue(), Arguments, nullptr, IsElement);
          },
          ast::Lambdas::Skip);
  }

  /// std::bind(f, a, _1)(x) is f(a, x).
  void lookIntoBind(const CallExpr *Bind, Given Arguments,
                    const VarDecl *Object, bool IsElement) {
    if (Bind->getNumArgs() == 0)
      return;
    llvm::SmallVector<const Expr *, 4> Bound;
    for (const Expr *Argument : llvm::drop_begin(Bind->arguments())) {
      const std::optional<unsigned> Index =
          torch::placeholderIndex(ast::strip(Argument));
      if (!Index)
        Bound.push_back(Argument);
      else
        Bound.push_back(*Index < Arguments.size() ? Arguments[*Index]
                                                  : nullptr);
    }
    follow(Bind->getArg(0), Bound, Object, IsElement);
  }

  void lookIntoVariable(const VarDecl *Variable, Given Arguments,
                        const VarDecl *Object, bool IsElement) {
    if (const auto *Parameter = dyn_cast<ParmVarDecl>(Variable)) {
      // The argument is written in the caller, but what it leads to is looked
      // up by variable: the frames around F include the caller's.
      if (const Expr *Given = Supergraph::passed(F, Parameter).Argument)
        return follow(Given, Arguments, Object, IsElement);
    }
    // for (auto &hook : hooks): the range, by its first element.
    if (const Expr *Init = Variable->getAnyInitializer())
      follow(Init, Arguments, Object,
             IsElement || torch::kindOf(Variable->getType()) ==
                              torch::TypeKind::Container);
    lookIntoStores(Variable, Arguments, Object, IsElement);
  }

  void lookIntoMember(const Expr *E, Given Arguments, bool IsElement) {
    const Designated From = designated(E);
    if (!From.Declaration)
      return;
    // c.second, of a pair in a container that c goes through; it->second(),
    // where the iterator comes from a table.
    if (const auto *Variable = dyn_cast<VarDecl>(From.Declaration))
      return lookIntoVariable(Variable, Arguments, nullptr,
                              IsElement || From.IsElement);
    const unsigned Before = Targets.size();
    lookIntoStores(From.Declaration, Arguments, objectOf(From.Object),
                   IsElement || From.IsElement);
    const auto *Field = dyn_cast<FieldDecl>(From.Declaration);
    if (Field && Targets.size() == Before && Field->hasInClassInitializer())
      follow(Field->getInClassInitializer(), Arguments, nullptr, IsElement);
  }

  void lookIntoStores(const ValueDecl *D, Given Arguments,
                      const VarDecl *Object, bool IsElement) {
    for (const StoredCallables::Store &S : User.callables().in(D))
      if (!Object || !S.Object || S.Object == Object)
        follow(S.What, Arguments, S.Object ? S.Object : Object, IsElement);
  }

  /// The variable that an object expression of F leads to; null stands for
  /// `this`.
  const VarDecl *objectOf(const Expr *Object) const {
    const Frame *In = F;
    for (unsigned Hop = 0; Hop < 8; ++Hop) {
      if (!Object || isa<CXXThisExpr>(ast::strip(Object))) {
        In = Supergraph::lexical(In);
        if (!In || !In->Object)
          return nullptr;
        Object = In->Object;
        In = In->Caller;
        continue;
      }
      const VarDecl *V = variableOf(Object);
      const auto *Parameter = dyn_cast_or_null<ParmVarDecl>(V);
      if (!Parameter)
        return V;
      const Supergraph::Passed Given = Supergraph::passed(In, Parameter);
      if (!Given.Argument)
        return V;
      Object = Given.Argument;
      In = Given.To->Caller;
    }
    return nullptr;
  }

  Code &User;
  const Frame *F;
  Resolver::Expansion Expandable;
  const Target &Call;
  std::vector<Target> &Targets;
  unsigned Hops = 0;
};

} // namespace

void Resolver::resolveCallable(const Expr *Callable,
                               llvm::ArrayRef<const Expr *> Arguments,
                               const Target &Call,
                               std::vector<Target> &Targets) {
  Target Called = Call;
  Called.Callable = Callable;
  CallableResolver(User, F, Expandable, Called, Targets)
      .follow(Callable, Arguments, nullptr, false);
}

} // namespace torchtidy::model
