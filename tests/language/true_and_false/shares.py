"""What is worst where some share of the clients has one number and all others another: 3 of 14, say."""

from theory import REAL, Paper, claim

THIRD = "mean_n((p_n - mean_n(p_n))**3) <= {}*(max_n(p_n) - min_n(p_n))**3"
WELLS = "mean_n((p_n**2 - 2)**2) + (mean_n(p_n) - 1)**2 >= {}"
FOURTH = "mean_n(norm2(grad(f_n, x) - grad(f, x))**2) <= {}*G**4"
OF_FUNCTIONS = {"vectors": ("x",), "assuming": ("bounded_gradients(f_n, G)",)}
CLAIMS = (
    # FALSE: of 4 of 19 it is 660/6859 = 0.09622.
    claim("third", THIRD.format("9622/100000")),
    # FALSE: of 2 of 9 it is 70/729 = 0.09602.
    claim("third-of-nine", THIRD.format("96012/1000000")),
    # TRUE: with a share s it is s*(1 - s)*(1 - 2*s), at most sqrt(3)/18; with more than two numbers it is no more.
    claim("third-whole", THIRD.format("sqrt(3)/18")),
    # FALSE: of linear functions with slopes G, 3 of 14, and -G it is 44814/33614 = 1.3332.
    claim("fourth", FOURTH.format("13327/10000"), **OF_FUNCTIONS),
    # TRUE: at most 16*s*(1 - s)*(s**3 + (1 - s)**3)*G**4, of which 4/3 is the largest value.
    claim("fourth-whole", FOURTH.format("4/3"), **OF_FUNCTIONS),
    # FALSE: 35 numbers of sqrt(2) and 6 of -sqrt(2) have a mean of 1.0003.
    claim("wells", WELLS.format("1/10**6"), parameters={"p_n": REAL}),
    # FALSE: one of 7 numbers near -sqrt(2) leaves 0.000092.
    claim("wells-of-seven", WELLS.format("1/10**4"), parameters={"p_n": REAL}),
)
PAPER = Paper("shares", "Two kinds of clients", "a reader", CLAIMS)
