// Searches a text for patterns of several kinds.
#include <cstdio>
#include <cstring>
#include <string>
#include "re2/re2.h"

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  std::string text;
  unsigned s = 42;
  for (int i = 0; i < 3000; i++) {
    s = s * 1103515245u + 12345u;
    text += other ? "GET /a" + std::to_string(s % 977) + ".html?k=" + std::to_string(s % 31) + " HTTP/1.1\n"
                  : "user" + std::to_string(s % 977) + "@host" + std::to_string(s % 13) + ".example.com 2026-" + std::to_string(s % 12 + 1) + "-11\n";
  }
  const char* mail[] = {"(\\w+)@(\\w+)\\.example", "(\\d+)-(\\d+)-(\\d+)", "user(\\d*7)@", "(?i)HOST1[0-2]"};
  const char* web[] = {"GET /(\\w+)\\.html", "k=(\\d+) ", "a(?:1|22|333)\\d*", "[?&]([a-z]+)=([0-9]+)\\s"};
  long found = 0;
  for (const char* pattern : other ? web : mail) {
    RE2 re(pattern);
    re2::StringPiece rest(text), all[4];
    for (size_t at = 0; re.Match(text, at, text.size(), RE2::UNANCHORED, all, 2); found++) at = all[0].data() - text.data() + all[0].size();
    for (int i = 0; i < 60; i++) found += RE2::PartialMatch(re2::StringPiece(text.data() + i * 97, 400), re);
  }
  printf("%ld\n", found);
}
