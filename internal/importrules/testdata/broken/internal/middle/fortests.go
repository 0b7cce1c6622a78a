package middle

import _ "agentwrap/test/model"
