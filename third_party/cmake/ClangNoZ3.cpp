// What LLVM's archives have of Z3, for programs that are linked without it. The
// static analyzer asks for it only under -analyzer-constraints=z3 and
// crosscheck-with-z3.
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/SMTAPI.h"

llvm::SMTSolverRef llvm::CreateZ3Solver() {
  llvm::report_fatal_error("this program was built without Z3; leave out "
                           "-analyzer-constraints=z3 and crosscheck-with-z3",
                           /*gen_crash_diag=*/false);
}
void llvm::SMTSort::dump() const {}
void llvm::SMTExpr::dump() const {}
void llvm::SMTSolverStatistics::dump() const {}
void llvm::SMTSolver::dump() const {}
