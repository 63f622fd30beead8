# The one table of public names: `__init__.py` loads them from here, when they are first used.
from lowdim import choose as choose
from lowdim import errors as errors
from lowdim import kernels as kernels
from lowdim import plot as plot
from lowdim import select as select
from lowdim._build_info import config as config
from lowdim._build_info import show_config as show_config
from lowdim.base.standardized import Standardized as Standardized
from lowdim.data import datasets as datasets
from lowdim.data.io.read import read_table as read_table
from lowdim.data.io.write import write_table as write_table
from lowdim.data.table import Table as Table
from lowdim.diagnosis import diagnose as diagnose
from lowdim.kernel_pca.estimator import KernelPCA as KernelPCA
from lowdim.knn.graph import Graph as Graph
from lowdim.knn.index import NeighborIndex as NeighborIndex
from lowdim.knn.index import neighbors as neighbors
from lowdim.linear.pca import PCA as PCA
from lowdim.manifold.isomap.estimator import Isomap as Isomap
from lowdim.manifold.laplacian.estimator import LaplacianEigenmaps as LaplacianEigenmaps
from lowdim.manifold.lle.estimator import LLE as LLE
from lowdim.mds.classical import ClassicalMDS as ClassicalMDS
from lowdim.mds.metric import MDS as MDS
from lowdim.mds.nonmetric import NonmetricMDS as NonmetricMDS
from lowdim.neighbor_embedding.tsne.affinities import Affinities as Affinities
from lowdim.neighbor_embedding.tsne.estimator import TSNE as TSNE
from lowdim.neighbor_embedding.umap.estimator import UMAP as UMAP
from lowdim.persistence import load as load
from lowdim.persistence import save as save
from lowdim.registry import methods as methods
from lowdim.runtime.progress import Step as Step
from lowdim.runtime.progress import watch as watch
from lowdim.summaries.gram import Gram as Gram
from lowdim.summaries.gram import gram as gram
from lowdim.summaries.moments import Moments as Moments
from lowdim.summaries.moments import moments as moments

__version__: str
_EXPORTS: dict[str, str]
