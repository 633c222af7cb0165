/* Algorithm 4 and the appendix's other approach: they differ in what a block gains. */
#include "bandit.h"
#include "lsvi.h"

BANDIT_OVER(counting, play_counting_lsvi_in_bandit)
BANDIT_OVER(featured, play_featured_lsvi_in_bandit)
