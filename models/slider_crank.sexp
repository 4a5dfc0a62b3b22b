; A slider-crank in the x-z plane, as in a lying engine: crank 0.1 m, rod 0.3 m, and a piston that slides along x.
; piston = 0.1 cos(crank) + sqrt(0.3² - 0.1² sin²(crank))
(system
  (gravity 0 0 -9.81)
  (link "crank" (revolute "crank" (axis "y"))
    (mass 1) (com 0.02 0 0) (inertia 0.002 0.004 0.002)
    (link "rod" (revolute "big end" (axis "y")) (at 0.1 0 0)
      (mass 0.6) (com 0.1 0 0) (inertia 0 0.006 0.006)
      (frame "small end" (at 0.3 0 0))))
  (link "piston" (prismatic "piston" (axis "x"))
    (mass 0.5))
  (point-constraint "small end" "piston" "xz" (name "pin"))
  (initial ("crank" 0) ("big end" 0) ("piston" 0.4)))
