// What the tests of the model and of all above it read first; see
// ../CMakeLists.txt.
#include "ast/Precompiled.h"
#include "model/Model.h"
#include "gtest/gtest.h"
