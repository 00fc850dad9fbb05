module palladion.dev/testbed/forward

go 1.24.0
