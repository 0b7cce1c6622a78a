package middle

import _ "agentwrap/cmd/program"
