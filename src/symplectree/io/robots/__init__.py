"""Robots from URDF and MJCF: one idea per file, driven by `symplectree.io.robot_xml`."""
