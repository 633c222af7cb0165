#include "triple_q.h"

void play_triple_q(game *g, triple_q *learner)
{
    const operations op = {triple_q_begin, triple_q_act, triple_q_learn, triple_q_end, triple_q_policy};
    play(g, learner, op);
}
