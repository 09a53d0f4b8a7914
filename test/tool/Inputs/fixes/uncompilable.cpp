int main() {
  int value = 0; // FAKE: int => nothing
  return value;
}
