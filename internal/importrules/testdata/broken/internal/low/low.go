package low
