#include "model/Program.h"
