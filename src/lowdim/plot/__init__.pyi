# The public names, and where they live: `__init__.py` loads them from here.
from lowdim.plot._biplot import biplot as biplot
from lowdim.plot._biplot import biplot_coordinates as biplot_coordinates
from lowdim.plot._biplot import loadings as loadings
from lowdim.plot._colors import palette as palette
from lowdim.plot._eigenimages import eigenimages as eigenimages
from lowdim.plot._html_page import page as page
from lowdim.plot._scatter import density as density
from lowdim.plot._scatter import scatter as scatter
from lowdim.plot._scree import scree as scree
from lowdim.plot._selection import feature_scores as feature_scores
from lowdim.plot._selection import rankings as rankings
from lowdim.plot._selection import selection_path as selection_path
from lowdim.plot._shepard import shepard as shepard
from lowdim.plot._theme import save as save
