#pragma once
#include <ctime>
#include <iomanip>
#include <iostream>
#include <mutex>
#include <sstream>
#include <string>
namespace plog {
enum Severity { none, fatal, error, warning, info, debug, verbose };
struct stub_s {
  template <class T> stub_s &operator<<(const T &) { return *this; }
};
struct IAppender {
  virtual ~IAppender() {}
};
struct Logger_s {
  Logger_s &addAppender(IAppender *) { return *this; }
};
template <class... A> Logger_s &init(A &&...) {
  static Logger_s l;
  return l;
}
template <class F, class... A> Logger_s &init(A &&...) {
  static Logger_s l;
  return l;
}
using util_nstring = std::string;
struct MinimalFormatter {};
struct VerboseFormatter {};
struct TxtFormatter {};
template <class F> struct ConsoleAppender : IAppender {};
template <class F> struct ColorConsoleAppender : IAppender {};
template <class F> struct RollingFileAppender : IAppender {
  template <class... A> RollingFileAppender(A &&...) {}
};
struct Record {
  int getTid() const;
  Severity getSeverity() const;
  const char *getMessage() const;
  const char *getFunc() const;
  size_t getLine() const;
  struct T {
    long time;
    unsigned short millitm;
  };
  const T &getTime() const;
};
namespace util {
typedef std::string nstring;
typedef std::ostringstream nostringstream;
typedef char nchar;
inline void localtime_s(struct tm *, const long *) {}
} // namespace util
inline const char *severityToString(Severity) { return ""; }
} // namespace plog
#define PLOG_NSTR(x) x
#define PLOG_INFO plog::stub_s()
#define PLOG_WARNING plog::stub_s()
#define PLOG_ERROR plog::stub_s()
#define PLOG_DEBUG plog::stub_s()
#define PLOG_FATAL plog::stub_s()
#define PLOG plog::stub_s()
#define LOG_COUT std::cout
