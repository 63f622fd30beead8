"""Several methods on one table, side by side: `lowdim.compare`, and its one-page report.

`compare` fits the methods, which share the standardized rows and one neighbor graph, and measures their maps;
`MethodComparison` holds what came out; `page_data`, `page_figures` and `page_sections` make the report of it, whose
scripts, style and template lie in `assets/`. Imports `plot`, `choose`, `quality` and below.
"""
