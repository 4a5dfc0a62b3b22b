; Andrews' squeezing mechanism: seven bodies in the x-y plane, in three loops that meet in one point E; a motor of
; 0.033 N·m turns K1, a spring pulls at K3. Names of bodies, angles and points, and all numbers as in Hairer and Wanner,
; Solving Ordinary Differential Equations II, section VII.7, and in the test set for IVP solvers, which gives the angles
; at 0.03 s.
(system
  (gravity 0 0 0)
  (link "K1" (revolute "beta" (axis "z"))
    (mass 0.04325) (com 0.00092 0 0) (inertia 1.097e-6 1.097e-6 2.194e-6)
    (link "K2" (revolute "theta" (axis "z")) (at 0.007 0 0)
      (mass 0.00365) (com -0.0115 0 0) (inertia 2.205e-7 2.205e-7 4.41e-7)
      (frame "E" (at -0.028 0 0))))
  (link "K3" (revolute "gamma" (axis "z")) (at -0.03635 0.03273 0)
    (mass 0.02373) (com 0.01043 -0.01874 0) (inertia 2.6275e-6 2.6275e-6 5.255e-6)
    (frame "E of K3" (at 0 -0.035 0))
    (frame "D" (at 0.02 -0.018 0)))
  (link "K5" (revolute "delta" (axis "z")) (at -0.06934 -0.00227 0)
    (mass 0.0705) (com 0.02308 0.00916 0) (inertia 5.845e-6 5.845e-6 1.169e-5)
    (link "K4" (revolute "phi" (axis "z")) (at 0.04 0 0)
      (mass 0.00706) (com 0 -0.00579 0) (inertia 2.8335e-7 2.8335e-7 5.667e-7)
      (frame "E of K4" (at 0 -0.02 0))))
  (link "K7" (revolute "epsilon" (axis "z")) (at -0.06934 -0.00227 0)
    (mass 0.05498) (com -0.00449 -0.01228 0) (inertia 9.56e-6 9.56e-6 1.912e-5)
    (link "K6" (revolute "omega" (axis "z")) (at 0 -0.04 0)
      (mass 0.00706) (com 0.00579 0 0) (inertia 2.8335e-7 2.8335e-7 5.667e-7)
      (frame "E of K6" (at 0.02 0 0))))
  (frame "C" (at 0.014 0.072 0))
  (point-constraint "E" "E of K3" "xy" (name "loop of K3"))
  (point-constraint "E" "E of K4" "xy" (name "loop of K4"))
  (point-constraint "E" "E of K6" "xy" (name "loop of K6"))
  (spring "C" "D" (stiffness 4530) (length 0.07785))
  (joint-force "beta" 0.033)
  (initial
    ("beta" -0.0617138900142764496) ("theta" 0) ("gamma" 0.455279819163070380) ("delta" 0.487364979543842550)
    ("phi" 0.222668390165885885) ("epsilon" 1.23054744454982119) ("omega" -0.222668390165885885)))
