package measure_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/bossman-mcp/bossman/bench/measure"
)

func needLinux(t *testing.T) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("processes are measured on Linux only")
	}
}

func TestProcessorTimeGrowsWithWorkAndNotWithSleep(t *testing.T) {
	needLinux(t)
	cpu := func() time.Duration {
		used, err := measure.CPU(os.Getpid())
		if err != nil {
			t.Fatal(err)
		}
		return used
	}
	start := cpu()
	time.Sleep(50 * time.Millisecond)
	asleep := cpu() - start
	start = cpu()
	for cpu()-start < 100*time.Millisecond { // ends only if work counts
	}
	if asleep > 40*time.Millisecond {
		t.Errorf("50 ms of sleep took %v of processor time", asleep)
	}
	if _, err := measure.CPU(1 << 22); err == nil {
		t.Error("a process that does not exist has a clock")
	}
}

func TestMemoryGrowsWithWhatIsTouched(t *testing.T) {
	needLinux(t)
	before, err := measure.MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 32<<20)
	for i := 0; i < len(block); i += 4096 {
		block[i] = 1
	}
	after, err := measure.MemoryOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	runtime.KeepAlive(block)
	if grown := after.Now - before.Now; grown < 24<<20 || after.Peak < after.Now {
		t.Errorf("32 MiB made the process grow by %d bytes, to a peak of %d", grown, after.Peak)
	}
}

func TestTheMachineIsDescribed(t *testing.T) {
	m := measure.ThisMachine()
	if m.Cores < 1 || m.Go != runtime.Version() || m.System != runtime.GOOS+"/"+runtime.GOARCH {
		t.Errorf("got %+v", m)
	}
}
