"""Benchmarks beside other packages: what they report, how they are run one after the other, and the report of all."""

from symplectree.bench.report import Column, Report, Table, ratio, report_parser

__all__ = ["Column", "Report", "Table", "ratio", "report_parser"]
