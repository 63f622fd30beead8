# The public names, and where they live: `__init__.py` loads them from here.
from lowdim.subspace._cluster import SubspaceCluster as SubspaceCluster
from lowdim.subspace._measures import SubspaceScores as SubspaceScores
from lowdim.subspace._measures import scores as scores
from lowdim.subspace._planted import PlantedClusters as PlantedClusters
from lowdim.subspace._planted import planted_clusters as planted_clusters
from lowdim.subspace.clique import CLIQUE as CLIQUE
from lowdim.subspace.doc import DOC as DOC
from lowdim.subspace.mineclus import MineClus as MineClus
from lowdim.subspace.pcluster import PCluster as PCluster
from lowdim.subspace.proclus import PROCLUS as PROCLUS
from lowdim.subspace.subclu import SUBCLU as SUBCLU
