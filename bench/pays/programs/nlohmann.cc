// Makes, prints, reads and patches documents of JSON, as text and in binary.
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include "nlohmann/json.hpp"

using nlohmann::json;

static unsigned state = 42;
static unsigned next() { return state = state * 1103515245u + 12345u, state >> 8; }

struct item {
  int id;
  double price;
  std::string name;
  std::vector<int> sizes;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(item, id, price, name, sizes)

static json make(bool other) {
  json list = json::array();
  for (int i = 0; i < 150; i++) {
    item one{i, next() % 10000 / 100.0, next() % 4 ? "plain text" : "a \"quoted\"\n\tname \xc3\xa9", {}};
    for (unsigned n = next() % 5; n > 0; n--) one.sizes.push_back(next() % 100);
    list.push_back(one);
    if (other) list.back()["shown"] = next() % 2 == 0;
  }
  return {{"items", list}, {"version", 3}, {"none", nullptr}};
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  double total = 0;
  for (int round = 0; round < (other ? 2 : 4); round++) {
    json made = make(other), read = json::parse(made.dump(round % 2 ? 2 : -1));
    if (read != made) return 1;
    for (const auto& one : read.at("items")) {
      item i = one.get<item>();
      total += i.price + i.name.size() + i.sizes.size();
    }
    json packed = json::from_cbor(json::to_cbor(made));
    packed["items"][3]["name"] = "another";
    total += json::diff(made, packed).size() + packed.flatten().size();
    total += json::from_msgpack(json::to_msgpack(packed)).at(json::json_pointer("/items/7/id")).get<int>();
  }
  printf("%.2f\n", total);
}
