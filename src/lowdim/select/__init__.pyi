# The one table of public names: `__init__.py` loads them from here, when they are first used.
from lowdim.select._boruta import Boruta as Boruta
from lowdim.select._compare import compare as compare
from lowdim.select._comparison import Comparison as Comparison
from lowdim.select._correlation import CorrelationPruning as CorrelationPruning
from lowdim.select._hsic_lasso import HSICLasso as HSICLasso
from lowdim.select._laplacian_score import LaplacianScore as LaplacianScore
from lowdim.select._mrmr import MRMR as MRMR
from lowdim.select._mutual_information import MutualInformation as MutualInformation
from lowdim.select._principal_features import PrincipalFeatureAnalysis as PrincipalFeatureAnalysis
from lowdim.select._relieff import SURF as SURF
from lowdim.select._relieff import MultiSURF as MultiSURF
from lowdim.select._relieff import ReliefF as ReliefF
from lowdim.select._rfe import RFE as RFE
from lowdim.select._sequential import SequentialSelection as SequentialSelection
from lowdim.select._stability import Stability as Stability
from lowdim.select._stability import stability as stability
from lowdim.select._univariate import ChiSquared as ChiSquared
from lowdim.select._univariate import FisherScore as FisherScore
from lowdim.select._univariate import FTest as FTest
from lowdim.select._univariate import VarianceThreshold as VarianceThreshold

_EXPORTS: dict[str, str]
