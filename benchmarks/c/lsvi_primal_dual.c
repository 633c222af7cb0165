#include "lsvi.h"

void play_counting_lsvi(game *g, counting *learner)
{
    const operations op = {counting_begin, counting_act, counting_learn, counting_end, counting_policy};
    play(g, learner, op);
}

void play_featured_lsvi(game *g, featured *learner)
{
    const operations op = {featured_begin, featured_act, featured_learn, featured_end, featured_policy};
    play(g, learner, op);
}
