; A satellite with an arm of three joints after Kobilarov: a shoulder of two axes (turn about z, lift about y) and an
; elbow. The bus is a box of 10 kg, 0.6 m x 0.5 m x 0.4 m; the links are rods of 0.8 m. Nothing acts from outside.
(system
  (gravity 0 0 0)
  (link "bus" (free "bus") (mass 10) (inertia 0.3416666666666667 0.4333333333333333 0.5083333333333333)
    (frame "panel left" (at 0 1.2 0))
    (frame "panel right" (at 0 -1.2 0))
    (link "upper" (universal "shoulder" (axes "z" "y")) (at 0.3 0 0)
      (mass 1.5) (com 0.4 0 0) (inertia 0.002 0.081 0.081)
      (link "lower" (revolute "elbow" (axis "y")) (at 0.8 0 0)
        (mass 1) (com 0.4 0 0) (inertia 0.001 0.054 0.054)
        (frame "hand" (at 0.8 0 0)))))
  (initial ("shoulder.1" -0.6) ("elbow" 1.2)))
