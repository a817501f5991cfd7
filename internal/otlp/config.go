package otlp

import (
	"cmp"
	"errors"
	"net/url"
	"strconv"
	"strings"
	"time"

	"opentabs/internal/version"
)

// Config configures the export of traces. ReadConfig reads a Config from the environment
// variables of OpenTelemetry
// (https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/).
type Config struct {
	// Endpoint is the URL to which opentabs posts traces, such as
	// http://127.0.0.1:4318/v1/traces.
	Endpoint string
	Headers  map[string]string
	Timeout  time.Duration
	// Resource contains the OpenTelemetry resource attributes of opentabs, such as
	// service.name.
	Resource map[string]string
}

// ReadConfig reads the configuration from environment variables. The result ok is false if no
// endpoint for traces is set, or if an environment variable disables traces. An error names
// the invalid environment variable and its valid values.
func ReadConfig(getenv func(string) string) (c Config, ok bool, err error) {
	read := func(name string) string {
		return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	c.Endpoint = getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); c.Endpoint == "" && base != "" {
		c.Endpoint = strings.TrimRight(base, "/") + "/v1/traces"
	}
	exporter := getenv("OTEL_TRACES_EXPORTER")
	if c.Endpoint == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || exporter != "" && exporter != "otlp" {
		return Config{}, false, nil
	}
	if u, err := url.Parse(c.Endpoint); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return Config{}, false, errors.New("the endpoint of OTEL_EXPORTER_OTLP_ENDPOINT is not a URL with http:// or https://; no traces are sent")
	}
	if protocol := read("PROTOCOL"); protocol == "grpc" {
		return Config{}, false, errors.New("OTEL_EXPORTER_OTLP_PROTOCOL is grpc, but opentabs sends http/json; no traces are sent. Set OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json and an endpoint for HTTP, usually on port 4318")
	}
	c.Timeout = 10 * time.Second
	if ms, err := strconv.Atoi(read("TIMEOUT")); err == nil && ms > 0 {
		c.Timeout = time.Duration(ms) * time.Millisecond
	}
	c.Headers = readPairs(read("HEADERS"))
	c.Resource = readPairs(getenv("OTEL_RESOURCE_ATTRIBUTES"))
	c.Resource["service.version"] = version.Version
	if name := cmp.Or(getenv("OTEL_SERVICE_NAME"), c.Resource["service.name"], "opentabs"); name != "" {
		c.Resource["service.name"] = name
	}
	return c, true, nil
}

// EndpointWithoutPassword returns the endpoint with a masked password, for log messages.
func (c Config) EndpointWithoutPassword() string {
	u, err := url.Parse(c.Endpoint)
	if err != nil {
		return ""
	}
	return u.Redacted()
}

func readPairs(pairsText string) map[string]string {
	pairs := map[string]string{}
	for entry := range strings.SplitSeq(pairsText, ",") {
		name, value, ok := strings.Cut(entry, "=")
		if !ok {
			continue
		}
		if decodedValue, err := url.PathUnescape(strings.TrimSpace(value)); err == nil {
			pairs[strings.TrimSpace(name)] = decodedValue
		}
	}
	return pairs
}
