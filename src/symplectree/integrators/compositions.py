"""Steps of higher order: fractions of compositions, and Lobatto's nodes."""

# Compositions of the second-order step, with constraints or prescribed coordinates where stages do not serve: fractions
# of a step (Hairer, Lubich, Wanner, V.3.2: Suzuki (1990); of orders 6 and 8 Kahan and Li (1997)).
_SUZUKI = 1 / (4 - 4 ** (1 / 3))
_KAHAN_LI = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.082213596293550800230)
_KAHAN_LI_8 = (
    0.13020248308889008087881763,
    0.56116298177510838456196441,
    -0.38947496264484728640807860,
    0.15884190655515560089621075,
    -0.39590389413323757733623154,
    0.18453964097831570709183254,
    0.25837438768632204729397911,
    0.29501172360931029887096624,
)
COMPOSITIONS = {
    2: (1.0,),
    4: (_SUZUKI, _SUZUKI, 1 - 4 * _SUZUKI, _SUZUKI, _SUZUKI),
    6: (*_KAHAN_LI, 1 - 2 * sum(_KAHAN_LI), *reversed(_KAHAN_LI)),
    8: (*_KAHAN_LI_8, 1 - 2 * sum(_KAHAN_LI_8), *reversed(_KAHAN_LI_8)),
}
# Lobatto's nodes in a step by order: where its stages are, and the weight of the last (Hairer, Lubich, Wanner, II.1.4).
LOBATTO = {
    4: ((0.0, 0.5, 1.0), 1 / 6),
    6: ((0.0, 0.5 - 0.05**0.5, 0.5 + 0.05**0.5, 1.0), 1 / 12),
    8: ((0.0, 0.5 - (3 / 28) ** 0.5, 0.5, 0.5 + (3 / 28) ** 0.5, 1.0), 1 / 20),
}
