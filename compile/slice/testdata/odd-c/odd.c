/* Functions whose names are hard to find in the text. */

int sink;

#define WORK(x) do { for (int i = 0; i < (x) % 100 + 3; i++) { if ((x) & i) sink += i * 3; else sink ^= (x) + i; } } while (0)

static int digraphs(int x) <% WORK(x); return x * 2; %>

int after_digraphs(int x)
<%
  int a<:3:> = <% 1, 2, 3 %>;
  WORK(x);
  return digraphs(a<:x % 3:>);
%>

int (__attribute__((noinline)) attribute_first)(int x) { WORK(x); return x; }

int ((two_parentheses))(int x) { WORK(x); return x; }

int (*returns_array(int x))[3]
{
  static int a[3];
  WORK(x);
  return &a;
}

int (*(*returns_returning(int x, int (*g)(int)))(int))(int) { WORK(x); sink += g(x); return 0; }

int old_style(x, f) int x; int (*f)(int); { WORK(x); return f(x); }
int old_const(x, s) const int x; const char *s; { WORK(x); return s[0]; }

int in_a_statement(int x)
{
  return x + ({ int nested(y) int y; { WORK(y); return y + x; } nested(sink); });
}

int labelled(int x) __asm__("joined" "_label");
int labelled(int x) { WORK(x); return x; }

int escaped_label(int x) __asm__("\x65sc\141ped_" R"x(in_two_ways)x");
int escaped_label(int x) { WORK(x); if (x & 1) WORK(x + 3); else { WORK(x - 7); WORK(sink); } return x; }

int \u00e9scaped(int x) { WORK(x); return x; }

int main(int argc, char **argv)
{
  int (*(*f)(int))(int) = returns_returning(argc, labelled);
  return after_digraphs(argc) + attribute_first(argc) + two_parentheses(argc) + (*returns_array(argc))[1] +
    old_style(argc, labelled) + old_const(argc, "text") + in_a_statement(argc) + \u00e9scaped(argc) + (f ? f(3)(4) : 0) + escaped_label(argc) + !argv;
}
