package load

import (
	"os"
	"sync"
	"time"
)

// sink writes on a goroutine of its own, for requests so large that the server
// may stop reading them until its answers are read.
type sink struct {
	f       *os.File
	batches chan []byte
	free    chan []byte
	done    chan struct{}
	mu      sync.Mutex
	err     error
}

func newSink(f *os.File) *sink {
	s := &sink{f: f, batches: make(chan []byte, 1024), free: make(chan []byte, 1024), done: make(chan struct{})}
	go func() { // stop waits for it
		defer close(s.done)
		for b := range s.batches {
			if _, err := f.Write(b); err != nil {
				s.mu.Lock()
				s.err = err
				s.mu.Unlock()
			}
			select {
			case s.free <- b:
			default:
			}
		}
	}()
	return s
}

func (s *sink) write(b []byte) error {
	var own []byte
	select {
	case own = <-s.free:
	default:
	}
	s.batches <- append(own[:0], b...)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// stop gives up what is not written yet, which is nothing once all is answered.
func (s *sink) stop() {
	close(s.batches)
	_ = s.f.SetWriteDeadline(time.Now())
	<-s.done
	_ = s.f.SetWriteDeadline(time.Time{})
}
