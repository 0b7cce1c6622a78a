package middle

import _ "agentwrap/internal/nowhere"
