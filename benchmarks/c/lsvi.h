/* Primal-dual LSVI: nscmdp/algorithms/_lsvi.py, with features and, where there are none, by counts. */
#ifndef LSVI_H
#define LSVI_H

#include "loop.h"

enum { REFRESH = 4096 }; /* episodes between two factorisations of Lambda */

typedef struct {
    double *q;          /* (2, S A): room */
    double *chances;    /* (H, S, A) */
    double *values;     /* (H+1, S, 2) */
    const double *arms; /* (n, 2): frame and rho + eps */
    double y, drive, target, alpha, beta, eta, xi, ridge;
    int64_t H, S, A, episode, frame, realised, carry;
} lsvi;

typedef struct {
    lsvi lsvi;
    uint32_t *met;        /* (H, S): the states met at step h in this frame ... */
    int64_t *known;       /* (H): ... and how many they are */
    double *visits;       /* (H, S, A) */
    double *sums;         /* (H, S, A, 2) */
    int64_t *reached;     /* (H, S, A): how many different successors were seen */
    uint32_t *successors; /* (H, S, A, M): which ones ... */
    double *counts;       /* (H, S, A, M): ... how often */
    int64_t M;
} counting;

typedef struct {
    lsvi lsvi;
    const double *phi;   /* (d, S A): column x A + a is phi(x,a) */
    double *gram;        /* (H, d, d): Lambda */
    double *inverse;     /* (H, d, d) */
    double *sums;        /* (H, 2, d) */
    double *moves;       /* (H, S, d): row x' is the sum of phi over the moves to x' */
    double *uncertainty; /* (H, S A): phi^T Lambda^-1 phi */
    double *room;        /* (4d + d^2 + S A) */
    int64_t d;
} featured;

INLINE int64_t lsvi_since_restart(const lsvi *l)
{
    return l->frame ? l->episode % l->frame : l->episode;
}

/* pi ~ exp(alpha (Q_r + Y Q_g)) and V = sum_a pi Q, from Q_r and Q_g of one state. */
INLINE void lsvi_soften(const lsvi *l, int64_t h, int64_t x, const double *restrict q_r, const double *restrict q_g)
{
    const int64_t A = l->A;
    double *restrict chances = l->chances + (h * l->S + x) * A, *restrict values = l->values + 2 * (h * l->S + x);
    double best = -INFINITY, total = 0.0, v = 0.0, w = 0.0;
    for (int64_t a = 0; a < A; a++) {
        chances[a] = q_r[a] + l->y * q_g[a];
        best = larger(best, chances[a]);
    }
    for (int64_t a = 0; a < A; a++) {
        const double below = chances[a] - best;
        total += chances[a] = below < 0.0 ? exp(l->alpha * below) : 1.0;
    }
    for (int64_t a = 0; a < A; a++) {
        chances[a] /= total;
        v += chances[a] * q_r[a];
        w += chances[a] * q_g[a];
    }
    values[0] = v, values[1] = w;
}

INLINE choice lsvi_act(lsvi *l, int64_t h, int64_t x, double u)
{
    const double *restrict chances = l->chances + (h * l->S + x) * l->A;
    if (h == 0 && !l->realised)
        l->drive = l->values[2 * x + 1];
    int64_t action = -1;
    for (int64_t a = 0; a < l->A && u >= 0.0; a++)
        if (chances[a] > 0.0) {
            action = a;
            u -= chances[a];
        }
    return (choice){action, 0.0, 0.0};
}

INLINE int64_t lsvi_policy(const lsvi *l, int64_t h, int64_t x, double *restrict chances)
{
    memcpy(chances, l->chances + (h * l->S + x) * l->A, sizeof(double) * (size_t)l->A);
    return -1;
}

INLINE void lsvi_end(lsvi *l)
{
    l->y = smaller(larger(l->y + l->eta * (l->target - l->drive), 0.0), l->xi);
    l->episode++;
}

INLINE void lsvi_restart(lsvi *l, int64_t arm)
{
    l->episode = 0;
    l->frame = (int64_t)l->arms[2 * arm], l->target = l->arms[2 * arm + 1];
    if (!l->carry)
        l->y = 0.0;
}

/* By counts. */

/* Q and the policy in one state that was met. */
INLINE void counting_estimate(const counting *c, int64_t h, int64_t x)
{
    const lsvi *l = &c->lsvi;
    const int64_t A = l->A;
    const double *restrict later = l->values + 2 * (h + 1) * l->S, H = (double)l->H;
    double *restrict q = l->q;
    for (int64_t a = 0; a < A; a++) {
        const int64_t row = (h * l->S + x) * A + a;
        double q_r = c->sums[2 * row], q_g = c->sums[2 * row + 1];
        if (h + 1 < l->H)
            for (int64_t i = row * c->M; i < row * c->M + c->reached[row]; i++) {
                q_r += c->counts[i] * later[2 * (int64_t)c->successors[i]];
                q_g += c->counts[i] * later[2 * (int64_t)c->successors[i] + 1];
            }
        const double n = c->visits[row] + l->ridge, bonus = l->beta / sqrt(n);
        q[a] = smaller(q_r / n + bonus, H);
        q[A + a] = smaller(q_g / n + bonus, H);
    }
    lsvi_soften(l, h, x, q, q + A);
}

/* Before the first frame, all states count as met. */
static void counting_forget(const counting *c)
{
    const lsvi *l = &c->lsvi;
    const size_t A = (size_t)l->A;
    for (size_t i = 0; i < 2 * A; i++)
        l->q[i] = smaller(l->beta / sqrt(l->ridge), (double)l->H);
    for (int64_t h = 0; h < l->H; h++) {
        for (int64_t i = 0; i < c->known[h]; i++) {
            const int64_t x = c->met[h * l->S + i], row = (h * l->S + x) * l->A;
            memset(c->visits + row, 0, sizeof(double) * A);
            memset(c->sums + 2 * row, 0, sizeof(double) * 2 * A);
            memset(c->reached + row, 0, sizeof(int64_t) * A);
            lsvi_soften(l, h, x, l->q, l->q + A);
        }
        c->known[h] = 0;
    }
}

static void counting_begin(void *learner, double u)
{
    (void)u;
    counting *c = learner;
    lsvi *l = &c->lsvi;
    if (lsvi_since_restart(l) == 0)
        counting_forget(c);
    for (int64_t h = l->H - 1; h >= 0; h--)
        for (int64_t i = 0; i < c->known[h]; i++)
            counting_estimate(c, h, c->met[h * l->S + i]);
    l->drive = 0.0;
}

INLINE choice counting_act(void *learner, int64_t h, int64_t x, double u)
{
    return lsvi_act(&((counting *)learner)->lsvi, h, x, u);
}

INLINE void counting_learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v,
                           double w)
{
    (void)v, (void)w;
    counting *c = learner;
    const int64_t A = c->lsvi.A, row = (h * c->lsvi.S + x) * A + a, reached = c->reached[row];
    double visits = 0.0;
    uint32_t *restrict successors = c->successors + row * c->M;
    double *restrict counts = c->counts + row * c->M;
    if (c->lsvi.realised)
        c->lsvi.drive += g;
    for (int64_t b = row - a; b < row - a + A; b++)
        visits += c->visits[b];
    if (visits == 0.0)
        c->met[h * c->lsvi.S + c->known[h]++] = (uint32_t)x;
    c->visits[row] += 1.0;
    c->sums[2 * row] += r;
    c->sums[2 * row + 1] += g;
    int64_t i = 0;
    while (i < reached && successors[i] != y)
        i++;
    if (i == reached) {
        successors[i] = (uint32_t)y;
        counts[i] = 0.0;
        c->reached[row]++;
    }
    counts[i] += 1.0;
}

INLINE void counting_end(void *learner)
{
    lsvi_end(&((counting *)learner)->lsvi);
}

INLINE int64_t counting_policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    return lsvi_policy(&((counting *)learner)->lsvi, h, x, chances);
}

INLINE void counting_restart(counting *c, int64_t arm)
{
    lsvi_restart(&c->lsvi, arm);
}

/* With features. */

static void featured_forget(featured *f)
{
    const lsvi *l = &f->lsvi;
    const int64_t d = f->d, rows = l->S * l->A;
    memset(f->gram, 0, sizeof(double) * (size_t)(l->H * d * d));
    memset(f->inverse, 0, sizeof(double) * (size_t)(l->H * d * d));
    memset(f->sums, 0, sizeof(double) * (size_t)(l->H * 2 * d));
    memset(f->moves, 0, sizeof(double) * (size_t)(l->H * l->S * d));
    memset(f->uncertainty, 0, sizeof(double) * (size_t)(l->H * rows));
    for (int64_t h = 0; h < l->H; h++)
        for (int64_t i = 0; i < d; i++) {
            const double *restrict phi = f->phi + i * rows;
            double *restrict uncertainty = f->uncertainty + h * rows;
            f->gram[(h * d + i) * d + i] = l->ridge;
            f->inverse[(h * d + i) * d + i] = 1.0 / l->ridge;
            for (int64_t row = 0; row < rows; row++)
                uncertainty[row] += phi[row] * phi[row] / l->ridge;
        }
}

/* Lambda^-1 and phi^T Lambda^-1 phi from Lambda = L L^T. */
static void featured_refresh(featured *f)
{
    const int64_t d = f->d, rows = f->lsvi.S * f->lsvi.A;
    double *restrict L = f->room;
    for (int64_t h = 0; h < f->lsvi.H; h++) {
        const double *restrict gram = f->gram + h * d * d;
        double *restrict inverse = f->inverse + h * d * d, *restrict uncertainty = f->uncertainty + h * rows;
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j <= i; j++) {
                double left = gram[i * d + j];
                for (int64_t l = 0; l < j; l++)
                    left -= L[i * d + l] * L[j * d + l];
                L[i * d + j] = j < i ? left / L[j * d + j] : sqrt(left);
            }
        for (int64_t j = 0; j < d; j++) { /* L^-1 in place of L */
            L[j * d + j] = 1.0 / L[j * d + j];
            for (int64_t i = j + 1; i < d; i++) {
                double left = 0.0;
                for (int64_t l = j; l < i; l++)
                    left -= L[i * d + l] * L[l * d + j];
                L[i * d + j] = left / L[i * d + i];
            }
        }
        for (int64_t i = 0; i < d; i++)
            for (int64_t j = 0; j < d; j++) {
                double sum = 0.0;
                for (int64_t l = i > j ? i : j; l < d; l++)
                    sum += L[l * d + i] * L[l * d + j];
                inverse[i * d + j] = sum;
            }
        for (int64_t row = 0; row < rows; row++) {
            double sum = 0.0;
            for (int64_t i = 0; i < d; i++) {
                double part = 0.0;
                for (int64_t l = 0; l <= i; l++)
                    part += L[i * d + l] * f->phi[l * rows + row];
                sum += part * part;
            }
            uncertainty[row] = sum;
        }
    }
}

/* out = Lambda^-1 vector, summed over the columns of the inverse, which is symmetric to the last bit. */
INLINE void featured_solve(int64_t d, const double *restrict inverse, const double *restrict vector,
                           double *restrict out)
{
    memset(out, 0, sizeof(double) * (size_t)d);
    for (int64_t j = 0; j < d; j++)
        for (int64_t i = 0; i < d; i++)
            out[i] += inverse[j * d + i] * vector[j];
}

static void featured_estimate(const featured *f, int64_t h)
{
    const lsvi *l = &f->lsvi;
    const int64_t d = f->d, S = l->S, rows = S * l->A;
    const double *restrict later = l->values + 2 * (h + 1) * S, *restrict uncertainty = f->uncertainty + h * rows;
    double *restrict right_r = f->room, *restrict right_g = right_r + d;
    double *restrict w_r = right_g + d, *restrict w_g = w_r + d;
    double *restrict q_r = l->q, *restrict q_g = l->q + rows;
    memcpy(right_r, f->sums + h * 2 * d, sizeof(double) * 2 * (size_t)d);
    if (h + 1 < l->H)
        for (int64_t y = 0; y < S; y++) {
            const double *restrict moves = f->moves + (h * S + y) * d, v = later[2 * y], w = later[2 * y + 1];
            for (int64_t i = 0; i < d; i++) {
                right_r[i] += moves[i] * v;
                right_g[i] += moves[i] * w;
            }
        }
    featured_solve(d, f->inverse + h * d * d, right_r, w_r);
    featured_solve(d, f->inverse + h * d * d, right_g, w_g);
    memset(l->q, 0, sizeof(double) * 2 * (size_t)rows);
    for (int64_t i = 0; i < d; i++) {
        const double *restrict phi = f->phi + i * rows, on_reward = w_r[i], on_utility = w_g[i];
        for (int64_t row = 0; row < rows; row++) {
            q_r[row] += on_reward * phi[row];
            q_g[row] += on_utility * phi[row];
        }
    }
    const double most = (double)l->H;
    for (int64_t row = 0; row < rows; row++) {
        const double bonus = l->beta * sqrt(uncertainty[row]);
        q_r[row] = smaller(q_r[row] + bonus, most);
        q_g[row] = smaller(q_g[row] + bonus, most);
    }
    for (int64_t x = 0; x < S; x++)
        lsvi_soften(l, h, x, q_r + x * l->A, q_g + x * l->A);
}

static void featured_begin(void *learner, double u)
{
    (void)u;
    featured *f = learner;
    const int64_t done = lsvi_since_restart(&f->lsvi);
    if (done == 0)
        featured_forget(f);
    else if (done % REFRESH == 0)
        featured_refresh(f);
    for (int64_t h = f->lsvi.H - 1; h >= 0; h--)
        featured_estimate(f, h);
    f->lsvi.drive = 0.0;
}

INLINE choice featured_act(void *learner, int64_t h, int64_t x, double u)
{
    return lsvi_act(&((featured *)learner)->lsvi, h, x, u);
}

/* One more phi at step h, by a rank-one update. */
static void featured_learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v,
                           double w)
{
    (void)v, (void)w;
    featured *f = learner;
    const int64_t d = f->d, rows = f->lsvi.S * f->lsvi.A, row = x * f->lsvi.A + a;
    double *restrict inverse = f->inverse + h * d * d, *restrict gram = f->gram + h * d * d;
    double *restrict sums = f->sums + h * 2 * d, *restrict moves = f->moves + (h * f->lsvi.S + y) * d;
    double *restrict phi = f->room, *restrict turned = phi + d, *restrict along = turned + d, own = 0.0;
    if (f->lsvi.realised)
        f->lsvi.drive += g;
    for (int64_t i = 0; i < d; i++)
        phi[i] = f->phi[i * rows + row];
    featured_solve(d, inverse, phi, turned);
    for (int64_t i = 0; i < d; i++)
        own += turned[i] * phi[i];
    const double shrink = 1.0 / (1.0 + own);
    memset(along, 0, sizeof(double) * (size_t)rows);
    for (int64_t i = 0; i < d; i++) {
        const double p = phi[i], t = turned[i], *restrict all = f->phi + i * rows;
        sums[i] += p * r;
        sums[d + i] += p * g;
        moves[i] += p;
        for (int64_t l = 0; l < d; l++) {
            gram[i * d + l] += p * phi[l];
            inverse[i * d + l] -= t * turned[l] * shrink;
        }
        for (int64_t other = 0; other < rows; other++)
            along[other] += t * all[other];
    }
    double *restrict uncertainty = f->uncertainty + h * rows;
    for (int64_t other = 0; other < rows; other++)
        uncertainty[other] = larger(uncertainty[other] - along[other] * along[other] * shrink, 0.0);
}

INLINE void featured_end(void *learner)
{
    lsvi_end(&((featured *)learner)->lsvi);
}

INLINE int64_t featured_policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    return lsvi_policy(&((featured *)learner)->lsvi, h, x, chances);
}

INLINE void featured_restart(featured *f, int64_t arm)
{
    lsvi_restart(&f->lsvi, arm);
}

#endif
