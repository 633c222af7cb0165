/* The simulator's loop in C: what the compiled Python kernels are measured against; nscmdp/simulate.py.
 *
 * It reads the tables that nscmdp.simulate.play reads (any number of states, actions, successors, layers and anchors)
 * and plays the same episodes with the same random numbers, so it must earn the same in every episode; the arithmetic
 * is therefore kept in the order of the kernels and multiplications are not fused with additions. What a learner keeps
 * is laid out as suits C. Each learner is a file of its own: a struct and the operations on it.
 */
#ifndef LOOP_H
#define LOOP_H

#include "model.h"

typedef struct {
    double threshold, reward, utility, alias_reward, alias_utility;
    uint32_t state, alias_state;
} outcome;

typedef struct {
    model model; /* room for the model of any episode */
    drift drift;
    const outcome *outcomes;       /* (anchors, layers, S, A, M) */
    const double *start_threshold; /* (S) */
    const int64_t *start_alias;    /* (S) */
    const double *environment_draws;            /* (n, 1 + 2H) */
    const double *learner_draws;           /* (n, 1 + H) */
    const int64_t *asked;          /* (evaluations): episodes whose policies are evaluated ... */
    double *values;                /* (evaluations, 2): ... and what they are exact_values */
    double *reward, *utility;      /* (windows): what the episodes earn is added here */
    double *chances;               /* (A): room */
    double *scratch;               /* (2, S, 2): room */
    int64_t first, n, evaluations, episodes, windows;
} game;

typedef struct {
    int64_t action;
    double v, w;
} choice;

typedef struct {
    void (*begin_episode)(void *, double);
    choice (*act)(void *, int64_t, int64_t, double);
    void (*learn)(void *, int64_t, int64_t, int64_t, double, double, int64_t, double, double);
    void (*end_of_episode)(void *);
    int64_t (*policy)(void *, int64_t, int64_t, double *); /* the action that is certain, or -1 and chances */
} operations;

/* V and W of the policy that the learner plays in this episode, by backward induction. */
INLINE exact_values value_of(const game *g, void *learner, const operations op)
{
    const model *m = &g->model;
    const int64_t S = m->S, A = m->A;
    double *restrict chances = g->chances;
    memset(g->scratch + m->H % 2 * 2 * S, 0, sizeof(double) * 2 * S);
    for (int64_t h = m->H - 1; h >= 0; h--) {
        const double *restrict later = g->scratch + (h + 1) % 2 * 2 * S;
        double *restrict now = g->scratch + h % 2 * 2 * S;
        for (int64_t i = m->steps[h]; i < m->steps[h + 1]; i++) {
            const int64_t x = m->states[i];
            exact_values sum = {0.0, 0.0};
            const int64_t sure = op.policy(learner, h, x, chances);
            if (sure >= 0)
                sum = look_ahead(m, first_row(m, h) + x * A + sure, later);
            else
                for (int64_t a = 0; a < A; a++)
                    if (chances[a] > 0.0) {
                        const exact_values ahead = look_ahead(m, first_row(m, h) + x * A + a, later);
                        sum.v += chances[a] * ahead.v;
                        sum.w += chances[a] * ahead.w;
                    }
            now[2 * x] = sum.v, now[2 * x + 1] = sum.w;
        }
    }
    return start_values(m, g->scratch);
}

/* Plays all episodes; the operations are constants wherever this is expanded. */
INLINE void play(game *restrict g, void *restrict learner, const operations op)
{
    const int64_t H = g->model.H, S = g->model.S, A = g->model.A, M = g->model.M;
    const int64_t layer_size = S * A * M, anchor_size = g->model.layers * layer_size;
    const int64_t stride = g->model.layers == 1 ? 0 : layer_size;
    const double columns = (double)M;
    int64_t evaluated = 0;
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t k = g->first + i;
        const double *restrict environment_draws = g->environment_draws + i * (1 + 2 * H);
        const double *restrict learner_draws = g->learner_draws + i * (1 + H);
        op.begin_episode(learner, learner_draws[0]);
        if (evaluated < g->evaluations && g->asked[evaluated] == k) {
            mix(&g->drift, k, &g->model);
            const exact_values exact = value_of(g, learner, op);
            g->values[2 * evaluated] = exact.v, g->values[2 * evaluated + 1] = exact.w;
            evaluated++;
        }
        const leg now = find_leg(&g->drift, k);
        const outcome *start = g->outcomes + now.start * anchor_size, *end = g->outcomes + now.end * anchor_size;
        double place = environment_draws[0] * (double)S, earned = 0.0, useful = 0.0;
        int64_t x = (int64_t)place;
        if (place - (double)x >= g->start_threshold[x])
            x = g->start_alias[x];
        int64_t a = op.act(learner, 0, x, learner_draws[1]).action;
        for (int64_t h = 0; h < H; h++) {
            place = environment_draws[2 + 2 * h] * columns;
            const int64_t column = (int64_t)place;
            const outcome *o = (environment_draws[1 + 2 * h] < now.weight ? end : start) + h * stride + (x * A + a) * M + column;
            const bool own = place - (double)column < o->threshold;
            const double reward = own ? o->reward : o->alias_reward, utility = own ? o->utility : o->alias_utility;
            const int64_t y = own ? o->state : o->alias_state;
            earned += reward;
            useful += utility;
            if (h + 1 < H) {
                const choice next = op.act(learner, h + 1, y, learner_draws[2 + h]);
                op.learn(learner, h, x, a, reward, utility, y, next.v, next.w);
                x = y;
                a = next.action;
            } else {
                op.learn(learner, h, x, a, reward, utility, y, 0.0, 0.0);
            }
        }
        op.end_of_episode(learner);
        const int64_t window = (k - 1) * g->windows / g->episodes;
        g->reward[window] += earned;
        g->utility[window] += useful;
    }
}

#endif
