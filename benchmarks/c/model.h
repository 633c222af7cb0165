/* The model of one episode, backward induction in it, and its constrained optimum: nscmdp/induction.py, optimum.py.
 *
 * As there, only states that can be reached are visited; the arithmetic is kept in the order of the kernels, so that
 * both sides play the same policies.
 */
#ifndef MODEL_H
#define MODEL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

static const double TIE = 1e-12, CLOSED = 1e-12, FEASIBLE = 1e-9;
enum { MOST_CUTS = 1000 };

typedef struct {
    const uint32_t *successors; /* (layers, S, A, M) */
    double *probability;        /* (layers, S, A, M) */
    double *reward, *utility;   /* (layers, S, A) */
    double *mu0;                /* (S) */
    const uint32_t *states;     /* those of step 0, of step 1, ... that can be reached */
    const int64_t *steps;       /* (H+1): the states of step h are those from steps[h] to steps[h+1] */
    const int64_t *spans;       /* (stretches, 2): from one (layer,x) up to another */
    int64_t stretches, layers, S, A, M, H;
} model;

typedef struct {
    const double *probability;      /* (anchors, layers S A M) */
    const double *reward, *utility; /* (anchors, layers S A) */
    const int64_t *knots, *route;   /* (stops) */
    int64_t stops;
} drift;

typedef struct {
    int64_t start, end;
    double weight;
} leg;

typedef struct {
    double v, w;
} exact_values;

/* fmin and fmax would be calls. */
INLINE double smaller(double a, double b)
{
    return a < b ? a : b;
}

INLINE double larger(double a, double b)
{
    return a > b ? a : b;
}

INLINE leg find_leg(const drift *d, int64_t k)
{
    if (d->stops == 1)
        return (leg){d->route[0], d->route[0], 0.0};
    int64_t here = 0;
    while (here < d->stops - 2 && d->knots[here + 1] <= k)
        here++;
    double weight = (double)(k - d->knots[here]) / (double)(d->knots[here + 1] - d->knots[here]);
    return (leg){d->route[here], d->route[here + 1], smaller(larger(weight, 0.0), 1.0)};
}

/* The entries from begin up to end of the n that an anchor has. */
static inline void blend(const double *values, leg now, double *restrict out, int64_t n, int64_t begin, int64_t end)
{
    const double *restrict first = values + now.start * n, *restrict last = values + now.end * n;
    for (int64_t i = begin; i < end; i++)
        out[i] = (1.0 - now.weight) * first[i] + now.weight * last[i];
}

/* Writes the model of episode k, where it can be reached. */
static inline void mix(const drift *d, int64_t k, model *m)
{
    const int64_t rows = m->layers * m->S * m->A, M = m->M;
    const leg now = find_leg(d, k);
    for (const int64_t *span = m->spans; span < m->spans + 2 * m->stretches; span += 2) {
        const int64_t begin = span[0] * m->A, end = span[1] * m->A;
        blend(d->probability, now, m->probability, rows * M, begin * M, end * M);
        blend(d->reward, now, m->reward, rows, begin, end);
        blend(d->utility, now, m->utility, rows, begin, end);
    }
}

INLINE int64_t first_row(const model *m, int64_t h)
{
    return m->layers == 1 ? 0 : h * m->S * m->A;
}

/* Reward and utility of one row (h,x,a) and all that follows. */
INLINE exact_values look_ahead(const model *m, int64_t row, const double *restrict later)
{
    exact_values sum = {m->reward[row], m->utility[row]};
    const uint32_t *restrict successors = m->successors + row * m->M;
    const double *restrict probability = m->probability + row * m->M;
    for (int64_t i = 0; i < m->M; i++) {
        const double *ahead = later + 2 * (int64_t)successors[i];
        sum.v += probability[i] * ahead[0];
        sum.w += probability[i] * ahead[1];
    }
    return sum;
}

INLINE exact_values start_values(const model *m, const double *values)
{
    exact_values sum = {0.0, 0.0};
    for (int64_t i = 0; i < m->steps[1]; i++) {
        const int64_t x = m->states[i];
        sum.v += m->mu0[x] * values[2 * x];
        sum.w += m->mu0[x] * values[2 * x + 1];
    }
    return sum;
}

/* Maximises on_reward V + on_utility W into choice (H,S); values (2,S,2) is room. */
static exact_values greedy(const model *m, double on_reward, double on_utility, int32_t *restrict choice,
                    double *restrict values)
{
    const int64_t S = m->S, A = m->A;
    memset(values + m->H % 2 * 2 * S, 0, sizeof(double) * 2 * S);
    for (int64_t h = m->H - 1; h >= 0; h--) {
        const double *restrict later = values + (h + 1) % 2 * 2 * S;
        double *restrict now = values + h % 2 * 2 * S;
        for (int64_t i = m->steps[h]; i < m->steps[h + 1]; i++) {
            const int64_t x = m->states[i];
            double best = -INFINITY, second = -INFINITY;
            int32_t picked = 0;
            exact_values own = {0.0, 0.0};
            for (int64_t a = 0; a < A; a++) {
                const exact_values ahead = look_ahead(m, first_row(m, h) + x * A + a, later);
                const double score = on_reward * ahead.v + on_utility * ahead.w;
                const double tiebreak = on_reward > 0.0 ? ahead.w : ahead.v;
                if (score > best + TIE || (score > best - TIE && tiebreak > second))
                    best = larger(score, best), second = tiebreak, picked = (int32_t)a, own = ahead;
            }
            choice[h * S + x] = picked;
            now[2 * x] = own.v, now[2 * x + 1] = own.w;
        }
    }
    return start_values(m, values);
}

typedef struct {
    int32_t *falling, *rising, *trial; /* (H,S) */
    double *values, *others;           /* (2,S,2) */
} mixture;

/* The action that is certain where the rising policy is followed with a probability, or -1 and the chances of all. */
INLINE int64_t mixed_policy(const mixture *p, int64_t place, double share, int64_t A, double *restrict chances)
{
    const int32_t rising = p->rising[place], falling = p->falling[place];
    if (rising == falling || share == 0.0 || share == 1.0)
        return share == 1.0 ? rising : falling;
    memset(chances, 0, sizeof(double) * (size_t)A);
    chances[rising] += share;
    chances[falling] += 1.0 - share;
    return -1;
}

/* V and W of the falling and of the rising policy, in one pass over the model. */
static inline void follow(const model *m, const mixture *p, exact_values *falling, exact_values *rising)
{
    const int64_t S = m->S;
    memset(p->values + m->H % 2 * 2 * S, 0, sizeof(double) * 2 * S);
    memset(p->others + m->H % 2 * 2 * S, 0, sizeof(double) * 2 * S);
    for (int64_t h = m->H - 1; h >= 0; h--) {
        const int64_t later = (h + 1) % 2 * 2 * S, row = first_row(m, h);
        double *restrict now = p->values + h % 2 * 2 * S, *restrict other = p->others + h % 2 * 2 * S;
        for (int64_t i = m->steps[h]; i < m->steps[h + 1]; i++) {
            const int64_t x = m->states[i];
            const exact_values one = look_ahead(m, row + x * m->A + p->falling[h * S + x], p->values + later);
            const exact_values two = look_ahead(m, row + x * m->A + p->rising[h * S + x], p->others + later);
            now[2 * x] = one.v, now[2 * x + 1] = one.w;
            other[2 * x] = two.v, other[2 * x + 1] = two.w;
        }
    }
    *falling = start_values(m, p->values);
    *rising = start_values(m, p->others);
}

typedef struct {
    double value, multiplier, share; /* the value is nan where no policy keeps the constraint */
} solution;

/* Cutting planes over the multiplier; warm: the policies in the mixture solved a neighbouring model. */
static inline solution solve(const model *m, double rho, const mixture *p, bool warm)
{
    const size_t size = sizeof(int32_t) * (size_t)(m->H * m->S);
    exact_values low, high;
    if (warm) {
        follow(m, p, &low, &high);
        warm = low.w < rho && rho <= high.w && low.v > high.v;
    }
    if (!warm) {
        low = greedy(m, 1.0, 0.0, p->falling, p->values);
        if (low.w >= rho)
            return (solution){low.v, 0.0, 0.0};
        high = greedy(m, 0.0, 1.0, p->rising, p->values);
        if (high.w < rho - FEASIBLE * (1.0 + fabs(rho)))
            return (solution){NAN, INFINITY, 1.0};
        high.w = larger(high.w, rho);
    }
    double multiplier = (low.v - high.v) / (high.w - low.w);
    for (int cut = 0; cut < MOST_CUTS; cut++) {
        const double crossing = low.v + multiplier * (low.w - rho);
        const exact_values now = greedy(m, 1.0, multiplier, p->trial, p->values);
        const double dual = now.v + multiplier * (now.w - rho);
        if (dual <= crossing + CLOSED * (1.0 + fabs(crossing) + multiplier))
            break;
        if (now.w < rho) {
            low = now;
            memcpy(p->falling, p->trial, size);
        } else {
            high = now;
            memcpy(p->rising, p->trial, size);
        }
        if (low.v <= high.v) {
            low = greedy(m, 1.0, 0.0, p->falling, p->values);
            if (low.w >= rho)
                return (solution){low.v, 0.0, 0.0};
            if (low.v <= high.v)
                return (solution){high.v, 0.0, 1.0};
        }
        multiplier = (low.v - high.v) / (high.w - low.w);
    }
    return (solution){low.v + multiplier * (low.w - rho), multiplier, (rho - low.w) / (high.w - low.w)};
}

/* rising (H,S): how likely the mixture of both policies follows the rising one at x; occupancy (2,2,S) is room. */
static inline void share_by_state(const model *m, const mixture *p, double share, double *restrict occupancy,
                                  double *restrict rising)
{
    const int64_t S = m->S, M = m->M;
    for (int64_t i = 0; i < m->steps[1]; i++) {
        const int64_t x = m->states[i];
        occupancy[x] = (1.0 - share) * m->mu0[x];
        occupancy[S + x] = share * m->mu0[x];
    }
    for (int64_t h = 0; h < m->H; h++) {
        const double *restrict here = occupancy + h % 2 * 2 * S;
        double *restrict there = occupancy + (h + 1) % 2 * 2 * S;
        memset(there, 0, sizeof(double) * 2 * S);
        for (int64_t j = m->steps[h]; j < m->steps[h + 1]; j++) {
            const int64_t x = m->states[j];
            const double total = here[x] + here[S + x];
            rising[h * S + x] = total > 0.0 ? here[S + x] / total : 0.0;
            for (int64_t which = 0; which < 2; which++) {
                const int64_t choice = (which ? p->rising : p->falling)[h * S + x];
                const int64_t row = (first_row(m, h) + x * m->A + choice) * M;
                for (int64_t i = row; i < row + M; i++)
                    there[which * S + m->successors[i]] += here[which * S + x] * m->probability[i];
            }
        }
    }
}

#endif
