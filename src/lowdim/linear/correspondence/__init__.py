"""Correspondence analysis and its relatives: tables of counts, of categories, and of numbers and categories."""
