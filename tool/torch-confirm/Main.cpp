#include "cli/Program.h"

int main(int Count, char **Words) {
  return torchtidy::confirm::runProgram(Count, Words);
}
