/* Exp3 over candidate budgets, Triple-Q inside: nscmdp/algorithms/_bandit_over_bandit.py and _exp3.py. */
#include "triple_q.h"

typedef struct {
    triple_q inner;
    double *log_weights, *probabilities; /* (arms) */
    double gamma, on_utility, reward, utility, rho;
    int64_t arms, arm, episode, block, episodes;
} double_restart;

/* Draws the arm of the next block. */
static void choose(double_restart *l, double u)
{
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
}

INLINE void begin(void *learner, double u)
{
    double_restart *l = learner;
    if (l->episode % l->block)
        return;
    choose(l, u);
    l->reward = l->utility = 0.0;
    triple_q_restart(&l->inner, l->arm);
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    return triple_q_act(&((double_restart *)learner)->inner, h, x, u);
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    double_restart *l = learner;
    l->reward += r;
    l->utility += g;
    triple_q_learn(&l->inner, h, x, a, r, g, y, v, w);
}

INLINE void end(void *learner)
{
    double_restart *l = learner;
    triple_q_end(&l->inner);
    l->episode++;
    if (l->episode % l->block && l->episode != l->episodes)
        return;
    const int64_t before = (l->episode - 1) / l->block * l->block;
    const double length = (double)(l->episode - before);
    double gain = l->on_utility * l->utility + (l->utility >= length * l->rho ? l->reward : 0.0);
    gain /= length * (double)l->inner.H * (1.0 + l->on_utility);
    l->log_weights[l->arm] += l->gamma * (gain / l->probabilities[l->arm]) / (double)l->arms;
}

INLINE void policy(void *learner, int64_t h, int64_t x, double *chances)
{
    triple_q_policy(&((double_restart *)learner)->inner, h, x, chances);
}

void play_double_restart_triple_q(game *g, double_restart *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
