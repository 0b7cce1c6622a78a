package middle

import _ "agentwrap/internal/low"
