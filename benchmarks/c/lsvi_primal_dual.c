/* Primal-dual LSVI where there are no features, by counts: CountingLSVI of nscmdp/algorithms/_lsvi.py. */
#include "loop.h"

typedef struct {
    double *visits;       /* (H, S, A) */
    double *sums;         /* (H, S, A, 2) */
    int64_t *reached;     /* (H, S, A): how many different successors were seen */
    uint32_t *successors; /* (H, S, A, M): which ones ... */
    double *counts;       /* (H, S, A, M): ... how often */
    double *q;            /* (A, 2): room */
    double *chances;      /* (H, S, A) */
    double *values;       /* (H+1, S, 2) */
    double y, drive, target, alpha, beta, eta, xi, ridge;
    int64_t H, S, A, M, episode, frame, realised;
} lsvi;

static void estimate(const lsvi *l, int64_t h, int64_t x)
{
    const int64_t A = l->A, first = (h * l->S + x) * A;
    const double *restrict later = l->values + 2 * (h + 1) * l->S, H = (double)l->H;
    double *restrict q = l->q, *restrict chances = l->chances + first, *restrict values = l->values + 2 * (h * l->S + x);
    double best = -INFINITY, total = 0.0;
    for (int64_t a = 0; a < A; a++) {
        const int64_t row = first + a;
        double q_r = l->sums[2 * row], q_g = l->sums[2 * row + 1];
        if (h + 1 < l->H)
            for (int64_t i = row * l->M; i < row * l->M + l->reached[row]; i++) {
                q_r += l->counts[i] * later[2 * (int64_t)l->successors[i]];
                q_g += l->counts[i] * later[2 * (int64_t)l->successors[i] + 1];
            }
        const double n = l->visits[row] + l->ridge, bonus = l->beta / sqrt(n);
        q[2 * a] = smaller(q_r / n + bonus, H);
        q[2 * a + 1] = smaller(q_g / n + bonus, H);
        chances[a] = q[2 * a] + l->y * q[2 * a + 1];
        best = larger(best, chances[a]);
    }
    for (int64_t a = 0; a < A; a++) {
        const double below = chances[a] - best;
        total += chances[a] = below < 0.0 ? exp(l->alpha * below) : 1.0;
    }
    values[0] = values[1] = 0.0;
    for (int64_t a = 0; a < A; a++) {
        chances[a] /= total;
        values[0] += chances[a] * q[2 * a];
        values[1] += chances[a] * q[2 * a + 1];
    }
}

static void begin(void *learner, double u)
{
    (void)u;
    lsvi *l = learner;
    if (l->frame ? l->episode % l->frame == 0 : l->episode == 0) {
        const size_t rows = (size_t)(l->H * l->S * l->A);
        memset(l->visits, 0, sizeof(double) * rows);
        memset(l->sums, 0, sizeof(double) * 2 * rows);
        memset(l->reached, 0, sizeof(int64_t) * rows);
    }
    for (int64_t h = l->H - 1; h >= 0; h--)
        for (int64_t x = 0; x < l->S; x++)
            estimate(l, h, x);
    l->drive = 0.0;
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    lsvi *l = learner;
    const double *restrict chances = l->chances + (h * l->S + x) * l->A, *restrict values = l->values + 2 * (h * l->S + x);
    if (h == 0 && !l->realised)
        l->drive = values[1];
    int64_t action = -1;
    for (int64_t a = 0; a < l->A && u >= 0.0; a++)
        if (chances[a] > 0.0) {
            action = a;
            u -= chances[a];
        }
    return (choice){action, values[0], values[1]};
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)v, (void)w;
    lsvi *l = learner;
    const int64_t row = (h * l->S + x) * l->A + a, known = l->reached[row];
    uint32_t *restrict successors = l->successors + row * l->M;
    double *restrict counts = l->counts + row * l->M;
    if (l->realised)
        l->drive += g;
    l->visits[row] += 1.0;
    l->sums[2 * row] += r;
    l->sums[2 * row + 1] += g;
    int64_t i = 0;
    while (i < known && successors[i] != y)
        i++;
    if (i == known) {
        successors[i] = (uint32_t)y;
        counts[i] = 0.0;
        l->reached[row]++;
    }
    counts[i] += 1.0;
}

INLINE void end(void *learner)
{
    lsvi *l = learner;
    l->y = smaller(larger(l->y + l->eta * (l->target - l->drive), 0.0), l->xi);
    l->episode++;
}

INLINE void policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const lsvi *l = learner;
    memcpy(chances, l->chances + (h * l->S + x) * l->A, sizeof(double) * (size_t)l->A);
}

void play_lsvi_primal_dual(game *g, lsvi *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
