/* The oracle, which plays the optimum of every episode: nscmdp/algorithms/oracle.py. */
#include "loop.h"

typedef struct {
    model model;
    drift drift;
    mixture mixture;
    double *rising;    /* (H,S) */
    double *occupancy; /* (2,2,S) */
    double rho;
    int64_t episode, warm;
} oracle;

static void begin(void *learner, double u)
{
    (void)u;
    oracle *l = learner;
    mix(&l->drift, ++l->episode, &l->model);
    const solution best = solve(&l->model, l->rho, &l->mixture, l->warm);
    l->warm = best.multiplier > 0.0;
    share_by_state(&l->model, &l->mixture, best.share, l->occupancy, l->rising);
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    const oracle *l = learner;
    const int64_t i = h * l->model.S + x;
    return (choice){(u < l->rising[i] ? l->mixture.rising : l->mixture.falling)[i], 0.0, 0.0};
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
    const oracle *l = learner;
    const int64_t i = h * l->model.S + x;
    return mixed_policy(&l->mixture, i, l->rising[i], l->model.A, chances);
}

void play_oracle(game *g, oracle *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
