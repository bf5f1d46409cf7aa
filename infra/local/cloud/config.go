package cloud

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/stackwright/stackwright/infra/local/gateway"
)

// Host is the name under which SDK clients of this process reach the cloud, without a socket. Names in .localhost
// always belong to this machine: RFC 6761.
const Host = "stackwright.localhost"

// Config configures SDK clients in this process. Each client uses the cloud, or, if AWS_ENDPOINT_URL_<SERVICE> is set,
// that endpoint, with the credentials of the environment if there are any. It is made literally:
// config.LoadDefaultConfig would read the user's own profiles, and refuses a custom client if AWS_CA_BUNDLE is set.
func (c *Cloud) Config() aws.Config {
	return aws.Config{
		Region:        c.opts.Region,
		BaseEndpoint:  aws.String("https://" + Host),
		Credentials:   aws.NewCredentialsCache(credentials.NewStaticCredentialsProvider(c.credentials())),
		HTTPClient:    &http.Client{Transport: c.transport, CheckRedirect: noRedirects},
		ConfigSources: []any{overrides{c.opts.Getenv}},
	}
}

// ConfigAt is Config for functions: their requests go to the URL at which the cloud is served, though without a socket, so
// that others can use the URLs that they sign.
func (c *Cloud) ConfigAt(url string) aws.Config {
	cfg, way := c.Config(), c.transport
	way.served = strings.TrimPrefix(url, "http://")
	cfg.BaseEndpoint, cfg.HTTPClient = &url, &http.Client{Transport: way, CheckRedirect: noRedirects}
	return cfg
}

func noRedirects(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (c *Cloud) credentials() (id, secret, token string) {
	id, secret = c.opts.Getenv("AWS_ACCESS_KEY_ID"), c.opts.Getenv("AWS_SECRET_ACCESS_KEY")
	if id == "" || secret == "" {
		return "local", "local", ""
	}
	return id, secret, c.opts.Getenv("AWS_SESSION_TOKEN")
}

// overrides makes the SDK read AWS_ENDPOINT_URL_<SERVICE>, and nothing else of the environment.
type overrides struct{ getenv func(string) string }

// GetServiceBaseEndpoint implements what aws-sdk-go-v2/internal/configsources searches for.
func (o overrides) GetServiceBaseEndpoint(_ context.Context, sdkID string) (string, bool, error) {
	url := o.getenv("AWS_ENDPOINT_URL_" + strings.ReplaceAll(strings.ToUpper(sdkID), " ", "_"))
	return url, url != "", nil
}

// GetIgnoreConfiguredEndpoints implements what aws-sdk-go-v2/internal/configsources searches for.
func (o overrides) GetIgnoreConfiguredEndpoints(context.Context) (value, found bool, err error) {
	text := o.getenv("AWS_IGNORE_CONFIGURED_ENDPOINT_URLS")
	return strings.EqualFold(text, "true"), text != "", nil
}

// passed are the variables that functions in processes of their own need to find the same endpoints.
var passed = []string{
	"AWS_IGNORE_CONFIGURED_ENDPOINT_URLS", "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL_CLOUDFORMATION",
	"AWS_ENDPOINT_URL_SFN", "AWS_ENDPOINT_URL_EVENTBRIDGE", "AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL_LAMBDA", "AWS_ENDPOINT_URL_SCHEDULER",
	"AWS_ENDPOINT_URL_AUTO_SCALING", "AWS_ENDPOINT_URL_RDS", "AWS_ENDPOINT_URL_CLOUDWATCH", "AWS_ENDPOINT_URL_ECR", "AWS_ENDPOINT_URL_SECRETS_MANAGER",
	"AWS_ENDPOINT_URL_SNS", "AWS_ENDPOINT_URL_ORGANIZATIONS", "AWS_ENDPOINT_URL_SSM", "AWS_ENDPOINT_URL_ECS", "AWS_ENDPOINT_URL_EC2", "AWS_ENDPOINT_URL_REDSHIFT", "AWS_ENDPOINT_URL_SAGEMAKER",
}

// Environ is the environment in which config.LoadDefaultConfig of another process gives the same as Config here;
// endpoint is where this cloud is served.
func (c *Cloud) Environ(endpoint string) []string {
	id, secret, token := c.credentials()
	env := []string{
		"AWS_ENDPOINT_URL=" + endpoint, "AWS_REGION=" + c.opts.Region, "AWS_DEFAULT_REGION=" + c.opts.Region,
		"AWS_ACCESS_KEY_ID=" + id, "AWS_SECRET_ACCESS_KEY=" + secret,
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=" + os.DevNull, "AWS_SHARED_CREDENTIALS_FILE=" + os.DevNull,
	}
	if token != "" {
		env = append(env, "AWS_SESSION_TOKEN="+token)
	}
	secure := false
	for _, name := range passed {
		if value := c.opts.Getenv(name); value != "" {
			env = append(env, name+"="+value)
			secure = secure || strings.HasPrefix(value, "https:")
		}
	}
	if bundle := c.opts.Getenv("AWS_CA_BUNDLE"); secure && bundle != "" {
		env = append(env, "AWS_CA_BUNDLE="+bundle)
	}
	return env
}

// transport sends requests for Host to the cloud, and all others over the network.
type transport struct {
	local   http.RoundTripper
	served  string // a host and port of the cloud; may be empty
	foreign func() (http.RoundTripper, error)
}

func newTransport(c *Cloud) transport {
	return transport{
		local:   gateway.Transport{Handler: c, Latency: c.opts.Latency},
		foreign: sync.OnceValues(func() (http.RoundTripper, error) { return network(c.opts.Getenv("AWS_CA_BUNDLE")) }),
	}
}

func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if host := r.URL.Hostname(); host == Host || strings.HasSuffix(host, "."+Host) || r.URL.Host == t.served {
		return t.local.RoundTrip(r)
	}
	foreign, err := t.foreign()
	if err != nil {
		return nil, err
	}
	return foreign.RoundTrip(r)
}

// network connects to other endpoints. Names below localhost, such as those of buckets, resolve to this machine.
func network(bundle string) (http.RoundTripper, error) {
	base, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return nil, errors.New("reach another endpoint: http.DefaultTransport was replaced by something that cannot be copied")
	}
	way := base.Clone()
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	way.DialContext = func(ctx context.Context, kind, address string) (net.Conn, error) {
		if host, port, err := net.SplitHostPort(address); err == nil && strings.HasSuffix(host, ".localhost") {
			address = net.JoinHostPort("localhost", port)
		}
		return dialer.DialContext(ctx, kind, address)
	}
	if bundle == "" {
		return way, nil
	}
	pem, err := os.ReadFile(bundle)
	if err != nil {
		return nil, fmt.Errorf("read AWS_CA_BUNDLE: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read AWS_CA_BUNDLE: no certificate in %s", bundle)
	}
	way.TLSClientConfig = way.TLSClientConfig.Clone()
	way.TLSClientConfig.RootCAs = pool
	return way, nil
}
