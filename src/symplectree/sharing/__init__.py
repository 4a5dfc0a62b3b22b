"""Coordinates that several joints share, q_i = q_i(q) (GL09 section 5, Fig. 5(d)): followers are none of the model's own.

`Constraint`s with `eliminate=True` say which: q_f = φ(q_l), with φ affine (`GearConstraint`, `ScrewConstraint`) or any
function (`CamConstraint`). The core runs the tree with all coordinates and with these constraints as rows; here is the
boundary on which q, v and p become those of the independent coordinates:

| file | what |
| --- | --- |
| `followers` | who follows whom, checked, and the model of the independent coordinates |
| `rotors` | coordinates that move no mass by themselves |
| `spread` | the map q ↦ q_full and its derivatives |
| `core` | what the core offers of a model (`Model.native`), in independent coordinates |
| `derivatives` | exact derivatives through the map |
| `runs` | integrations |
| `linearizer` | derivatives of a step |
"""
