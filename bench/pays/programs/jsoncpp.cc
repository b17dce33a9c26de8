// Makes, prints and reads documents of JSON, by the classes of JsonCpp.
#include <cstdio>
#include <cstring>
#include <memory>
#include <sstream>
#include <string>
#include "json/json.h"

static unsigned state = 42;
static unsigned next() { return state = state * 1103515245u + 12345u, state >> 8; }

static Json::Value make(bool other) {
  Json::Value list(Json::arrayValue);
  for (int i = 0; i < 200; i++) {
    Json::Value item;
    item["id"] = i;
    item["price"] = next() % 10000 / 100.0;
    item["name"] = next() % 4 ? "plain text" : "a \"quoted\"\n\tname \xc3\xa9";
    if (other) item["shown"] = next() % 2 == 0;
    item["tags"].append("one");
    item["tags"].append(i % 7);
    list.append(item);
  }
  return list;
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  double total = 0;
  for (int round = 0; round < (other ? 4 : 6); round++) {
    Json::StreamWriterBuilder writer;
    writer["indentation"] = round % 2 ? "  " : "";
    std::istringstream text(Json::writeString(writer, make(other)));
    Json::Value read;
    std::string errors;
    if (!Json::parseFromStream(Json::CharReaderBuilder(), text, &read, &errors)) return 1;
    for (const Json::Value& item : read) total += item["price"].asDouble() + item["name"].asString().size() + item["tags"].size();
  }
  printf("%.2f\n", total);
}
