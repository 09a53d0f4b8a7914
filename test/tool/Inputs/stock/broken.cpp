int *beforeTheError() { return 0; }
int broken() { return undeclared; }
int missingSemicolon() { return 1 }
int *afterTheError() { return 0; }
