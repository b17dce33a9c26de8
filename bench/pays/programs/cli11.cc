// Reads command lines.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include "CLI/CLI.hpp"

static unsigned state = 42;
static unsigned next() { return state = state * 1103515245u + 12345u, state >> 8; }

static double read(bool other) {
  CLI::App app{"reads command lines"};
  int number = 0;
  double ratio = 0;
  std::string name;
  std::vector<int> list;
  bool flag = false;
  app.add_option("-n,--number", number, "how many")->check(CLI::Range(0, 100000));
  app.add_option("-r,--ratio", ratio, "a share");
  app.add_option("--name", name, "what it is called");
  app.add_option("-l,--list", list, "several");
  app.add_flag("-f,--flag", flag, "whether");
  CLI::App* run = app.add_subcommand("run", "runs");
  std::string how;
  run->add_option("--how", how, "a way")->check(CLI::IsMember({"fast", "slow", "other"}));
  std::vector<std::string> args;  // the last one first
  if (other || next() % 2) args = {"fast", "--how", "run"};
  for (unsigned i = next() % 6; i > 0; i--) args.push_back(std::to_string(next() % 1000));
  if (!args.empty() && args.back() != "run") args.push_back("--list");
  args.insert(args.end(), {std::to_string(next() % 1000), "--number", "0.25", "-r", "--name=some words", "-f"});
  app.parse(args);
  for (int i : list) number += i;
  return number + ratio + name.size() + how.size() + flag + app.help().size();
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  double total = 0;
  for (int round = 0; round < (other ? 40 : 60); round++) total += read(other);
  printf("%.2f\n", total);
}
