/* Sliding-window OptCMDP: nscmdp/algorithms/sliding_window_opt_cmdp.py.
 *
 * Tables have one row for each state met at step h, and row 0 for all others.
 */
#include "loop.h"

typedef struct {
    double n, since; /* visits in the window when the problem was last solved, and since then */
    double reward, utility;
    int64_t known; /* how many different successors were seen */
} entry;

typedef struct {
    double probability;
    int64_t row;
} successor;

typedef struct {
    mixture mixture;       /* of policies (H, R) */
    uint32_t *rows;        /* (H+1, S): the row of x at step h */
    int64_t *used;         /* (H+1): how many rows there are */
    uint32_t *states;      /* (H+1, R): the state of a row ... */
    uint32_t *order;       /* (H+1, R): ... and all rows but row 0, by their states */
    uint32_t *path;        /* (w, H+1): the rows that an episode of the window was in, episode k at k mod w */
    uint32_t *actions;     /* (w, H) */
    double *paid;          /* (w, H, 2) */
    entry *entries;        /* (H, R, A) */
    successor *successors; /* (H, R, A, M), in the order of states */
    double *mu0;           /* (R) */
    double *rising;        /* (H, R) */
    double *occupancy;     /* (2, 2, R) */
    double bonus, rho;
    int64_t H, S, A, M, R, window, episode, solved, due, refresh;
} opt_cmdp;

INLINE entry *entry_of(const opt_cmdp *l, int64_t h, int64_t row, int64_t a)
{
    return l->entries + (h * l->R + row) * l->A + a;
}

INLINE successor *successors_of(const opt_cmdp *l, int64_t h, int64_t row, int64_t a)
{
    return l->successors + ((h * l->R + row) * l->A + a) * l->M;
}

/* One more visit to the successor in a row. */
INLINE void count(entry *restrict e, successor *restrict s, uint32_t row, const uint32_t *restrict states)
{
    int64_t i = 0;
    while (i < e->known && states[s[i].row] < states[row])
        i++;
    if (i == e->known || s[i].row != row) {
        memmove(s + i + 1, s + i, sizeof(successor) * (size_t)(e->known - i));
        s[i] = (successor){0.0, row};
        e->known++;
    }
    s[i].probability += 1.0;
}

static void add_up(opt_cmdp *l)
{
    const int64_t H = l->H, A = l->A;
    memset(l->mu0, 0, sizeof(double) * (size_t)l->R);
    for (int64_t h = 0; h < H; h++)
        memset(entry_of(l, h, 1, 0), 0, sizeof(entry) * (size_t)((l->used[h] - 1) * A));
    const int64_t episodes = l->episode < l->window ? l->episode : l->window;
    for (int64_t i = 0; i < episodes; i++) {
        const uint32_t *restrict path = l->path + i * (H + 1), *restrict actions = l->actions + i * H;
        const double *restrict paid = l->paid + i * H * 2;
        l->mu0[path[0]] += 1.0 / (double)episodes;
        for (int64_t h = 0; h < H; h++) {
            entry *restrict e = entry_of(l, h, path[h], actions[h]);
            e->n += 1.0;
            e->reward += paid[2 * h];
            e->utility += paid[2 * h + 1];
            count(e, successors_of(l, h, path[h], actions[h]), path[h + 1], l->states + (h + 1) * l->R);
        }
    }
}

static void estimate(opt_cmdp *l)
{
    add_up(l);
    for (int64_t h = 0; h < l->H; h++)
        for (int64_t i = l->A; i < l->used[h] * l->A; i++) {
            entry *restrict e = entry_of(l, h, 0, i);
            successor *restrict s = successors_of(l, h, 0, i);
            if (e->n == 0.0)
                continue;
            const double bonus = l->bonus / sqrt(e->n);
            e->reward = e->reward / e->n + bonus;
            e->utility = e->utility / e->n + bonus;
            for (int64_t j = 0; j < e->known; j++)
                s[j].probability /= e->n;
        }
}

/* 1 + b, and the mean of V_h and of W_h: what an entry without a visit promises. */
INLINE exact_values anywhere(const opt_cmdp *l, int64_t h, const exact_values *restrict values)
{
    const uint32_t *restrict states = l->states + h * l->R, *restrict order = l->order + h * l->R;
    const double chance = 1.0 / (double)l->S;
    exact_values sum = {1.0 + l->bonus, 1.0 + l->bonus};
    int64_t x = 0;
    for (int64_t i = 0; i < l->used[h]; i++) {
        const bool last = i + 1 == l->used[h];
        const int64_t row = last ? 0 : order[i], end = last ? l->S : states[row];
        for (; x < end; x++)
            sum.v += chance * values[0].v, sum.w += chance * values[0].w;
        if (!last)
            sum.v += chance * values[row].v, sum.w += chance * values[row].w, x++;
    }
    return sum;
}

/* Maximises on_reward V + on_utility W into choice (H,R). */
static exact_values maximise(const opt_cmdp *l, double on_reward, double on_utility, int32_t *restrict choice)
{
    exact_values *values = (exact_values *)l->mixture.values;
    memset(values + l->H % 2 * l->R, 0, sizeof(exact_values) * (size_t)l->used[l->H]);
    for (int64_t h = l->H - 1; h >= 0; h--) {
        const exact_values *restrict later = values + (h + 1) % 2 * l->R;
        exact_values *restrict now = values + h % 2 * l->R;
        const exact_values unknown = now[0] = anywhere(l, h + 1, later);
        for (int64_t row = 1; row < l->used[h]; row++) {
            double best = -INFINITY, second = -INFINITY;
            int32_t picked = 0;
            exact_values own = {0.0, 0.0};
            for (int64_t a = 0; a < l->A; a++) {
                const entry *restrict e = entry_of(l, h, row, a);
                const successor *restrict s = successors_of(l, h, row, a);
                exact_values ahead = e->n > 0.0 ? (exact_values){e->reward, e->utility} : unknown;
                for (int64_t i = 0; i < e->known; i++) {
                    ahead.v += s[i].probability * later[s[i].row].v;
                    ahead.w += s[i].probability * later[s[i].row].w;
                }
                const double score = on_reward * ahead.v + on_utility * ahead.w;
                const double tiebreak = on_reward > 0.0 ? ahead.w : ahead.v;
                if (score > best + TIE || (score > best - TIE && tiebreak > second))
                    best = larger(score, best), second = tiebreak, picked = (int32_t)a, own = ahead;
            }
            choice[h * l->R + row] = picked;
            now[row] = own;
        }
    }
    exact_values sum = {0.0, 0.0};
    for (int64_t i = 0; i + 1 < l->used[0]; i++) {
        const int64_t row = l->order[i];
        sum.v += l->mu0[row] * values[row].v;
        sum.w += l->mu0[row] * values[row].w;
    }
    return sum;
}

/* The share of the rising policy in the optimum; nan where none is feasible. */
static double best_share(const opt_cmdp *l)
{
    const size_t size = sizeof(int32_t) * (size_t)(l->H * l->R);
    const mixture *p = &l->mixture;
    const double rho = l->rho;
    exact_values low = maximise(l, 1.0, 0.0, p->falling);
    if (low.w >= rho)
        return 0.0;
    exact_values high = maximise(l, 0.0, 1.0, p->rising);
    if (high.w < rho - FEASIBLE * (1.0 + fabs(rho)))
        return NAN;
    high.w = larger(high.w, rho);
    for (int cut = 0; cut < MOST_CUTS; cut++) {
        const double multiplier = (low.v - high.v) / (high.w - low.w);
        const double crossing = low.v + multiplier * (low.w - rho);
        const exact_values now = maximise(l, 1.0, multiplier, p->trial);
        if (now.v + multiplier * (now.w - rho) <= crossing + CLOSED * (1.0 + fabs(crossing) + multiplier))
            break;
        if (now.w < rho) {
            low = now;
            memcpy(p->falling, p->trial, size);
        } else {
            high = now;
            memcpy(p->rising, p->trial, size);
        }
    }
    return (rho - low.w) / (high.w - low.w);
}

/* From so many states to every other. */
INLINE void scatter(double flow, int64_t times, double *restrict there, int64_t rows)
{
    if (flow > 0.0)
        for (int64_t i = 0; i < times; i++)
            for (int64_t row = 0; row < rows; row++)
                there[row] += flow;
}

/* Where a policy leads from step h, from the first state to the last. */
static void spread(const opt_cmdp *l, int64_t h, const int32_t *restrict choice, const double *restrict here,
                   double *restrict there)
{
    const uint32_t *restrict states = l->states + h * l->R, *restrict order = l->order + h * l->R;
    const double chance = 1.0 / (double)l->S;
    const int64_t rows = l->used[h + 1];
    int64_t passed = 0;
    for (int64_t i = 0; i + 1 < l->used[h]; i++) {
        const int64_t row = order[i], a = choice[row];
        const entry *restrict e = entry_of(l, h, row, a);
        const successor *restrict s = successors_of(l, h, row, a);
        scatter(here[0] * chance, states[row] - passed, there, rows);
        for (int64_t j = 0; j < e->known; j++)
            there[s[j].row] += here[row] * s[j].probability;
        if (e->n == 0.0)
            scatter(here[row] * chance, 1, there, rows);
        passed = states[row] + 1;
    }
    scatter(here[0] * chance, l->S - passed, there, rows);
}

static void share_by_row(const opt_cmdp *l, double share)
{
    const int64_t R = l->R;
    for (int64_t row = 0; row < l->used[0]; row++) {
        l->occupancy[row] = (1.0 - share) * l->mu0[row];
        l->occupancy[R + row] = share * l->mu0[row];
    }
    for (int64_t h = 0; h < l->H; h++) {
        const double *here = l->occupancy + h % 2 * 2 * R;
        double *there = l->occupancy + (h + 1) % 2 * 2 * R;
        for (int64_t row = 0; row < l->used[h]; row++) {
            const double total = here[row] + here[R + row];
            l->rising[h * R + row] = total > 0.0 ? here[R + row] / total : 0.0;
        }
        memset(there, 0, sizeof(double) * 2 * (size_t)R);
        spread(l, h, l->mixture.falling + h * R, here, there);
        spread(l, h, l->mixture.rising + h * R, here + R, there + R);
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
    const double share = best_share(l);
    if (share > 0.0) {
        share_by_row(l, share);
        return;
    }
    for (int64_t i = 0; i < l->H * l->R; i++)
        l->rising[i] = share == 0.0 ? 0.0 : 1.0;
}

INLINE int64_t place_of(const opt_cmdp *l, int64_t h, int64_t x)
{
    return h * l->R + l->rows[h * l->S + x];
}

INLINE choice act(void *learner, int64_t h, int64_t x, double u)
{
    const opt_cmdp *l = learner;
    const int64_t i = place_of(l, h, x);
    return (choice){(u < l->rising[i] ? l->mixture.rising : l->mixture.falling)[i], 0.0, 0.0};
}

/* The row of a state that is met. */
INLINE uint32_t row_of(opt_cmdp *l, int64_t h, int64_t x)
{
    uint32_t *row = l->rows + h * l->S + x;
    uint32_t *restrict states = l->states + h * l->R, *restrict order = l->order + h * l->R;
    if (*row == 0) {
        int64_t i = l->used[h] - 1;
        for (; i > 0 && states[order[i - 1]] > x; i--)
            order[i] = order[i - 1];
        *row = (uint32_t)l->used[h]++;
        order[i] = *row;
        states[*row] = (uint32_t)x;
    }
    return *row;
}

INLINE void learn(void *learner, int64_t h, int64_t x, int64_t a, double r, double g, int64_t y, double v, double w)
{
    (void)v, (void)w;
    opt_cmdp *l = learner;
    const int64_t i = l->episode % l->window;
    const uint32_t row = row_of(l, h, x);
    uint32_t *restrict path = l->path + i * (l->H + 1) + h;
    path[0] = row, path[1] = row_of(l, h + 1, y);
    l->actions[i * l->H + h] = (uint32_t)a;
    l->paid[2 * (i * l->H + h)] = r, l->paid[2 * (i * l->H + h) + 1] = g;
    entry *restrict e = entry_of(l, h, row, a);
    e->since += 1.0;
    if (e->since >= larger(e->n, 1.0))
        l->due = 1;
}

INLINE void end(void *learner)
{
    ((opt_cmdp *)learner)->episode++;
}

INLINE int64_t policy(void *learner, int64_t h, int64_t x, double *restrict chances)
{
    const opt_cmdp *l = learner;
    const int64_t i = place_of(l, h, x);
    return mixed_policy(&l->mixture, i, l->rising[i], l->A, chances);
}

void play_sliding_window_opt_cmdp(game *g, opt_cmdp *learner)
{
    const operations op = {begin, act, learn, end, policy};
    play(g, learner, op);
}
