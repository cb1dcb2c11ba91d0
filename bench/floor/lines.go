package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// serveLines answers each line with one write, until input ends.
func serveLines(c *canned) error {
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	var later sync.WaitGroup // answers that sleep
	defer later.Wait()
	var long, out []byte
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, line...)
			continue
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if len(long) > 0 {
			long = append(long, line...)
			line = long
		}
		var r reply
		out, r = c.answer(out[:0], line)
		long = long[:0]
		if len(out) == 0 {
			continue
		}
		out = append(out, '\n')
		if r.delay > 0 {
			sleeping := append([]byte(nil), out...)
			later.Add(1)
			time.AfterFunc(r.delay, func() {
				defer later.Done()
				_, _ = os.Stdout.Write(sleeping) // a write is whole: files lock
			})
			continue
		}
		for i := range r.events {
			if _, err := fmt.Fprintf(os.Stdout, progress+"\n", i+1); err != nil {
				return err
			}
		}
		if _, err := os.Stdout.Write(out); err != nil {
			return err
		}
	}
}
