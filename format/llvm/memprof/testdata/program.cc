#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#ifndef WITHOUT_LIBRARY // of C++, whose headers take a compiler longer than all the rest
#include <vector>
#include <string>
#include <map>
#endif
static char* __attribute__((noinline)) alloc(int n){ return new char[n]; }
static inline char* wrap(int n){ return (char*)malloc(n); }
struct Node{ Node*l,*r; int v; };
Node* mk(int d){ if(!d) return nullptr; Node*n=new Node; n->v=d; n->l=mk(d-1); n->r=mk(d-1); return n;}
int sum(Node*n){ if(!n) return 0; return n->v+sum(n->l)+sum(n->r);}
void fr(Node*n){ if(!n) return; fr(n->l); fr(n->r); delete n;}
char* deep(int k,int n){ if(k==0) return alloc(n); char*p=deep(k-1,n); asm volatile(""); return p;}
#ifdef WITHOUT_LIBRARY
namespace { int helper(int n){ int*v=new int[n]; for(int i=0;i<n;i++) v[i]=i; int m=v[n/2]; delete[] v; return m;} }
#else
namespace { int helper(int n){ std::vector<int> v; for(int i=0;i<n;i++) v.push_back(i); return v[n/2];} }
#endif
int main(int argc,char**argv){
  int s=0;
  for(int i=0;i<50;i++){ char*p=alloc(100+i); memset(p,i,100); s+=p[3]; delete[] p; }
  for(int i=0;i<10;i++){ char*p=wrap(1000); memset(p,i,1000); s+=p[argc]; free(p);}
  Node*t=mk(8); s+=sum(t); fr(t);
  char*c=deep(5,4000); if(argc>1) sleep(1); delete[] c;
  for(int i=1;i<20;i++) s+=helper(i*10);
#ifdef WITHOUT_LIBRARY
  printf("%d\n",s);
#else
  std::map<std::string,std::string> m; for(int i=0;i<100;i++) m[std::to_string(i)+"kkkkkkkkkkkkkkkkkkkkkkkkkkk"]="v";
  printf("%d %zu\n",s,m.size());
#endif
}
