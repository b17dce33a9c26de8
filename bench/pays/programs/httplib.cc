// Serves requests of HTTP to itself: forms, parameters, files in parts, chunks, ranges.
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include "httplib.h"

static unsigned state = 42;
static unsigned next() { return state = state * 1103515245u + 12345u, state >> 8; }

static void serve(httplib::Server& server) {
  server.Get("/hello", [](const httplib::Request& req, httplib::Response& res) {
    res.set_content("hello " + req.get_param_value("name"), "text/plain");
  });
  server.Get(R"(/item/(\d+))", [](const httplib::Request& req, httplib::Response& res) {
    std::string body;
    for (int i = std::stoi(req.matches[1]); i > 0; i--) body += "row " + std::to_string(i) + "\r\n";
    res.set_content(body, "text/csv");
  });
  server.Post("/form", [](const httplib::Request& req, httplib::Response& res) {
    res.set_header("X-Params", std::to_string(req.params.size()));
    res.set_content(req.get_param_value("b"), "text/plain");
  });
  server.Get("/chunks", [](const httplib::Request&, httplib::Response& res) {
    res.set_chunked_content_provider("text/plain", [](size_t offset, httplib::DataSink& sink) {
      sink.write("0123456789", 10);
      if (offset > 500) sink.done();
      return true;
    });
  });
  server.Post("/echo", [](const httplib::Request& req, httplib::Response& res) { res.set_content(req.body, "text/plain"); });
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  httplib::Server server;
  server.new_task_queue = [] { return new httplib::ThreadPool(1); };
  server.set_keep_alive_max_count(10000);
  server.set_tcp_nodelay(true);
  serve(server);
  int port = server.bind_to_any_port("127.0.0.1");
  std::thread listener([&] { server.listen_after_bind(); });
  size_t total = 0;
  {
    httplib::Client client("127.0.0.1", port);
    client.set_keep_alive(true);
    client.set_tcp_nodelay(true);
    for (int round = 0; round < (other ? 20 : 40); round++) {
      total += client.Get(("/hello?name=a%20b&n=" + std::to_string(next() % 100)).c_str())->body.size();
      total += client.Get(("/item/" + std::to_string(next() % 60)).c_str())->body.size();
      total += client.Post("/form", httplib::Params{{"a", "1"}, {"b", "two words & more"}, {"c", std::to_string(round)}})->body.size();
      total += client.Get("/chunks")->body.size();
      total += client.Post("/echo", std::string(next() % 3000, 'x'), "application/octet-stream")->body.size();
      total += client.Get("/item/50", {httplib::make_range_header({{10, 49}})})->body.size();
      total += client.Get("/nothing")->status;
    }
  }
  server.stop();
  listener.join();
  printf("%zu\n", total);
}
