/* RestartQ-UCB with the Hoeffding bonus: nscmdp/algorithms/restart_q_ucb.py.
 *
 * One row of memory for each (h,x): the epoch it was last written in, then Q, N, the visits of the stage and their sum.
 */
#include "loop.h"

typedef struct {
    double *table;         /* (H, S, 1 + 4A) */
    const double *initial; /* (H) */
    const bool *stage_ends;
    const double *bonus; /* (epoch + 1) */
    const double *drift; /* (epochs) */
    double on_reward, on_utility;
    int64_t H, S, A, epoch, episode, epochs;
} restart_q;

INLINE double *row_of(const restart_q *l, int64_t h, int64_t x)
{
    return l->table + (h * l->S + x) * (1 + 4 * l->A);
}

INLINE const double *fresh_q(const restart_q *l, int64_t h, int64_t x)
{
    double *restrict row = row_of(l, h, x);
    if (row[0] != (double)l->epochs) {
        row[0] = (double)l->epochs;
        for (int64_t a = 1; a <= l->A; a++)
            row[a] = l->initial[h];
        memset(row + 1 + l->A, 0, sizeof(double) * 3 * (size_t)l->A);
    }
    return row + 1;
}

static void begin(void *learner, double u)
{
    (void)learner, (void)u;
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    const restart_q *l = learner;
    const int64_t A = l->A;
    const double *restrict q = fresh_q(l, h, x);
    double best = -INFINITY;
    int64_t ties = 0, action = 0;
    for (int64_t a = 0; a < A; a++) {
        if (q[a] > best)
            best = q[a], ties = 1, action = a;
        else if (q[a] == best)
            ties++;
    }
    if (ties > 1) {
        int64_t nth = (int64_t)(u * (double)ties);
        for (int64_t a = 0; a < A; a++)
            if (q[a] == best && nth-- == 0)
                action = a;
    }
    return (choice){action, best, 0.0};
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)y, (void)w;
    const restart_q *l = learner;
    const int64_t A = l->A;
    double *restrict q = row_of(l, h, x) + 1 + a;
    double *restrict n = q + A, *restrict stage_n = n + A, *restrict stage_sum = stage_n + A;
    *n += 1.0;
    *stage_n += 1.0;
    *stage_sum += l->on_reward * r + l->on_utility * g + v;
    if (l->stage_ends[(int64_t)*n]) {
        const double drift = l->drift[l->episode / l->epoch];
        const double estimate = *stage_sum / *stage_n + l->bonus[(int64_t)*stage_n] + drift;
        *q = estimate < *q ? estimate : *q;
        *stage_n = *stage_sum = 0.0;
    }
}

INLINE void end(void *learner)
{
    restart_q *l = learner;
    l->episode++;
    if (l->episode % l->epoch == 0)
        l->epochs++;
}

INLINE int64_t policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const restart_q *l = learner;
    const double *restrict q = fresh_q(l, h, x);
    double best = -INFINITY;
    int64_t ties = 0, action = 0;
    for (int64_t a = 0; a < l->A; a++) {
        ties = q[a] > best ? 1 : ties + (q[a] == best);
        action = q[a] > best ? a : action;
        best = q[a] > best ? q[a] : best;
    }
    if (ties == 1)
        return action;
    for (int64_t a = 0; a < l->A; a++)
        chances[a] = q[a] == best ? 1.0 / (double)ties : 0.0;
    return -1;
}

void play_restart_q_ucb(game *g, restart_q *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
