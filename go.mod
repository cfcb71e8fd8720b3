module github.com/quiverspark/quiver

go 1.26.0

require (
	github.com/apache/arrow-go/v18 v18.9.0 // indirect
	github.com/google/flatbuffers v25.12.19+incompatible // indirect
	github.com/klauspost/compress v1.20.4 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
)
