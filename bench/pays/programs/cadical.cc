// Solves random formulas, pigeonhole formulas and colourings of graphs with CaDiCaL.
#include <cstdio>
#include <cstring>
#include <vector>
#include "cadical.hpp"

static unsigned state = 42;
static unsigned next(unsigned n) { return state = state * 1103515245u + 12345u, (state >> 8) % n; }

static void clause(CaDiCaL::Solver& solver, const std::vector<int>& literals) {
  for (int literal : literals) solver.add(literal);
  solver.add(0);
}

static int threes(int variables, double ratio) {
  CaDiCaL::Solver solver;
  for (int i = 0; i < variables * ratio; i++) {
    std::vector<int> literals;
    for (int j = 0; j < 3; j++) literals.push_back((int)(1 + next(variables)) * (next(2) ? 1 : -1));
    clause(solver, literals);
  }
  return solver.solve();
}

static int holes(int n) {
  CaDiCaL::Solver solver;
  auto at = [n](int pigeon, int hole) { return 1 + pigeon * n + hole; };
  for (int pigeon = 0; pigeon <= n; pigeon++) {
    std::vector<int> literals;
    for (int hole = 0; hole < n; hole++) literals.push_back(at(pigeon, hole));
    clause(solver, literals);
  }
  for (int hole = 0; hole < n; hole++)
    for (int p = 0; p <= n; p++)
      for (int q = p + 1; q <= n; q++) clause(solver, {-at(p, hole), -at(q, hole)});
  return solver.solve();
}

static int colours(int nodes, int edges, int colours) {
  CaDiCaL::Solver solver;
  auto at = [colours](int node, int colour) { return 1 + node * colours + colour; };
  for (int node = 0; node < nodes; node++) {
    std::vector<int> literals;
    for (int c = 0; c < colours; c++) literals.push_back(at(node, c));
    clause(solver, literals);
  }
  for (int i = 0; i < edges; i++) {
    int p = next(nodes), q = next(nodes);
    for (int c = 0; p != q && c < colours; c++) clause(solver, {-at(p, c), -at(q, c)});
  }
  return solver.solve();
}

int main(int argc, char** argv) {
  bool other = argc > 1 && !strcmp(argv[1], "other");
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += threes(other ? 130 : 150, 4.2 + i * 0.1);
  sum += holes(other ? 6 : 7);
  for (int i = 0; i < 2; i++) sum += colours(other ? 200 : 150, other ? 460 : 345, 3);
  printf("%d\n", sum);
}
