def context(plan, folder):
    return None
