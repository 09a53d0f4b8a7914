// Gives each segment of the control flow its meaning in torch terms: the
// transfer function of the data flow analysis, and the recorder of events.
#ifndef TORCHTIDY_INTERPRETER_INTERPRETER_H
#define TORCHTIDY_INTERPRETER_INTERPRETER_H

#include "model/machine/Machine.h"

namespace torchtidy::model {

class Interpreter {
public:
  Interpreter(const Supergraph &Graph, Code &User) : Graph(Graph), User(User) {}

  State initialState() const;
  /// The state behind a segment: a function of its arguments alone. With a
  /// recorder, tells it the events in order.
  State transfer(const Segment &Of, State Before,
                 const Machine::Recorder *Record = nullptr);
  /// What holds where two paths meet. True when Into has changed.
  bool join(State &Into, const State &From);

  /// The names of what states and events speak of.
  const Tables &names() const { return Names; }

private:
  const Supergraph &Graph;
  Code &User;
  Tables Names;
};

} // namespace torchtidy::model

#endif
