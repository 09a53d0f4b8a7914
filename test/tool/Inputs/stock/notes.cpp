void declared(int *left, int *right);
void declared(int *right, int *left);
void caller(int *left, int *right) { declared(right, left); }
int unused() {
  int counter = 0;
  return sizeof(int *) / sizeof(int);
}
