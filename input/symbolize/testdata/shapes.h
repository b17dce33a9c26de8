static inline int clamp(int v, int lo, int hi) { return v < lo ? lo : v > hi ? hi : v; }

struct shape {
  virtual ~shape();
  virtual int area() const = 0;
};
struct rectangle : shape {
  rectangle(int a, int b);
  int area() const override;
  int w, h;
};
int other(int n);
