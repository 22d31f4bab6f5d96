// The sandbox only reads files from these modules (CRDs, KWOK stages), and builds nothing. go.sum pins
// their contents.
module accelerators.openshift/sandbox/modules

go 1.26.0
