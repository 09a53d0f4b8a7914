#include "FindingListener.h"

namespace torchtidy {

static thread_local FindingListener *Current = nullptr;

FindingListener::FindingListener() : Before(Current) { Current = this; }
FindingListener::~FindingListener() { Current = Before; }
FindingListener *FindingListener::current() { return Current; }

} // namespace torchtidy
