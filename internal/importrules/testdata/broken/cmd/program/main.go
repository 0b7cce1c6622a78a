package main

import _ "agentwrap/internal/middle"
