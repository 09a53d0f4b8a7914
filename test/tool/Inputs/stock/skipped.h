#pragma once
inline int *skipped() { return 0; }
