// RUN: %check_torch %s torch-reference-cycle %t
//
// What is public in a header may be let go by another file.

#include "Inputs/session.h"

void open() {
  auto session = std::make_shared<OpenSession>();
  session->on_done = [session] { session->state.zero_(); };
}

void closed() { std::make_shared<ClosedSession>()->start(); }
// CHECK-MESSAGES: session.h:15:5: warning: the function that 'on_done_' holds has captured 'shared_from_this()', which has 'on_done_'
