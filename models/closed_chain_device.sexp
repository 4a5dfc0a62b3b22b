; The device with closed kinematic chains of Johnson and Murphey 2009, Listing 1 and Fig. 6:
; three arms that hang from the ceiling, joined at G (G2) and at O (O2).
; It starts where all four constraints are met to rounding.
(mechanical-system
  (gravity 0 0 -9.81)
  (ry "J" (name "J")
    (tz -0.5 (name "I") (mass 1))
    (tz -1
      (ry "H" (name "H")
        (tz -1 (name "G") (mass 1))
        (tz -2 (name "O2")))))
  (tx -1.5
    (ry "K" (name "K")
      (tz -1 (name "L") (mass 1))
      (tz -2
        (ry "M" (name "M")
          (tz -0.5 (name "N") (mass 1))
          (tz -1 (name "O"))))))
  (tx 1.5
    (ry "A" (name "A")
      (tz -1 (name "B") (mass 1))
      (tz -2
        (ry "C" (name "C")
          (tz -0.375 (name "D") (mass 1))
          (tz -0.75
            (ry "E" (name "E")
              (tz -0.5 (name "F") (mass 1))
              (tz -1 (name "G2"))))))))
  (point-constraint "G" "G2" (1 0 0))
  (point-constraint "G" "G2" (0 0 1))
  (point-constraint "O" "O2" (1 0 0))
  (point-constraint "O" "O2" (0 0 1))
  (initial ("J" -0.6481133627284827) ("H" 1.3825699512197256) ("K" 0.09685692654313674)
    ("M" -1.372393703594365) ("A" 0.028131239389278487) ("C" 1.3179649984061272)
    ("E" 0.9022679344484343)))
