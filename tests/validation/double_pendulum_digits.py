"""The digits of test_double_pendulum.py, by Taylor series in decimal numbers: python double_pendulum_digits.py

Two solutions with other steps and precisions must agree in all that is printed. The equations are those in absolute
angles a and b of unit masses on unit lengths, which nothing in Symplectree uses:

    [2 c; c 1] [ä; b̈] = [−s ḃ² − 2 g sin a; s ȧ² − g sin b],   s = sin(a − b), c = cos(a − b).
"""

from decimal import Decimal, getcontext

GRAVITY, ORDER = Decimal("9.81"), 60


def sine_cosine(x):
    """sin x and cos x of a number, by their own series."""
    sine, cosine, term, k = Decimal(0), Decimal(0), Decimal(1), 0
    while abs(term) > Decimal(10) ** (-getcontext().prec - 5) or k < abs(x):
        if k % 2 == 0:
            cosine += term if k % 4 == 0 else -term
        else:
            sine += term if k % 4 == 1 else -term
        k += 1
        term = term * x / k
    return sine, cosine


class Angle:
    """The series of sin φ and cos φ, from (sin φ)' = φ' cos φ and (cos φ)' = −φ' sin φ."""

    def __init__(self, value):
        sine, cosine = sine_cosine(value)
        self.sine, self.cosine, self.rates = [sine], [cosine], []

    def append(self, rate):
        """One coefficient more, from that of φ'."""
        self.rates.append(rate)
        k = len(self.rates)
        self.sine, self.cosine = (
            [*self.sine, product(self.rates, self.cosine) / k],
            [*self.cosine, -product(self.rates, self.sine) / k],
        )


def product(x, y):
    """The last coefficient of the product of two series of one length."""
    return sum((p * q for p, q in zip(x, reversed(y), strict=True)), Decimal(0))


def quotient(numerator, divisor, so_far):
    """The next coefficient of numerator / divisor."""
    n = len(so_far)
    return (numerator - sum((so_far[i] * divisor[n - i] for i in range(n)), Decimal(0))) / divisor[0]


def taylor_step(state, h):
    a, b = Angle(state[0]), Angle(state[1])
    between = Angle(state[0] - state[1])
    da, db, squares_a, squares_b, dda, ddb, det = [state[2]], [state[3]], [], [], [], [], []
    firsts, seconds = [], []
    for k in range(ORDER):
        s, c = between.sine, between.cosine
        squares_a.append(product(da, da)), squares_b.append(product(db, db))
        firsts.append(-product(s, squares_b) - 2 * GRAVITY * a.sine[k])
        seconds.append(product(s, squares_a) - GRAVITY * b.sine[k])
        det.append((2 if k == 0 else 0) - product(c, c))
        dda.append(quotient(firsts[k] - product(c, seconds), det, dda))
        ddb.append(quotient(2 * seconds[k] - product(c, firsts), det, ddb))
        a.append(da[k]), b.append(db[k]), between.append(da[k] - db[k])
        da.append(dda[k] / (k + 1)), db.append(ddb[k] / (k + 1))
    rates = [horner(da, h), horner(db, h)]
    moved = [horner([x / (k + 1) for k, x in enumerate(series)], h) * h for series in (da, db)]
    return [state[0] + moved[0], state[1] + moved[1], *rates]


def horner(series, h):
    total = Decimal(0)
    for x in reversed(series):
        total = total * h + x
    return total


def solution(digits, h, times, start):
    getcontext().prec = digits
    state, out, t = [Decimal(x) for x in start], {}, Decimal(0)
    while t < max(times):
        state, t = taylor_step(state, Decimal(h)), t + Decimal(h)
        if t in times:
            out[int(t)] = [f"{x:.30f}" for x in state]
    return out


if __name__ == "__main__":
    times, start = (1, 3, 5), ("2", "1", "0", "0")
    coarse, fine = solution(60, "0.0125", times, start), solution(70, "0.01", times, start)
    for t in times:
        assert coarse[t] == fine[t], (coarse[t], fine[t])
        print(t, fine[t])
