; A cam that turns about y lifts a follower with a flat face along z by 12 mm, against a spring.
; Where the contact force, which is the constraint's multiplier, would pull, a real follower lifts off.
(system
  (gravity 0 0 -9.81)
  (link "cam" (revolute "cam" (axis "y"))
    (mass 0.8) (inertia 0.0003 0.0006 0.0003))
  (link "follower" (prismatic "lift" (axis "z"))
    (mass 0.3)
    (frame "face 1" (at -0.015 0 0))
    (frame "face 2" (at 0.015 0 0))
    (frame "spring seat" (at 0 0 0.05)))
  (cam-constraint "cam" "lift"
    (profile (formula a (+ 0.02 (* 0.003 (^ (- 1 (cos a)) 2)))))
    (name "contact"))
  (joint-spring "lift" 4000 (rest 0.008))
  (initial ("cam" 0) ("lift" 0.02)))
