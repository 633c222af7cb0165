/* Algorithm 1's queue over the exact model: nscmdp/algorithms/exact_model_primal_dual.py. */
#include "loop.h"

typedef struct {
    model model;
    drift drift;
    int32_t *choice; /* (H,S) */
    double *values;  /* (2,S,2) */
    double z, cbar, eta, target;
    int64_t episode, frame, forget;
} exact_model;

static void begin(void *learner, double u)
{
    (void)u;
    exact_model *l = learner;
    mix(&l->drift, ++l->episode, &l->model);
    greedy(&l->model, 1.0, l->z / l->eta, l->choice, l->values);
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    (void)u;
    const exact_model *l = learner;
    return (choice){l->choice[h * l->model.S + x], 0.0, 0.0};
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)a, (void)r, (void)g, (void)y, (void)v, (void)w;
    exact_model *l = learner;
    if (h == 0)
        l->cbar += l->values[2 * x + 1];
}

INLINE void end(void *learner)
{
    exact_model *l = learner;
    if (l->episode % l->frame)
        return;
    l->z = larger(0.0, (l->forget ? 0.0 : l->z) + l->target - l->cbar / (double)l->frame);
    l->cbar = 0.0;
}

INLINE int64_t policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const exact_model *l = learner;
    (void)chances;
    return l->choice[h * l->model.S + x];
}

void play_exact_model_primal_dual(game *g, exact_model *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
