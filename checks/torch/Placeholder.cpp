namespace torchtidy { extern const int torchLayer; const int torchLayer = 0; }
