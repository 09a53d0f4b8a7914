namespace torchtidy { extern const int flowLayer; const int flowLayer = 0; }
