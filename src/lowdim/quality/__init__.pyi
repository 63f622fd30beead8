# The public names, and where they live: `__init__.py` loads them from here.
from lowdim.quality._co_ranking import CoRanking as CoRanking
from lowdim.quality._co_ranking import co_ranking as co_ranking
from lowdim.quality._evaluate import measure as measure
from lowdim.quality._evaluate import table as table
from lowdim.quality._measure import Measure as Measure
from lowdim.quality._null import NullComparison as NullComparison
from lowdim.quality._null import null as null
from lowdim.quality._quality import Quality as Quality
from lowdim.quality._quality_table import QualityTable as QualityTable
from lowdim.quality._rank_measures import RnxCurve as RnxCurve
from lowdim.quality._singularity import singularity as singularity
from lowdim.quality._stability import MapStability as MapStability
from lowdim.quality._stability import stability as stability
