/* Exp3 over the constants of an inner learner: nscmdp/algorithms/_bandit_over_bandit.py and _exp3.py. */
#ifndef BANDIT_H
#define BANDIT_H

#include "loop.h"

typedef struct {
    double *log_weights, *probabilities; /* (arms) */
    double gamma, weight, step, y;       /* weight: K^-lambda, or xi of the outer dual y */
    double reward, utility, rho;         /* of the block; what its utility should be, per episode */
    int64_t arms, arm, episode, block, episodes, horizon, dual;
} bandit;

/* At the beginning of a block, draws its arm. */
INLINE bool bandit_begin(bandit *l, double u)
{
    if (l->episode % l->block)
        return false;
    double *restrict p = l->probabilities, largest = l->log_weights[0], total = 0.0, below = 0.0;
    for (int64_t j = 1; j < l->arms; j++)
        largest = larger(largest, l->log_weights[j]);
    for (int64_t j = 0; j < l->arms; j++)
        total += p[j] = exp(l->log_weights[j] - largest);
    for (int64_t j = 0; j < l->arms; j++)
        p[j] = (1.0 - l->gamma) * p[j] / total + l->gamma / (double)l->arms;
    l->arm = 0;
    while (l->arm + 1 < l->arms && u >= below + p[l->arm])
        below += p[l->arm++];
    l->reward = l->utility = 0.0;
    return true;
}

/* At the end of a block, rewards its arm. */
INLINE void bandit_end(bandit *l)
{
    l->episode++;
    if (l->episode % l->block && l->episode != l->episodes)
        return;
    const double length = (double)(l->episode - (l->episode - 1) / l->block * l->block);
    double gain = l->weight * l->utility + (l->utility >= length * l->rho ? l->reward : 0.0);
    if (l->dual) {
        gain = l->reward + l->y * l->utility;
        l->y = smaller(larger(l->y + l->step * (l->rho - l->utility / length), 0.0), l->weight);
    }
    gain /= length * (double)l->horizon * (1.0 + l->weight);
    l->log_weights[l->arm] += l->gamma * (gain / l->probabilities[l->arm]) / (double)l->arms;
}

/* The function NAME, which plays a bandit over INNER: a struct with operations INNER_begin, INNER_act and so on. */
#define BANDIT_OVER(INNER, NAME)                                                                                       \
    typedef struct {                                                                                                   \
        INNER inner;                                                                                                   \
        bandit outer;                                                                                                  \
    } INNER##_in_bandit;                                                                                               \
    INLINE void INNER##_in_bandit_begin(void *learner, double u)                                                       \
    {                                                                                                                  \
        INNER##_in_bandit *l = learner;                                                                                \
        if (bandit_begin(&l->outer, u))                                                                                \
            INNER##_restart(&l->inner, l->outer.arm);                                                                  \
        INNER##_begin(&l->inner, u);                                                                                   \
    }                                                                                                                  \
    INLINE choice INNER##_in_bandit_act(void *learner, int64_t h, int64_t x, double u)                                 \
    {                                                                                                                  \
        return INNER##_act(&((INNER##_in_bandit *)learner)->inner, h, x, u);                                           \
    }                                                                                                                  \
    INLINE void INNER##_in_bandit_learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, \
                                        double v, double w)                                                            \
    {                                                                                                                  \
        INNER##_in_bandit *l = learner;                                                                                \
        l->outer.reward += r;                                                                                          \
        l->outer.utility += g;                                                                                         \
        INNER##_learn(&l->inner, h, x, a, r, g, y, v, w);                                                              \
    }                                                                                                                  \
    INLINE void INNER##_in_bandit_end(void *learner)                                                                   \
    {                                                                                                                  \
        INNER##_in_bandit *l = learner;                                                                                \
        INNER##_end(&l->inner);                                                                                        \
        bandit_end(&l->outer);                                                                                         \
    }                                                                                                                  \
    INLINE int64_t INNER##_in_bandit_policy(void *learner, int64_t h, int64_t x, double *restrict chances)             \
    {                                                                                                                  \
        return INNER##_policy(&((INNER##_in_bandit *)learner)->inner, h, x, chances);                                  \
    }                                                                                                                  \
    void NAME(game *g, INNER##_in_bandit *learner)                                                                     \
    {                                                                                                                  \
        const operations op = {INNER##_in_bandit_begin, INNER##_in_bandit_act, INNER##_in_bandit_learn,                \
                               INNER##_in_bandit_end, INNER##_in_bandit_policy};                                       \
        play(g, learner, op);                                                                                          \
    }

#endif
