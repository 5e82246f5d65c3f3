// Command stressors is three small programs that the image of Chaos Mesh's daemon brings, and that are not to be had as
// Go modules. The name by which it is called says which one it is, and the daemon's source what it has to do:
//
//	pause PROGRAM ARGUMENT…             waits for SIGCONT, and becomes the program (pkg/bpm/build_linux.go)
//	nsexec [-l] -p NAMESPACE -- COMMAND  runs a command in a PID namespace, and ends with it
//	memStress --size SIZE --workers N    keeps so much memory in use
package main

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
)

const (
	setns    = 308 // the number of the system call on amd64
	setnsArm = 268
	pidSpace = 0x20000000
	pageSize = 4096
	// child is the name by which nsexec calls itself in the other namespace.
	child      = "nsexec-child"
	parentDies = 1 // PR_SET_PDEATHSIG
)

func main() {
	log.SetFlags(0)
	programs := map[string]func([]string) error{"pause": pause, "nsexec": enter, child: follow, "memStress": fill}
	name := filepath.Base(os.Args[0])
	if programs[name] == nil {
		log.Fatalf("%s: call it pause, nsexec or memStress", name)
	}
	err := programs[name](os.Args[1:])
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		os.Exit(ended.ExitCode())
	}
	if err != nil {
		log.Fatalf("%s: %v", name, err)
	}
}

func pause(arguments []string) error {
	resumed := make(chan os.Signal, 1)
	signal.Notify(resumed, syscall.SIGCONT)
	<-resumed
	if len(arguments) == 0 {
		return errors.New("no program")
	}
	path, err := exec.LookPath(arguments[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, arguments, os.Environ())
}

// enter runs a command in another PID namespace, which only a child can be in. Whoever ends this process ends it, too.
func enter(arguments []string) error {
	var space string
	for len(arguments) > 0 && arguments[0] != "--" {
		switch {
		case arguments[0] == "-l":
		case arguments[0] == "-p" && len(arguments) > 1:
			space, arguments = arguments[1], arguments[1:]
		default:
			return fmt.Errorf("%s: only -l and -p NAMESPACE are known", arguments[0])
		}
		arguments = arguments[1:]
	}
	if len(arguments) < 2 || space == "" {
		return errors.New("expected -p NAMESPACE -- COMMAND")
	}
	runtime.LockOSThread() // The namespace is that of a thread, and so of what it starts.
	file, err := os.Open(space)
	if err != nil {
		return err
	}
	number := uintptr(setns)
	if runtime.GOARCH == "arm64" {
		number = setnsArm
	}
	if _, _, failed := syscall.RawSyscall(number, file.Fd(), pidSpace, 0); failed != 0 {
		return fmt.Errorf("%s: %w", space, failed)
	}
	own, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command(own, arguments[1:]...)
	command.Args[0] = child
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	if err := command.Start(); err != nil {
		return err
	}
	told := make(chan os.Signal, 4)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	go func() {
		for received := range told {
			_ = command.Process.Signal(received)
		}
	}()
	return command.Wait()
}

// follow becomes a command that ends with its parent. SysProcAttr.Pdeathsig is no way to say so: Go compares the parent's
// number, which a child in another PID namespace sees as 0, and ends the child.
func follow(arguments []string) error {
	runtime.LockOSThread()
	if _, _, failed := syscall.RawSyscall(syscall.SYS_PRCTL, parentDies, uintptr(syscall.SIGKILL), 0); failed != 0 {
		return failed
	}
	path, err := exec.LookPath(arguments[0])
	if err != nil {
		return err
	}
	return syscall.Exec(path, arguments, os.Environ())
}

// fill takes memory, page by page, and keeps it until it is ended. Each worker takes all of the size.
func fill(arguments []string) error {
	size, workers := 0, 1
	for len(arguments) > 1 {
		var err error
		switch arguments[0] {
		case "--size":
			size, err = parseSize(arguments[1])
		case "--workers":
			workers, err = strconv.Atoi(arguments[1])
		}
		if err != nil {
			return err
		}
		arguments = arguments[2:]
	}
	if size <= 0 || workers < 1 || workers > 64 {
		return errors.New("expected --size SIZE and --workers 1 to 64")
	}
	var kept [][]byte
	for range workers {
		taken := make([]byte, size)
		for at := 0; at < len(taken); at += pageSize {
			taken[at] = 1
		}
		kept = append(kept, taken)
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM, syscall.SIGINT)
	<-told
	runtime.KeepAlive(kept)
	return nil
}

func parseSize(text string) (int, error) {
	units := []struct {
		name  string
		bytes int
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"B", 1}, {"", 1}}
	for _, unit := range units {
		if number, found := strings.CutSuffix(text, unit.name); found {
			value, err := strconv.Atoi(strings.TrimSpace(number))
			return value * unit.bytes, err
		}
	}
	return 0, fmt.Errorf("%q is no size", text)
}
