from headwater._streams import ENGINES as ENGINES
from headwater._streams import Array as Array
from headwater._streams import Elements as Elements
from headwater._streams import Key as Key
from headwater._streams import Permutation as Permutation
from headwater._streams import Stream as Stream
