; A rattleback: an ellipsoid whose axes of inertia are turned against those of its shape (Kane and Levinson 1982).
; Spun one way it rattles, stops and turns back; spun the other way it goes on.
(system
  (gravity 0 0 -9.81)
  (link "rattleback" (free "rattleback") (mass 1) (com 0 0 -0.01)
    (inertia (0.0002 -2e-05 0) (-2e-05 0.0016 0) (0 0 0.0017)))
  (contact (a "stone") (b "table") (friction 1))
  (shape "rattleback" "ellipsoid" (size 0.2 0.03 0.02) (rgba 0.85 0.5 0.2 1) (name "stone"))
  (shape "world" "plane" (size 0 0) (name "table"))
  (initial ("rattleback" 0 0 0.02 1 0 0 0)))
