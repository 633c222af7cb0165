"""A mixture of two policies, played step by step: ``rising`` is followed with a share, else ``falling``."""

from nscmdp.kernels.jit import inlined


@inlined
def act_on_mixture(learner, h, row, u):
    falling, rising = learner.mixture.falling[h, row], learner.mixture.rising[h, row]
    return int(rising if u < learner.rising[h, row] else falling)


@inlined
def policy_on_mixture(learner, h, row, probabilities):
    """The action that is certain, or -1 after writing probabilities."""
    rising, falling = learner.mixture.rising[h, row], learner.mixture.falling[h, row]
    share = learner.rising[h, row]
    if rising == falling or share == 0.0 or share == 1.0:
        return int(rising if share == 1.0 else falling)
    probabilities[:] = 0.0
    probabilities[rising] += share
    probabilities[falling] += 1.0 - share
    return -1
