// Makes, prints and reads documents of XML.
#include <cstdio>
#include <cstring>
#include <string>
#include "tinyxml2.h"

using namespace tinyxml2;

static unsigned state = 42;
static unsigned next() { return state = state * 1103515245u + 12345u, state >> 8; }

static void fill(XMLDocument& doc, bool other) {
  XMLElement* root = doc.NewElement("shop");
  doc.InsertEndChild(root);
  for (int i = 0; i < 400; i++) {
    XMLElement* item = doc.NewElement("item");
    item->SetAttribute("id", i);
    item->SetAttribute("price", next() % 10000 / 100.0);
    if (other) item->SetAttribute("shown", next() % 2 == 0);
    item->InsertEndChild(doc.NewText(next() % 4 ? "plain text" : "a < b & \"c\""));
    if (next() % 8 == 0) item->InsertEndChild(doc.NewComment(" seldom "));
    root->InsertEndChild(item);
  }
}

static double sum(XMLNode* node) {
  double total = 0;
  for (XMLElement* e = node->FirstChildElement("item"); e; e = e->NextSiblingElement("item"))
    total += e->DoubleAttribute("price") + e->IntAttribute("id") + (e->GetText() ? strlen(e->GetText()) : 0);
  return total;
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  double total = 0;
  for (int round = 0; round < (other ? 5 : 8); round++) {
    XMLDocument made;
    fill(made, other);
    XMLPrinter printer(0, round % 2 == 1);
    made.Print(&printer);
    XMLDocument read;
    if (read.Parse(printer.CStr()) != XML_SUCCESS) return 1;
    total += sum(read.FirstChildElement("shop"));
  }
  printf("%.2f\n", total);
}
