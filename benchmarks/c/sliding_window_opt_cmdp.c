/* Sliding-window OptCMDP: nscmdp/algorithms/sliding_window_opt_cmdp.py. */
#include "loop.h"

typedef struct {
    model model; /* (H, S, A, S): the optimistic empirical model */
    mixture mixture;
    int32_t *states;   /* (w, H+1): the trajectories of the window, episode k in row k mod w */
    int32_t *actions;  /* (w, H) */
    double *paid;      /* (w, H, 2) */
    double *counts;    /* (H, S, A, 2): visits when it was last solved, and since */
    double *rising;    /* (H,S) */
    double *occupancy; /* (2,2,S) */
    double bonus, rho;
    int64_t window, episode, solved, due, refresh;
} opt_cmdp;

static void add_up(opt_cmdp *l)
{
    model *m = &l->model;
    const int64_t H = m->H, S = m->S, A = m->A;
    const size_t rows = (size_t)(H * S * A);
    memset(l->counts, 0, sizeof(double) * 2 * rows);
    memset(m->probability, 0, sizeof(double) * rows * (size_t)S);
    memset(m->reward, 0, sizeof(double) * rows);
    memset(m->utility, 0, sizeof(double) * rows);
    memset(m->mu0, 0, sizeof(double) * (size_t)S);
    const int64_t episodes = l->episode < l->window ? l->episode : l->window;
    for (int64_t i = 0; i < episodes; i++) {
        const int32_t *restrict states = l->states + i * (H + 1), *restrict actions = l->actions + i * H;
        const double *restrict paid = l->paid + i * H * 2;
        m->mu0[states[0]] += 1.0 / (double)episodes;
        for (int64_t h = 0; h < H; h++) {
            const int64_t row = (h * S + states[h]) * A + actions[h];
            l->counts[2 * row] += 1.0;
            m->probability[row * S + states[h + 1]] += 1.0;
            m->reward[row] += paid[2 * h];
            m->utility[row] += paid[2 * h + 1];
        }
    }
    for (int64_t x = 0; episodes == 0 && x < S; x++)
        m->mu0[x] = 1.0 / (double)S;
}

static void estimate(opt_cmdp *l)
{
    model *m = &l->model;
    const int64_t S = m->S;
    add_up(l);
    for (int64_t row = 0; row < m->H * S * m->A; row++) {
        const double n = l->counts[2 * row], bonus = l->bonus / sqrt(larger(n, 1.0));
        double *restrict probability = m->probability + row * S;
        for (int64_t y = 0; y < S; y++)
            probability[y] = n > 0.0 ? probability[y] / n : 1.0 / (double)S;
        m->reward[row] = (n > 0.0 ? m->reward[row] / n : 1.0) + bonus;
        m->utility[row] = (n > 0.0 ? m->utility[row] / n : 1.0) + bonus;
    }
}

static void begin(void *learner, double u)
{
    (void)u;
    opt_cmdp *l = learner;
    if (!l->due && l->episode - l->solved < l->refresh)
        return;
    l->solved = l->episode, l->due = 0;
    estimate(l);
    const solution best = solve(&l->model, l->rho, &l->mixture, false);
    if (!isnan(best.value)) {
        share_by_state(&l->model, &l->mixture, best.share, l->occupancy, l->rising);
        return;
    }
    for (int64_t i = 0; i < l->model.H * l->model.S; i++)
        l->rising[i] = 1.0;
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    const opt_cmdp *l = learner;
    const int64_t i = h * l->model.S + x;
    return (choice){(u < l->rising[i] ? l->mixture.rising : l->mixture.falling)[i], 0.0, 0.0};
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)v, (void)w;
    opt_cmdp *l = learner;
    const int64_t H = l->model.H, i = l->episode % l->window;
    int32_t *restrict states = l->states + i * (H + 1) + h;
    states[0] = (int32_t)x, states[1] = (int32_t)y;
    l->actions[i * H + h] = (int32_t)a;
    l->paid[2 * (i * H + h)] = r, l->paid[2 * (i * H + h) + 1] = g;
    double *restrict counts = l->counts + 2 * ((h * l->model.S + x) * l->model.A + a);
    counts[1] += 1.0;
    if (counts[1] >= larger(counts[0], 1.0))
        l->due = 1;
}

INLINE void end(void *learner)
{
    ((opt_cmdp *)learner)->episode++;
}

INLINE void policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const opt_cmdp *l = learner;
    const int64_t i = h * l->model.S + x;
    memset(chances, 0, sizeof(double) * (size_t)l->model.A);
    chances[l->mixture.rising[i]] += l->rising[i];
    chances[l->mixture.falling[i]] += 1.0 - l->rising[i];
}

void play_sliding_window_opt_cmdp(game *g, opt_cmdp *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
