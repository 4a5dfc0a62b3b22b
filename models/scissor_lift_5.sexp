; The scissor lift of Johnson and Murphey 2009, Fig. 9 and 10, with five segments. It hangs in the x-z plane: the upper left
; joint is pinned, the upper right one slides along x. Each link is 1 m long, with 1 kg in its middle and m L²/12; the slider
; has 1 kg. Two chains zigzag down, "left" from the pin and "right" from the slider, and cross in the middles of their links.
; All loops together leave one degree of freedom, the angle "left1" below the horizontal, which starts at 0.4 rad.
(system
  (gravity 0 0 -9.81)
  (ry "left1" (name "left1")
    (tx 0.5 (name "left middle 1") (mass 1 0 0.08333333333333333 0.08333333333333333))
    (tx 1
      (ry "left2" (name "left2")
        (tx 0.5 (name "left middle 2") (mass 1 0 0.08333333333333333 0.08333333333333333))
        (tx 1
          (ry "left3" (name "left3")
            (tx 0.5 (name "left middle 3") (mass 1 0 0.08333333333333333 0.08333333333333333))
            (tx 1
              (ry "left4" (name "left4")
                (tx 0.5 (name "left middle 4") (mass 1 0 0.08333333333333333 0.08333333333333333))
                (tx 1
                  (ry "left5" (name "left5")
                    (tx 0.5 (name "left middle 5") (mass 1 0 0.08333333333333333 0.08333333333333333))
                    (tx 1 (name "left end")))))))))))
  (tx "slider" (name "slider") (mass 1)
    (ry "right1" (name "right1")
      (tx 0.5 (name "right middle 1") (mass 1 0 0.08333333333333333 0.08333333333333333))
      (tx 1
        (ry "right2" (name "right2")
          (tx 0.5 (name "right middle 2") (mass 1 0 0.08333333333333333 0.08333333333333333))
          (tx 1
            (ry "right3" (name "right3")
              (tx 0.5 (name "right middle 3") (mass 1 0 0.08333333333333333 0.08333333333333333))
              (tx 1
                (ry "right4" (name "right4")
                  (tx 0.5 (name "right middle 4") (mass 1 0 0.08333333333333333 0.08333333333333333))
                  (tx 1
                    (ry "right5" (name "right5")
                      (tx 0.5 (name "right middle 5") (mass 1 0 0.08333333333333333 0.08333333333333333))
                      (tx 1 (name "right end"))))))))))))
  (point-constraint "left middle 1" "right middle 1" "xz" (name "cross1"))
  (point-constraint "left middle 2" "right middle 2" "xz" (name "cross2"))
  (point-constraint "left middle 3" "right middle 3" "xz" (name "cross3"))
  (point-constraint "left middle 4" "right middle 4" "xz" (name "cross4"))
  (point-constraint "left middle 5" "right middle 5" "xz" (name "cross5"))
  ; at 0.4 rad each link turns by pi - 0.8 against the one above, in turn to either side
  (initial
    ("left1" 0.4) ("left2" 2.3415926535897933)
    ("left3" -2.3415926535897933) ("left4" 2.3415926535897933) ("left5" -2.3415926535897933)
    ("slider" 0.9210609940028851)
    ("right1" 2.741592653589793) ("right2" -2.3415926535897933)
    ("right3" 2.3415926535897933) ("right4" -2.3415926535897933) ("right5" 2.3415926535897933)))
