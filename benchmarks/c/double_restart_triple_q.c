#include "bandit.h"
#include "triple_q.h"

BANDIT_OVER(triple_q, play_double_restart_triple_q)
