"""Random words from a plain Philox."""

MASK = 0xFFFFFFFF


def philox(counter, key):
    """Philox4x32-10, word by word."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        p0, p1 = c0 * 0xD2511F53, c2 * 0xCD9E8D57
        c0, c1, c2, c3 = (p1 >> 32) ^ c1 ^ k0, p1 & MASK, (p0 >> 32) ^ c3 ^ k1, p0 & MASK
        k0, k1 = (k0 + 0x9E3779B9) & MASK, (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def word(seed, run, client, round, purpose, draw):
    """Draw number `draw` of a stream."""
    return philox((run, client, round, (purpose << 24) + draw // 4), (seed & MASK, seed >> 32))[draw % 4]
