package peer

import _ "agentwrap/internal/middle"
