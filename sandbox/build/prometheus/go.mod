module accelerators.openshift/sandbox/prometheus

go 1.26.0

// The build copies the module of this version, without the plugins that find targets in clouds.
replace github.com/prometheus/prometheus => ../../../.build/src/prometheus

tool (
	github.com/prometheus/prometheus/cmd/prometheus
	github.com/prometheus/prometheus/cmd/promtool
)

require github.com/prometheus/prometheus v0.305.0
