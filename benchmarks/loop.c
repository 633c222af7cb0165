/* The simulator's loop in C: what the compiled Python kernels are measured against.
 *
 * It reads the tables that nscmdp.simulate.play reads (any number of states, actions, successors, layers and anchors),
 * plays the same episodes with the same random numbers and must earn the same to the last bit; the arithmetic is
 * therefore kept in the order of the kernels and multiplications are not fused with additions.
 */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline))

typedef struct {
    double threshold, reward, utility, alias_reward, alias_utility;
    uint32_t state, alias_state;
} outcome;

typedef struct {
    const outcome *outcomes;       /* (anchors, layers, S, A, M) */
    const double *start_threshold; /* (S) */
    const int64_t *start_alias;    /* (S) */
    const int64_t *knots, *route;  /* (stops) */
    const double *luck;            /* (n, 1 + 2H) */
    const double *whims;           /* (n, 1 + H) */
    double *reward, *utility;      /* (windows): what the episodes earn is added here */
    int64_t layers, S, A, M, H, stops, first, n, episodes, windows;
} game;

typedef struct {
    int64_t action;
    double v, w;
} choice;

typedef struct {
    int64_t start, end;
    double weight;
} leg;

INLINE leg find_leg(const game *g, int64_t k)
{
    if (g->stops == 1)
        return (leg){g->route[0], g->route[0], 0.0};
    int64_t here = 0;
    while (here < g->stops - 2 && g->knots[here + 1] <= k)
        here++;
    double weight = (double)(k - g->knots[here]) / (double)(g->knots[here + 1] - g->knots[here]);
    return (leg){g->route[here], g->route[here + 1], fmin(fmax(weight, 0.0), 1.0)};
}

/* Plays all episodes; the three operations are constants wherever this is expanded. */
INLINE void play(const game *restrict g, void *restrict learner, choice (*act)(void *, int64_t, int64_t, double),
                 void (*learn)(void *, int64_t, int64_t, int64_t, double, double, double, double),
                 void (*end_of_episode)(void *))
{
    const int64_t H = g->H, S = g->S, A = g->A, M = g->M;
    const int64_t layer_size = S * A * M, anchor_size = g->layers * layer_size;
    const int64_t stride = g->layers == 1 ? 0 : layer_size;
    const double columns = (double)M;
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t k = g->first + i;
        const double *restrict luck = g->luck + i * (1 + 2 * H), *restrict whims = g->whims + i * (1 + H);
        const leg now = find_leg(g, k);
        const outcome *start = g->outcomes + now.start * anchor_size, *end = g->outcomes + now.end * anchor_size;
        double place = luck[0] * (double)S, earned = 0.0, useful = 0.0;
        int64_t x = (int64_t)place;
        if (place - (double)x >= g->start_threshold[x])
            x = g->start_alias[x];
        int64_t a = act(learner, 0, x, whims[1]).action;
        for (int64_t h = 0; h < H; h++) {
            place = luck[2 + 2 * h] * columns;
            const int64_t column = (int64_t)place;
            const outcome *o = (luck[1 + 2 * h] < now.weight ? end : start) + h * stride + (x * A + a) * M + column;
            const bool own = place - (double)column < o->threshold;
            const double reward = own ? o->reward : o->alias_reward, utility = own ? o->utility : o->alias_utility;
            const int64_t y = own ? o->state : o->alias_state;
            earned += reward;
            useful += utility;
            if (h + 1 < H) {
                const choice next = act(learner, h + 1, y, whims[2 + h]);
                learn(learner, h, x, a, reward, utility, next.v, next.w);
                x = y;
                a = next.action;
            } else {
                learn(learner, h, x, a, reward, utility, 0.0, 0.0);
            }
        }
        end_of_episode(learner);
        const int64_t window = (k - 1) * g->windows / g->episodes;
        g->reward[window] += earned;
        g->utility[window] += useful;
    }
}

/* Triple-Q and non-stationary Triple-Q: nscmdp/algorithms/_triple_q.py */

enum { FULL, BUMP, COUNTS };
enum { Z, CBAR, EXPLORE, EPISODE };

typedef struct {
    double *table;                          /* (H, S, 3, A): Q, C, N */
    const double *initial;                  /* (H, 2) */
    const double *rate, *bonus_q, *bonus_c; /* (L + 2) */
    double *memory;                         /* Z, Cbar, exploration, episodes, ... */
    double eta, target, offset, bump, cap_q, cap_c, decay, floor;
    int64_t H, S, A, frame, decay_every, rule;
    bool keep_c, before;
    double weight; /* Z / eta, which changes only at a frame's end */
} triple_q;

INLINE choice triple_q_act(void *learner, int64_t h, int64_t x, double u)
{
    const triple_q *l = learner;
    const int64_t A = l->A;
    const double *restrict q = l->table + (h * l->S + x) * 3 * A, *restrict c = q + A;
    const double weight = l->weight, explore = l->memory[EXPLORE];
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

INLINE void triple_q_learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, double v, double w)
{
    const triple_q *l = learner;
    const int64_t A = l->A;
    double *restrict q = l->table + (h * l->S + x) * 3 * A + a, *restrict c = q + A, *restrict n = c + A;
    const int64_t t = (int64_t)(*n += 1.0);
    const double alpha = l->rate[t], old = *c;
    *q = (1.0 - alpha) * *q + alpha * (r + v + (l->bonus_q[t] + l->offset));
    *c = (1.0 - alpha) * old + alpha * (g + w + (l->bonus_c[t] + l->offset));
    if (h == 0)
        l->memory[CBAR] += l->before ? old : *c;
}

static void triple_q_new_frame(triple_q *l)
{
    const int64_t A = l->A;
    l->memory[Z] = fmax(0.0, l->memory[Z] + l->target - l->memory[CBAR] / (double)l->frame);
    l->memory[CBAR] = 0.0;
    l->weight = l->memory[Z] / l->eta;
    for (int64_t h = 0; h < l->H; h++) {
        const double q0 = l->initial[2 * h], c0 = l->initial[2 * h + 1];
        for (int64_t x = 0; x < l->S; x++) {
            double *restrict q = l->table + (h * l->S + x) * 3 * A, *restrict c = q + A, *restrict n = c + A;
            for (int64_t a = 0; a < A; a++)
                n[a] = 0.0;
            if (l->rule == FULL) {
                for (int64_t a = 0; a < A; a++)
                    q[a] = q0, c[a] = c0;
            } else if (l->rule == BUMP) {
                for (int64_t a = 0; a < A; a++) {
                    q[a] += l->bump;
                    if (q[a] >= l->cap_q * q0 || c[a] >= l->cap_c * c0) {
                        q[a] = q0;
                        if (!l->keep_c)
                            c[a] = c0;
                    }
                }
            }
        }
    }
}

INLINE void triple_q_end(void *learner)
{
    triple_q *l = learner;
    double *memory = l->memory;
    const int64_t k = (int64_t)(memory[EPISODE] += 1.0);
    if (k % l->decay_every == 0)
        memory[EXPLORE] = fmax(memory[EXPLORE] * l->decay, l->floor);
    if (k % l->frame == 0)
        triple_q_new_frame(l);
}

void play_triple_q(const game *g, triple_q *learner)
{
    learner->weight = learner->memory[Z] / learner->eta;
    play(g, learner, triple_q_act, triple_q_learn, triple_q_end);
}

/* RestartQ-UCB: nscmdp/algorithms/restart_q_ucb.py */

typedef struct {
    double *table;                     /* (H, S, 4, A): Q, N, STAGE_N, STAGE_SUM */
    const double *initial;             /* (H) */
    const bool *stage_ends;            /* (epoch + 1) */
    const double *bonus;               /* (epoch + 1) */
    const double *drift;               /* (epochs) */
    int64_t *clock;
    int64_t H, S, A, epoch;
} restart_q;

INLINE choice restart_q_act(void *learner, int64_t h, int64_t x, double u)
{
    const restart_q *l = learner;
    const int64_t A = l->A;
    const double *restrict q = l->table + (h * l->S + x) * 4 * A;
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

INLINE void restart_q_learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, double v, double w)
{
    (void)g, (void)w;
    const restart_q *l = learner;
    const int64_t A = l->A;
    double *restrict q = l->table + (h * l->S + x) * 4 * A + a;
    double *restrict n = q + A, *restrict stage_n = n + A, *restrict stage_sum = stage_n + A;
    *n += 1.0;
    *stage_n += 1.0;
    *stage_sum += r + v;
    if (l->stage_ends[(int64_t)*n]) {
        const double drift = l->drift[*l->clock / l->epoch];
        const double estimate = *stage_sum / *stage_n + l->bonus[(int64_t)*stage_n] + drift;
        *q = estimate < *q ? estimate : *q;
        *stage_n = 0.0;
        *stage_sum = 0.0;
    }
}

INLINE void restart_q_end(void *learner)
{
    restart_q *l = learner;
    const int64_t A = l->A;
    if (++*l->clock % l->epoch)
        return;
    for (int64_t h = 0; h < l->H; h++)
        for (int64_t x = 0; x < l->S; x++) {
            double *restrict row = l->table + (h * l->S + x) * 4 * A;
            for (int64_t a = 0; a < A; a++)
                row[a] = l->initial[h];
            for (int64_t i = A; i < 4 * A; i++)
                row[i] = 0.0;
        }
}

void play_restart_q(const game *g, restart_q *learner)
{
    play(g, learner, restart_q_act, restart_q_learn, restart_q_end);
}
