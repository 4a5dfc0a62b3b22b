; A four-bar linkage in the x-z plane, a crank-rocker: crank 0.2 m, coupler 0.5 m, rocker 0.4 m, 0.45 m between the
; bearings. The crank turns fully, the rocker swings. Uniform bars of 1 kg/m; coupler point P traces the coupler curve.
; The crank starts level, pointing away from the rocker's bearing.
(system
  (gravity 0 0 -9.81)
  (link "crank" (revolute "crank" (axis "y"))
    (mass 0.2) (com 0.1 0 0) (inertia 0 0.0006666666666666667 0.0006666666666666667)
    (link "coupler" (revolute "joint" (axis "y")) (at 0.2 0 0)
      (mass 0.5) (com 0.25 0 0) (inertia 0 0.010416666666666666 0.010416666666666666)
      (frame "P" (at 0.25 0 0.15))
      (frame "coupler end" (at 0.5 0 0))))
  (link "rocker" (revolute "rocker" (axis "y")) (at 0.45 0 0)
    (mass 0.4) (com 0.2 0 0) (inertia 0 0.005333333333333333 0.005333333333333333)
    (frame "rocker end" (at 0.4 0 0)))
  (point-constraint "coupler end" "rocker end" "xz" (name "loop"))
  ; angles about y go from x to -z: the coupler and the rocker stand above the line of bearings
  (initial ("crank" 3.141592653589793) ("joint" -3.8040852298887935) ("rocker" -2.2645439915933925)))
