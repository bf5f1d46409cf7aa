package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// The exit codes that are expected.
const (
	exitOK      = 0
	exitFailed  = 1
	exitWaiting = 4 // the run waits for an answer
	exitChanges = 5 // plan --exit-code: there are changes
)

// A stage is a copy of the project, and a server with a data folder of its own,
// both in a folder that is removed in the end.
type stage struct {
	program string
	folder  string
	project string // the copy
	data    string
	url     string
	server  *exec.Cmd
	first   record       // of the first deploy
	log     bytes.Buffer // what the server has to say
}

// open sets the stage.
func open(ctx context.Context, program, project string, seconds float64) (*stage, error) {
	if _, err := os.Stat(program); err != nil {
		return nil, fmt.Errorf("%w: run make build", err)
	}
	folder, err := os.MkdirTemp(filepath.Dir(program), "demo-")
	if err != nil {
		return nil, err
	}
	s := &stage{program: program, folder: folder, project: filepath.Join(folder, "shop"), data: filepath.Join(folder, "aws")}
	if err = os.CopyFS(s.project, os.DirFS(project)); err == nil {
		err = s.serve(ctx, seconds)
	}
	if err != nil {
		return nil, s.close(err)
	}
	return s, nil
}

// serve starts the server and waits until it says where it is.
func (s *stage) serve(ctx context.Context, seconds float64) error {
	cmd := s.command(ctx, "serve", "--listen", "127.0.0.1:0", "--seconds", fmt.Sprint(seconds), "-o", "json")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = &s.log
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", s.program, err)
	}
	s.server = cmd
	var greeting struct{ Endpoint string }
	if err := json.NewDecoder(out).Decode(&greeting); err != nil {
		return fmt.Errorf("%s serve does not say where it is: %w", s.program, err)
	}
	s.url = greeting.Endpoint
	return nil
}

// close stops the server and removes the folder. If the play went wrong, it
// passes on what the server had to say.
func (s *stage) close(played error) error {
	var err error
	if s.server != nil {
		// If it has ended already, Wait says how.
		_ = s.server.Process.Signal(os.Interrupt)
		if err = s.server.Wait(); err != nil {
			err = fmt.Errorf("serve: %w", err)
		}
	}
	if played != nil && s.log.Len() > 0 {
		err = errors.Join(err, fmt.Errorf("serve said:\n%s", &s.log))
	}
	return errors.Join(played, err, os.RemoveAll(s.folder))
}

// command is a call of the program on the stage's data. It knows of no other
// endpoint, no account and no key.
func (s *stage) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, s.program, append(args, "--data", s.data)...)
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, "AWS_") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// say prints a text, and waits until the audience has read it.
func (s *stage) say(format string, args ...any) {
	fmt.Printf("\n%s\n\n", fmt.Sprintf(format, args...))
	time.Sleep(time.Second)
}

// run shows a command and what it prints, and checks its exit code.
func (s *stage) run(ctx context.Context, want int, args ...string) error {
	cmd := s.command(ctx, args...)
	fmt.Println("$", strings.Join(cmd.Args, " "))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = nil, os.Stdout, os.Stderr
	err := cmd.Run()
	if failed, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || failed.ExitCode() < 0) {
		return fmt.Errorf("%s: %w", args[0], err)
	}
	if got := cmd.ProcessState.ExitCode(); got != want {
		return fmt.Errorf("%s ended with %d, not with %d", args[0], got, want)
	}
	fmt.Printf("(exit code %d)\n\n", want)
	return nil
}

// ask runs a command for what it prints.
func (s *stage) ask(ctx context.Context, args ...string) ([]byte, error) {
	out, err := s.command(ctx, args...).Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(args, " "), err)
	}
	return out, nil
}

// A record is a run as status shows it.
type record struct {
	Run   string
	Steps []struct {
		Step, Status, Why string
		After             []string
	}
}

// newest is the newest run.
func (s *stage) newest(ctx context.Context) (record, error) {
	var r record
	out, err := s.ask(ctx, "status", "-o", "json")
	if err == nil {
		err = json.Unmarshal(out, &r)
	}
	return r, err
}

// edit changes a line of a file of the project, and shows how.
func (s *stage) edit(file, from, to string) error {
	name := filepath.Join(s.project, file)
	before, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	after := strings.Replace(string(before), from, to, 1)
	if after == string(before) {
		return fmt.Errorf("%s has no %q", name, from)
	}
	fmt.Printf("%s\n- %s\n+ %s\n\n", name, strings.TrimSpace(from), strings.TrimSpace(to))
	return os.WriteFile(name, []byte(after), 0o644)
}

// A fault is something that goes wrong in the laptop's CloudFormation.
type fault struct {
	Stack     string `json:"stack"`
	Operation string `json:"operation"`
	Resource  string `json:"resource"`
	Reason    string `json:"reason"`
	Times     int    `json:"times"`
}

// inject has something go wrong.
func (s *stage) inject(ctx context.Context, f fault) error {
	body, err := json.Marshal(f)
	if err != nil {
		return err
	}
	_, err = s.post(ctx, "/_faults?Action=Inject", "application/json", bytes.NewReader(body))
	return err
}

// create creates a stack without Stackwright, as a person can with the AWS CLI, and waits until it is created.
func (s *stage) create(ctx context.Context, stack, template string) error {
	call := func(form url.Values) ([]byte, error) {
		form.Set("Version", "2010-05-15")
		form.Set("StackName", stack)
		return s.post(ctx, "/", "application/x-www-form-urlencoded", strings.NewReader(form.Encode()))
	}
	if _, err := call(url.Values{"Action": {"CreateStack"}, "TemplateBody": {template}}); err != nil {
		return err
	}
	for {
		answer, err := call(url.Values{"Action": {"DescribeStacks"}})
		if err != nil || bytes.Contains(answer, []byte("CREATE_COMPLETE")) {
			return err
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// post sends a request to the laptop's AWS, and returns the answer.
func (s *stage) post(ctx context.Context, path, kind string, body io.Reader) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", kind)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("POST %s: %s: %s", path, response.Status, answer)
	}
	return answer, err
}
