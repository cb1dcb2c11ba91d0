//go:build unix

// Command keeper runs a throw-away PostgreSQL cluster for as long as its standard
// input stays open, then stops it and removes its files. Tests start it with their
// end of a pipe: the pipe closes when the test binary ends, killed or not.
//
// Its argument is the folder of PostgreSQL's programs. It prints one line: "ready"
// and the cluster's address, or why there is no cluster. PostgreSQL refuses to run
// as root, so root's keeper runs it as the user postgres or nobody.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: keeper FOLDER-OF-POSTGRESQL-PROGRAMS")
		os.Exit(2)
	}
	if err := keep(os.Args[1], os.Stdin, os.Stdout); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

// keep starts a cluster, says where it listens, and holds it until in ends.
func keep(bin string, in io.Reader, out io.Writer) (err error) {
	// The test binary's end can bring these, and the cleaning up comes after it.
	held := make(chan os.Signal, 1)
	signal.Notify(held, syscall.SIGINT, syscall.SIGHUP, syscall.SIGTERM, syscall.SIGPIPE)

	account, err := serverAccount()
	if err != nil {
		return err
	}
	c, err := newCluster(bin, account)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.remove()) }()
	if err := c.start(); err != nil {
		return err
	}
	defer c.stop()
	fmt.Fprintln(out, "ready", c.address())
	_, err = io.Copy(io.Discard, in)
	return err
}
