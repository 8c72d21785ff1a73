#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <immintrin.h>
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec*1e9+t.tv_nsec;}
#define K 100000
static uint8_t out[64] __attribute__((aligned(16)));
#define CASE(name, PRE, MID, POST) static void name(void){ for(int i=0;i<K;i++){ unsigned long long a,b; PRE; _rdrand64_step(&a); MID; _rdrand64_step(&b); POST; __asm__ volatile(""::"r"(a),"r"(b)); }}
#define N(n) __asm__ volatile(".rept " #n "; lea 1(%%rax),%%rcx; .endr":::"rcx")
#define CALLS __asm__ volatile("sub $128,%%rsp; push %%rax; push %%rbx; push %%rcx; push %%rdx; push %%rsi; pop %%rsi; pop %%rdx; pop %%rcx; pop %%rbx; pop %%rax; add $128,%%rsp":::"memory")
#define VZ __asm__ volatile("vzeroupper":::"xmm0")
#define RP do{ unsigned long long p; __asm__ volatile("rdpid %0":"=r"(p)::"memory"); }while(0)
#define LD __asm__ volatile("mov (%0),%%rcx; mov 8(%0),%%rdx; cmp %%rcx,%%rdx"::"r"(out):"rcx","rdx")
CASE(base,,,) CASE(n32,,,N(32)) CASE(n64,,,N(64)) CASE(n128,,,N(128)) CASE(n256,,,N(256)) CASE(m64,,N(64),) CASE(m128,,N(128),) CASE(pops,,,CALLS) CASE(vz,VZ,,) CASE(rp,,,RP) CASE(rpm,,RP,) CASE(n64_64,,N(64),N(64))
int main(){ struct{const char*n;void(*f)(void);}c[]={{"base",base},{"n32",n32},{"n64",n64},{"n128",n128},{"n256",n256},{"m64",m64},{"m128",m128},{"pops",pops},{"vz",vz},{"rp",rp},{"rpm",rpm},{"64/64",n64_64}};
 int n=sizeof c/sizeof*c; double best[32]; for(int i=0;i<n;i++)best[i]=1e9;
 for(int r=0;r<300;r++)for(int i=0;i<n;i++){double t=now();c[i].f();t=(now()-t)/K;if(t<best[i])best[i]=t;}
 for(int i=0;i<n;i++)printf("%s %.1f  ",c[i].n,best[i]);puts("");}
