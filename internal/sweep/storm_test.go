package sweep

func stormOne() int { return 0 }
