#include "queries/graphs/UnseenTraining.h"
#include "ast/Expressions.h"
#include "torch/Api.h"
#include "torch/SharedOwners.h"
#include "torch/Types.h"

using namespace clang;

namespace torchtidy::model {

namespace {

class UnseenTrainingQuery {
public:
  explicit UnseenTrainingQuery(const Execution &Entry) : Entry(Entry) {
    for (const EscapeEvent &Escape : Entry.events<EscapeEvent>())
      if (hasGraph(Escape.Given))
        Graphs.insert({Escape.In, Escape.Site});
  }

  std::vector<UnseenCall> run() const {
    std::vector<UnseenCall> Result;
    for (const CallAt &Each : callsOf(Entry))
      if (const UnseenTraining Trains = ask(Each);
          Trains != UnseenTraining::None)
        Result.push_back({Each, Trains});
    return Result;
  }

private:
  using Place = std::pair<const Frame *, const Stmt *>;

  /// What leads to a loss that somebody may backward.
  bool hasGraph(const Value &Given) const {
    return Given.mayHaveGraph() &&
           llvm::any_of(Entry.events<ForwardEvent>(),
                        [&](const ForwardEvent &Forward) {
                          return Given.hasOrigin(Forward.Origin) &&
                                 Forward.Result.mayHaveGraph() &&
                                 !(Forward.GradMode & mode::Off);
                        });
  }

  bool isUnseen(const CallAt &At, const FunctionDecl *Callee) const {
    const flow::UserFunctions &Functions = Entry.code().functions();
    return Functions.isUserCode(Callee->getLocation()) &&
           !Functions.definition(Callee) && !Callee->isDefaulted() &&
           Entry.graph().expansions(At.In, At.Call).empty() &&
           torch::classify(Callee).Kind != torch::Api::ModuleForward;
  }

  UnseenTraining ask(const CallAt &At) const {
    const FunctionDecl *Callee = At.Call->getDirectCallee();
    if (!Callee || !isUnseen(At, Callee))
      return UnseenTraining::None;
    if (Graphs.count({At.In, At.Call}))
      return UnseenTraining::Likely;
    const auto *Method = dyn_cast<CXXMethodDecl>(Callee);
    const bool Reads = Method && Method->isConst();
    if (!Reads && Callee->getReturnType()->isVoidType() &&
        !Callee->getNumParams() && !isOfPlainData(Method))
      return UnseenTraining::Likely;
    llvm::SmallVector<QualType, 8> Given;
    for (const Expr *Argument : At.Call->arguments())
      Given.push_back(Argument->getType());
    if (const Expr *Object = ast::objectOf(At.Call); Object && !Reads)
      Given.push_back(Object->getType());
    if (llvm::any_of(Given, torch::leadsToTrained))
      return UnseenTraining::Likely;
    return llvm::any_of(Given, mayLeadAnywhere) ? UnseenTraining::Unlikely
                                                : UnseenTraining::None;
  }

  /// timer.lap(): its object leads to nothing that could be trained.
  static bool isOfPlainData(const CXXMethodDecl *Method) {
    return Method && !Method->isStatic() &&
           torch::holdsPlainData(
               Method->getASTContext().getRecordType(Method->getParent()));
  }

  static bool mayLeadAnywhere(QualType Type) {
    const CXXRecordDecl *Class = torch::recordOf(Type);
    return torch::mayHoldTensor(Type) ||
           (Class && (!Class->hasDefinition() || Class->isPolymorphic()));
  }

  const Execution &Entry;
  std::set<Place> Graphs;
};

} // namespace

std::vector<UnseenCall> unseenTraining(const Execution &Entry) {
  return UnseenTrainingQuery(Entry).run();
}

} // namespace torchtidy::model
