int main() {
  int one = 1, two = one * 2; // FAKE: ; => ;\n  one += two;
  return one - one;
}
