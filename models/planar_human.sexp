; The planar human of Johnson and Murphey 2009, Fig. 2: a tree that begins with two slides and a turn of the pelvis and branches
; into legs, trunk, arms and head. It moves in the x-y plane, y upwards, and is seen from the side.
; 1.8 m, 73 kg; each part is a uniform rod. Springs (muscles) hold it a little bent. Its hands hold on to two rungs of a
; ladder 0.5 m apart overhead, which closes a loop through both arms.
(system
  (gravity 0 -9.81 0)
  (tx "x"
    (ty "y"
      (rz "pelvis" (name "pelvis") (mass 11 0.06 0.06 0.06)

        (rz "hip 1" (name "thigh 1")
          (ty -0.225 (mass 8 0.135 0 0.135))
          (ty -0.45
            (rz "knee 1" (name "shank 1")
              (ty -0.225 (mass 4 0.068 0 0.068))
              (ty -0.45 (name "foot 1")
                (tx 0.2 (name "toe 1"))))))

        (rz "hip 2" (name "thigh 2")
          (ty -0.225 (mass 8 0.135 0 0.135))
          (ty -0.45
            (rz "knee 2" (name "shank 2")
              (ty -0.225 (mass 4 0.068 0 0.068))
              (ty -0.45 (name "foot 2")
                (tx 0.2 (name "toe 2"))))))

        (rz "waist" (name "trunk")
          (ty 0.25 (mass 24 0.5 0 0.5))
          (ty 0.5 (name "shoulders")

            (rz "shoulder 1" (name "upper arm 1")
              (ty 0.15 (mass 2.5 0.019 0 0.019))
              (ty 0.3
                (rz "elbow 1" (name "forearm 1")
                  (ty 0.15 (mass 2 0.015 0 0.015))
                  (ty 0.3 (name "hand 1")))))

            (rz "shoulder 2" (name "upper arm 2")
              (ty 0.15 (mass 2.5 0.019 0 0.019))
              (ty 0.3
                (rz "elbow 2" (name "forearm 2")
                  (ty 0.15 (mass 2 0.015 0 0.015))
                  (ty 0.3 (name "hand 2")))))

            (rz "neck" (name "neck")
              (ty 0.2 (name "head") (mass 5 0.02 0.02 0.02))))))))

  (frame "rung 1" (at -0.25 2.3 0))
  (frame "rung 2" (at 0.25 2.3 0))
  (point-constraint "hand 1" "rung 1" "xy" (name "grip 1"))
  (point-constraint "hand 2" "rung 2" "xy" (name "grip 2"))

  (joint-spring "hip 1" 120 (rest 0.3))
  (joint-spring "hip 2" 120 (rest 0.3))
  (joint-spring "knee 1" 80 (rest -0.4))
  (joint-spring "knee 2" 80 (rest -0.4))
  (joint-spring "waist" 500)
  (joint-spring "neck" 80)
  (joint-spring "elbow 1" 400 (rest -1))
  (joint-spring "elbow 2" 400 (rest -1))

  ; the legs are drawn up in front and let go; the hands are on the rungs to a millimetre, the rest is for st.assemble
  (initial ("x" 0.035) ("y" 1.307) ("pelvis" 0.167) ("waist" -0.133) ("neck" -0.1)
    ("hip 1" 1.2) ("knee 1" -0.9) ("hip 2" 0.4) ("knee 2" -0.6)
    ("shoulder 1" 0.826) ("elbow 1" -0.724) ("shoulder 2" -0.042) ("elbow 2" -0.864)))
