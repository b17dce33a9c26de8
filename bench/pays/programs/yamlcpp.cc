// Makes, prints and reads documents of YAML.
#include <cstdio>
#include <cstring>
#include <string>
#include "yaml-cpp/yaml.h"

static unsigned state = 42;
static unsigned next() { return state = state * 1103515245u + 12345u, state >> 8; }

static std::string make(bool other) {
  YAML::Emitter out;
  out << YAML::BeginSeq;
  for (int i = 0; i < 60; i++) {
    out << YAML::BeginMap << YAML::Key << "id" << YAML::Value << i;
    out << YAML::Key << "price" << YAML::Value << next() % 10000 / 100.0;
    out << YAML::Key << "name" << YAML::Value << (next() % 4 ? "plain text" : "a \"quoted\": # name");
    if (other) out << YAML::Key << "shown" << YAML::Value << (next() % 2 == 0);
    out << YAML::EndMap;
  }
  out << YAML::EndSeq;
  return out.c_str();
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  double total = 0;
  for (int round = 0; round < (other ? 2 : 3); round++) {
    YAML::Node read = YAML::Load(make(other));
    for (const auto& item : read) total += item["price"].as<double>() + item["name"].as<std::string>().size();
  }
  printf("%.2f\n", total);
}
