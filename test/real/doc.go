// Package real drives the real agent CLIs, alone and through the shim. Its tests carry the build tag real:
//
//	go test -tags real ./test/real/...
package real
