int main() {
  return 0; // FAKE: 0 => 0 + 0
}
