#include "triple_q.h"

static void begin(void *learner, double u)
{
    (void)learner, (void)u;
}

void play_triple_q(game *g, triple_q *learner)
{
    const operations op = {begin, triple_q_act, triple_q_learn, triple_q_end, triple_q_policy};
    play(g, learner, op);
}
