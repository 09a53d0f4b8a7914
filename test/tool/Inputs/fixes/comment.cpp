int main() {
  int one = 1, two = one * 2; // FAKE: ; => ;\n  (void)0;
  return two - 2 * one;
}
