package cli

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/streamable"
)

// writeCertificate makes a certificate for this machine and returns its files and
// a pool that trusts it.
func writeCertificate(t *testing.T) (cert, key string, pool *x509.CertPool) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "bossman test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for name, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return cert, key, pool
}

func TestTheServerSpeaksTLS(t *testing.T) {
	cert, key, pool := writeCertificate(t)
	f := &httpFlags{cert: cert, key: key}
	config, err := f.tlsConfig()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	hello := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "over TLS") })
	srv := streamable.NewServer("", hello)
	srv.TLSConfig = config
	ctx, stop := interruptible(t.Context())
	done := make(chan error, 1)
	go func() { done <- streamable.Run(ctx, l, srv, streamable.Handler(f.server(nil, nil), nil)) }()

	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
	res, err := (&http.Client{Transport: transport}).Get("https://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if string(body) != "over TLS" || res.ProtoMajor != 1 {
		t.Errorf("%s %s", res.Proto, body)
	}
	transport.CloseIdleConnections()
	stop()
	if err := <-done; err != nil {
		t.Errorf("Run: %v", err)
	}
}

func TestHalfACertificateIsAMistake(t *testing.T) {
	f := &httpFlags{cert: "cert.pem"}
	if _, err := f.tlsConfig(); err == nil || !strings.Contains(err.Error(), "go together") {
		t.Errorf("a certificate without a key: %v", err)
	}
}
