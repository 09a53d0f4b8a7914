#pragma once
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>
#include <vector>
typedef unsigned char pixel_t;
enum Action { PLAYER_A_NOOP = 0 };
typedef std::vector<Action> ActionVect;
typedef int reward_t;
struct ALEInterface {
  void setInt(const std::string &, int);
  void setBool(const std::string &, bool);
  void setFloat(const std::string &, float);
  void loadROM(std::string);
  ActionVect getLegalActionSet();
  ActionVect getMinimalActionSet();
  void reset_game();
  void getScreenRGB(std::vector<unsigned char> &);
  void getScreenGrayscale(std::vector<unsigned char> &);
  reward_t act(Action);
  bool game_over();
  int lives();
};
namespace ale {
using ::Action;
using ::ActionVect;
using ::ALEInterface;
using ::reward_t;
} // namespace ale
