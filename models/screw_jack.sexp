; A screw jack: a spindle turns about z, its thread lifts a nut with a load, JM09 (39).
; A thread of 8 mm per turn has the pitch 0.008/(2 pi) m/rad. Without friction the load turns the spindle back:
; turn'' = (torque - load g pitch)/(inertia + load pitch²)
(system
  (gravity 0 0 -9.81)
  (link "spindle" (revolute "turn" (axis "z"))
    (mass 2) (com 0 0 0.2) (inertia 0.05 0.05 0.0004)
    (frame "top" (at 0 0 0.45))
    (frame "handle 1" (at 0.25 0 0.05) (mass 0.4))
    (frame "handle 2" (at -0.25 0 0.05) (mass 0.4)))
  (link "plate" (prismatic "lift" (axis "z")) (at 0 0 0.25)
    (mass 200)
    (frame "edge 1" (at -0.15 0 0))
    (frame "edge 2" (at 0.15 0 0)))
  (screw-constraint "turn" "lift" (pitch 0.0012732395447351628) (name "thread"))
  (joint-force "turn" "torque" (name "hand"))
  (initial ("turn" 0) ("lift" 0)))
