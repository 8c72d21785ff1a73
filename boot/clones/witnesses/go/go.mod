module witness

go 1.21
