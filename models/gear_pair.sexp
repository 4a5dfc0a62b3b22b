; Two gears in the x-z plane: a pinion of 20 teeth drives a wheel of 60, which carries a weight on an arm.
; wheel = -pinion/3: outer gears turn against each other. At the wheel, the pinion's inertia counts 3² = 9 times.
(system
  (gravity 0 0 -9.81)
  (link "pinion" (revolute "pinion" (axis "y")) (at -0.2 0 0)
    (mass 0.5) (inertia 0.0003 0.0006 0.0003))
  (link "wheel" (revolute "wheel" (axis "y"))
    (mass 4.5) (inertia 0.025 0.05 0.025)
    (frame "weight" (at 0 0 -0.4) (mass 1)))
  (gear-constraint "pinion" "wheel" (ratio -0.3333333333333333) (name "mesh"))
  (initial ("pinion" -4.71238898038469) ("wheel" 1.5707963267948966)))
