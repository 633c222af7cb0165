/* PROPD-PPO: nscmdp/algorithms/propd_ppo.py. */
#include "loop.h"

typedef struct {
    double *visits;             /* (H, S, A, S): column i is of the i-th successor seen */
    int32_t *seen;              /* (H, S, A, S): that successor */
    int64_t *known;             /* (H, S, A): how many there are */
    double *paid;               /* (H, S, A, 2) */
    double *preference, *chance; /* (H, S, A) */
    double *q;                  /* (H, S, A, 2) */
    double *v;                  /* (H+1, S, 2) */
    double y, alpha, beta, eta, shrink, most, rho;
    int64_t H, S, A, episode, start, window, restart;
} propd;

static void improve(const propd *l, int64_t row)
{
    double *restrict logs = l->preference + row, *restrict chance = l->chance + row;
    double largest = -INFINITY, total = 0.0;
    for (int64_t a = 0; a < l->A; a++) {
        const double *q = l->q + 2 * (row + a);
        logs[a] += l->alpha * (q[0] + l->y * q[1]);
        largest = larger(largest, logs[a]);
    }
    for (int64_t a = 0; a < l->A; a++)
        total += chance[a] = exp(logs[a] - largest);
    for (int64_t a = 0; a < l->A; a++)
        chance[a] /= total;
}

static void begin(void *learner, double u)
{
    (void)u;
    propd *l = learner;
    const int64_t rows = l->H * l->S * l->A;
    if (l->episode % l->window == 0) {
        memset(l->known, 0, sizeof(int64_t) * (size_t)rows);
        memset(l->paid, 0, sizeof(double) * 2 * (size_t)rows);
    }
    if (l->episode % l->restart == 0) {
        for (int64_t i = 0; i < rows; i++)
            l->preference[i] = 0.0, l->chance[i] = 1.0 / (double)l->A;
        return;
    }
    for (int64_t row = 0; row < rows; row += l->A)
        improve(l, row);
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    propd *l = learner;
    if (h == 0)
        l->start = x;
    const double *restrict chance = l->chance + (h * l->S + x) * l->A;
    int64_t action = 0;
    double below = chance[0];
    while (action + 1 < l->A && u >= below)
        below += chance[++action];
    return (choice){action, 0.0, 0.0};
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)v, (void)w;
    propd *l = learner;
    const int64_t row = (h * l->S + x) * l->A + a, known = l->known[row];
    int32_t *restrict seen = l->seen + row * l->S;
    double *restrict visits = l->visits + row * l->S;
    l->paid[2 * row] += r;
    l->paid[2 * row + 1] += g;
    int64_t i = 0;
    while (i < known && seen[i] != y)
        i++;
    if (i == known) {
        seen[i] = (int32_t)y;
        visits[i] = 0.0;
        l->known[row]++;
    }
    visits[i] += 1.0;
}

static void end(void *learner)
{
    propd *l = learner;
    const int64_t S = l->S, A = l->A;
    const double step = l->eta * (l->rho - l->v[2 * l->start + 1]);
    l->y = smaller(larger(l->shrink * l->y + step, 0.0), l->most);
    l->episode++;
    for (int64_t h = l->H - 1; h >= 0; h--) {
        const double *restrict later = l->v + 2 * (h + 1) * S;
        const double most = (double)(l->H - h);
        for (int64_t x = 0; x < S; x++) {
            double v_r = 0.0, v_g = 0.0;
            for (int64_t a = 0; a < A; a++) {
                const int64_t row = (h * S + x) * A + a;
                const int32_t *restrict seen = l->seen + row * S;
                const double *restrict visits = l->visits + row * S;
                double n = 1.0, q_r = l->paid[2 * row], q_g = l->paid[2 * row + 1];
                for (int64_t i = 0; i < l->known[row]; i++) {
                    n += visits[i];
                    q_r += visits[i] * later[2 * seen[i]];
                    q_g += visits[i] * later[2 * seen[i] + 1];
                }
                const double bonus = 2.0 * l->beta / sqrt(n);
                q_r = smaller(larger(q_r / n + bonus, 0.0), most);
                q_g = smaller(larger(q_g / n + bonus, 0.0), most);
                l->q[2 * row] = q_r, l->q[2 * row + 1] = q_g;
                v_r += l->chance[row] * q_r;
                v_g += l->chance[row] * q_g;
            }
            l->v[2 * (h * S + x)] = v_r, l->v[2 * (h * S + x) + 1] = v_g;
        }
    }
}

INLINE void policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const propd *l = learner;
    memcpy(chances, l->chance + (h * l->S + x) * l->A, sizeof(double) * (size_t)l->A);
}

void play_propd_ppo(game *g, propd *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
