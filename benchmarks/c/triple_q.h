/* Triple-Q and non-stationary Triple-Q: nscmdp/algorithms/_triple_q.py.
 *
 * One row of memory for each (h,x): the frame it was last visited in, then Q, C and the visits N. A frame's end only
 * counts the frame; its rule is applied to a row of an older one when that is next visited, once for every frame since.
 */
#ifndef TRIPLE_Q_H
#define TRIPLE_Q_H

#include "loop.h"

enum { FULL, BUMP, COUNTS };

typedef struct {
    double *table;                          /* (H, S, 1 + 3A) */
    const double *initial;                  /* (H, 2) */
    const double *rate, *bonus_q, *bonus_c; /* (L + 2) */
    const double *arms;                     /* (n, 4): L, eta, rho + eps and 2 H b~ */
    double z, cbar, explore, decayed, stamp, weight; /* weight: Z / eta */
    double frame, eta, target, offset;      /* of the arm in use */
    double bump, cap_q, cap_c, decay, floor;
    int64_t H, S, A, episode, decay_every, rule, keep_c, forget, carry, before;
} triple_q;

INLINE double *triple_q_row(const triple_q *l, int64_t h, int64_t x)
{
    return l->table + (h * l->S + x) * (1 + 3 * l->A);
}

static inline void triple_q_apply_pending_resets(const triple_q *l, int64_t h, double *restrict row)
{
    const int64_t A = l->A, missed = (int64_t)(l->stamp - row[0]);
    const double q0 = l->initial[2 * h], c0 = l->initial[2 * h + 1];
    double *restrict q = row + 1, *restrict c = q + A, *restrict n = c + A;
    row[0] = l->stamp;
    for (int64_t a = 0; a < A; a++) {
        n[a] = 0.0;
        if (l->rule == FULL)
            q[a] = q0, c[a] = c0;
        for (int64_t frame = 0; l->rule == BUMP && frame < missed; frame++) {
            q[a] += l->bump;
            if (q[a] >= l->cap_q * q0 || c[a] >= l->cap_c * c0) {
                q[a] = q0;
                if (!l->keep_c)
                    c[a] = c0;
            }
        }
    }
}

INLINE double *triple_q_fresh_row(const triple_q *l, int64_t h, int64_t x)
{
    double *restrict row = triple_q_row(l, h, x);
    if (row[0] != l->stamp)
        triple_q_apply_pending_resets(l, h, row);
    return row + 1;
}

INLINE choice triple_q_act(void *learner, int64_t h, int64_t x, double u)
{
    const triple_q *l = learner;
    const int64_t A = l->A;
    const double *restrict q = triple_q_fresh_row(l, h, x), *restrict c = q + A;
    const double weight = l->weight, explore = l->explore;
    double best = -INFINITY, v = 0.0, w = 0.0;
    int64_t ties = 0, action = 0;
    for (int64_t a = 0; a < A; a++) {
        const double f = q[a] + weight * c[a];
        if (f > best) {
            best = f, ties = 1, action = a, v = q[a], w = c[a];
        } else if (f == best) {
            ties++, v += q[a], w += c[a];
        }
    }
    if (ties > 1) {
        v /= (double)ties, w /= (double)ties;
        int64_t nth = u >= explore ? (int64_t)((u - explore) / (1.0 - explore) * (double)ties) : 0;
        for (int64_t a = 0; a < A; a++)
            if (q[a] + weight * c[a] == best && nth-- == 0)
                action = a;
    }
    if (u < explore)
        action = (int64_t)(u / explore * (double)A);
    return (choice){action, v, w};
}

INLINE void triple_q_learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v,
                           double w)
{
    (void)y;
    triple_q *l = learner;
    const int64_t A = l->A;
    double *restrict q = triple_q_row(l, h, x) + 1 + a, *restrict c = q + A, *restrict n = c + A;
    const int64_t t = (int64_t)(*n += 1.0);
    const double alpha = l->rate[t], old = *c;
    *q = (1.0 - alpha) * *q + alpha * (r + v + (l->bonus_q[t] + l->offset));
    *c = (1.0 - alpha) * old + alpha * (g + w + (l->bonus_c[t] + l->offset));
    if (h == 0)
        l->cbar += l->before ? old : *c;
}

INLINE void triple_q_end(void *learner)
{
    triple_q *l = learner;
    l->episode++;
    if ((l->episode - 1) % l->decay_every == 0) {
        l->decayed *= l->decay;
        l->explore = 1.0 - (1.0 - l->floor) * (1.0 - l->decayed);
    }
    if (l->episode % (int64_t)l->frame)
        return;
    l->z = larger(0.0, (l->forget ? 0.0 : l->z) + l->target - l->cbar / l->frame);
    l->cbar = 0.0;
    l->weight = l->z / l->eta;
    l->stamp += 1.0;
}

INLINE int64_t triple_q_policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const triple_q *l = learner;
    const int64_t A = l->A;
    const double *restrict q = triple_q_fresh_row(l, h, x), *restrict c = q + A;
    double best = -INFINITY;
    int64_t ties = 0, action = 0;
    for (int64_t a = 0; a < A; a++) {
        const double f = q[a] + l->weight * c[a];
        ties = f > best ? 1 : ties + (f == best);
        action = f > best ? a : action;
        best = f > best ? f : best;
    }
    if (ties == 1 && l->explore == 0.0)
        return action;
    for (int64_t a = 0; a < A; a++) {
        const bool tied = q[a] + l->weight * c[a] == best;
        chances[a] = l->explore / (double)A + (tied ? (1.0 - l->explore) / (double)ties : 0.0);
    }
    return -1;
}

INLINE void triple_q_begin(void *learner, double u)
{
    (void)learner, (void)u;
}

/* Forgets everything and goes on with the constants of an arm. */
static inline void triple_q_restart(triple_q *l, int64_t arm)
{
    const double *constants = l->arms + 4 * arm;
    l->frame = constants[0], l->eta = constants[1], l->target = constants[2], l->offset = constants[3];
    if (!l->carry)
        l->z = 0.0;
    l->weight = l->z / l->eta;
    l->cbar = 0.0;
    l->episode = 0;
    l->stamp += 1.0;
}

#endif
