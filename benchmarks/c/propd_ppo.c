/* PROPD-PPO: nscmdp/algorithms/propd_ppo.py.
 *
 * Tables have one row for each state met at step h, and row 0 for all others, whose policy and values are alike.
 */
#include "loop.h"

typedef struct {
    double reward, utility; /* sums in the window */
    double n, bonus;        /* visits, and 1; 2 beta / sqrt(n) */
    int64_t known;          /* how many different successors were seen */
    double q_r, q_g, preference, chance;
} entry;

typedef struct {
    double visits;
    int64_t row;
} successor;

typedef struct {
    uint32_t *rows;        /* (H+1, S): the row of x at step h */
    int64_t *used;         /* (H+1): how many rows there are */
    entry *entries;        /* (H, R, A) */
    successor *successors; /* (H, R, A, M) */
    exact_values *values;  /* (H+1, R) */
    double y, alpha, beta, eta, shrink, most, rho;
    int64_t H, S, A, M, R, episode, start, window, restart;
} propd;

INLINE entry *entries_of(const propd *l, int64_t h, int64_t row)
{
    return l->entries + (h * l->R + row) * l->A;
}

INLINE void improve(const propd *l, entry *restrict e)
{
    double largest = -INFINITY, total = 0.0;
    for (int64_t a = 0; a < l->A; a++) {
        e[a].preference += l->alpha * (e[a].q_r + l->y * e[a].q_g);
        largest = larger(largest, e[a].preference);
    }
    for (int64_t a = 0; a < l->A; a++)
        total += e[a].chance = e[a].preference < largest ? exp(e[a].preference - largest) : 1.0;
    for (int64_t a = 0; a < l->A; a++)
        e[a].chance /= total;
}

static void begin(void *learner, double u)
{
    (void)u;
    propd *l = learner;
    const bool forget = l->episode % l->window == 0, restart = l->episode % l->restart == 0;
    for (int64_t h = 0; h < l->H; h++)
        for (int64_t row = 0; row < l->used[h]; row++) {
            entry *restrict e = entries_of(l, h, row);
            for (int64_t a = 0; a < l->A; a++) {
                if (forget)
                    e[a].reward = e[a].utility = 0.0, e[a].known = 0, e[a].n = 1.0, e[a].bonus = 2.0 * l->beta;
                if (restart)
                    e[a].preference = 0.0, e[a].chance = 1.0 / (double)l->A;
            }
            if (!restart)
                improve(l, e);
        }
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    propd *l = learner;
    if (h == 0)
        l->start = x;
    const entry *restrict e = entries_of(l, h, l->rows[h * l->S + x]);
    int64_t action = 0;
    double below = e[0].chance;
    while (action + 1 < l->A && u >= below)
        below += e[++action].chance;
    return (choice){action, 0.0, 0.0};
}

/* The row of a state that is met, which begins as a copy of row 0. */
INLINE int64_t row_of(propd *l, int64_t h, int64_t x)
{
    uint32_t *row = l->rows + h * l->S + x;
    if (*row == 0) {
        *row = (uint32_t)l->used[h]++;
        l->values[h * l->R + *row] = l->values[h * l->R];
        if (h < l->H)
            memcpy(entries_of(l, h, *row), entries_of(l, h, 0), sizeof(entry) * (size_t)l->A);
    }
    return *row;
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)v, (void)w;
    propd *l = learner;
    const int64_t row = row_of(l, h, x), later = row_of(l, h + 1, y);
    entry *restrict e = entries_of(l, h, row) + a;
    successor *restrict s = l->successors + ((h * l->R + row) * l->A + a) * l->M;
    e->reward += r;
    e->utility += g;
    e->n += 1.0;
    e->bonus = 2.0 * l->beta / sqrt(e->n);
    int64_t i = 0;
    while (i < e->known && s[i].row != later)
        i++;
    if (i == e->known) {
        s[i] = (successor){0.0, later};
        e->known++;
    }
    s[i].visits += 1.0;
}

static void end(void *learner)
{
    propd *l = learner;
    const double step = l->eta * (l->rho - l->values[l->rows[l->start]].w);
    l->y = smaller(larger(l->shrink * l->y + step, 0.0), l->most);
    l->episode++;
    for (int64_t h = l->H - 1; h >= 0; h--) {
        const exact_values *restrict later = l->values + (h + 1) * l->R;
        exact_values *restrict now = l->values + h * l->R;
        const double most = (double)(l->H - h);
        for (int64_t row = 0; row < l->used[h]; row++) {
            entry *restrict e = entries_of(l, h, row);
            exact_values sum = {0.0, 0.0};
            for (int64_t a = 0; a < l->A; a++) {
                const successor *restrict s = l->successors + ((h * l->R + row) * l->A + a) * l->M;
                double q_r = e[a].reward, q_g = e[a].utility;
                for (int64_t i = 0; i < e[a].known; i++) {
                    q_r += s[i].visits * later[s[i].row].v;
                    q_g += s[i].visits * later[s[i].row].w;
                }
                e[a].q_r = smaller(larger(q_r / e[a].n + e[a].bonus, 0.0), most);
                e[a].q_g = smaller(larger(q_g / e[a].n + e[a].bonus, 0.0), most);
                sum.v += e[a].chance * e[a].q_r;
                sum.w += e[a].chance * e[a].q_g;
            }
            now[row] = sum;
        }
    }
}

INLINE int64_t policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const propd *l = learner;
    const entry *restrict e = entries_of(l, h, l->rows[h * l->S + x]);
    for (int64_t a = 0; a < l->A; a++)
        chances[a] = e[a].chance;
    return -1;
}

void play_propd_ppo(game *g, propd *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
