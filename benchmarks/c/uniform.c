/* The uniform policy: nscmdp/algorithms/uniform.py. */
#include "loop.h"

typedef struct {
    int64_t A;
} uniform;

static void begin(void *learner, double u)
{
    (void)learner, (void)u;
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    (void)h, (void)x;
    return (choice){(int64_t)(u * (double)((uniform *)learner)->A), 0.0, 0.0};
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)learner, (void)h, (void)x, (void)a, (void)r, (void)g, (void)y, (void)v, (void)w;
}

static void end(void *learner)
{
    (void)learner;
}

INLINE int64_t policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    (void)h, (void)x;
    const int64_t A = ((uniform *)learner)->A;
    for (int64_t a = 0; a < A; a++)
        chances[a] = 1.0 / (double)A;
    return -1;
}

void play_uniform(game *g, uniform *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
