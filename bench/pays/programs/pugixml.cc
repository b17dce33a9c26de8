// Makes, prints, reads and asks documents of XML.
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include "pugixml.hpp"

static unsigned state = 42;
static unsigned next() { return state = state * 1103515245u + 12345u, state >> 8; }

static std::string make(bool other) {
  pugi::xml_document doc;
  pugi::xml_node list = doc.append_child("list");
  for (int i = 0; i < 200; i++) {
    pugi::xml_node item = list.append_child("item");
    item.append_attribute("id") = i;
    item.append_attribute("price") = next() % 10000 / 100.0;
    item.append_child("name").text() = next() % 4 ? "plain text" : "a <quoted> & \"name\"";
    if (other) item.append_child("shown").text() = next() % 2 == 0;
  }
  std::ostringstream out;
  doc.save(out);
  return out.str();
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  double total = 0;
  for (int round = 0; round < (other ? 4 : 6); round++) {
    std::string text = make(other);
    pugi::xml_document doc;
    if (!doc.load_string(text.c_str())) return 1;
    for (pugi::xml_node item : doc.child("list")) total += item.attribute("price").as_double() + strlen(item.child_value("name"));
    total += doc.select_nodes("/list/item[@id mod 7 = 3]/name").size();
  }
  printf("%.2f\n", total);
}
