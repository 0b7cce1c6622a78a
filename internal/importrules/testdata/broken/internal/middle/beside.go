package middle

import _ "agentwrap/internal/peer"
