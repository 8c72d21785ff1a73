#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <immintrin.h>
static double now(){struct timespec t;clock_gettime(CLOCK_MONOTONIC,&t);return t.tv_sec*1e9+t.tv_nsec;}
#define K 200000
static uint8_t keys[256] __attribute__((aligned(16)));
static uint8_t out[64] __attribute__((aligned(16)));
#define CASE(name, ROUNDS) static void name(void){ for(int i=0;i<K;i++){ unsigned long long a,b; _rdrand64_step(&a); _rdrand64_step(&b); \
 __asm__ volatile("movq %0,%%xmm0; movq %1,%%xmm1; punpcklqdq %%xmm1,%%xmm0; movdqa %%xmm0,%%xmm1; .rept " #ROUNDS "; aesenc 16(%2),%%xmm0; .endr; pxor %%xmm1,%%xmm0; movdqu %%xmm0,(%3)"::"r"(a),"r"(b),"r"(keys),"r"(out):"xmm0","xmm1","memory");}}
CASE(r0,0) CASE(r5,5) CASE(r8,8) CASE(r10,10) CASE(r14,14) CASE(r28,28)
static void only(void){for(int i=0;i<K;i++){unsigned long long a,b; _rdrand64_step(&a); _rdrand64_step(&b); __asm__ volatile(""::"r"(a),"r"(b));}}
static void only1(void){for(int i=0;i<K;i++){unsigned long long a; _rdrand64_step(&a); __asm__ volatile(""::"r"(a));}}
// independent chain that does not depend on rdrand: 14 rounds
static void indep(void){for(int i=0;i<K;i++){unsigned long long a,b; _rdrand64_step(&a); _rdrand64_step(&b); __asm__ volatile("pxor %%xmm0,%%xmm0; .rept 14; aesenc 16(%2),%%xmm0; .endr; movdqu %%xmm0,(%3)"::"r"(a),"r"(b),"r"(keys),"r"(out):"xmm0","memory");}}
// half: first word starts its own chain between
static void half(void){for(int i=0;i<K;i++){unsigned long long a,b; _rdrand64_step(&a); 
 __asm__ volatile("movq %0,%%xmm0; movdqa %%xmm0,%%xmm1; .rept 14; aesenc 16(%1),%%xmm0; .endr"::"r"(a),"r"(keys):"xmm0","xmm1");
 _rdrand64_step(&b);
 __asm__ volatile("movq %0,%%xmm2; pxor %%xmm2,%%xmm0; movdqu %%xmm0,(%1)"::"r"(b),"r"(out):"xmm0","xmm2","memory");}}
static void seed(void){for(int i=0;i<K;i++){unsigned a,b,c,d; _rdrand32_step(&a);_rdrand32_step(&b); __asm__ volatile(""::"r"(a),"r"(b));}}
int main(){ struct{const char*n;void(*f)(void);}c[]={{"only1",only1},{"only",only},{"r0",r0},{"r5",r5},{"r8",r8},{"r10",r10},{"r14",r14},{"r28",r28},{"indep14",indep},{"half",half},{"rd32x2",seed}};
 double best[16]; for(int i=0;i<11;i++)best[i]=1e9;
 for(int r=0;r<40;r++)for(int i=0;i<11;i++){double t=now();c[i].f();t=(now()-t)/K;if(t<best[i])best[i]=t;}
 for(int i=0;i<11;i++)printf("%-8s %.1f ns\n",c[i].n,best[i]);}
