// Modules that the sandbox only reads files from (CRDs, KWOK stages). Nothing is built here: go.sum says what their contents must be.
module accelerators.openshift/sandbox/modules

go 1.26.0
