package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/apache/beam/sdks/v2/go/container/tools"
	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/util/grpcx"
)

// Arguments by which the program recognises that a runner has started it as a worker. Beam's
// container fetches this program and starts it with --worker=true and Beam's flags. A runner that
// starts processes (environment PROCESS) passes only the address of the provision service. Then
// nothing is fetched, because this program already is the worker.
const (
	workerFlag    = "--worker=true"
	provisionFlag = "--provision_endpoint="
)

// work runs a worker of the pipeline if the arguments show that a runner has started the program as
// a worker. In that case it never returns.
func work(ctx context.Context, args []string) {
	if len(args) == 0 || args[0] != workerFlag && !strings.Contains(strings.Join(args, " "), provisionFlag) {
		return
	}
	if args[0] != workerFlag {
		if err := provision(ctx, args); err != nil {
			fmt.Fprintf(os.Stderr, "afdo-beam: as a worker: %v\n", err)
			os.Exit(1)
		}
	} else {
		flag.Parse()
	}
	beam.Init() // does not return on a worker
}

// provision asks the runner for the configuration of the worker, and sets the flags and environment
// variables that Beam reads.
func provision(ctx context.Context, args []string) error {
	f := flag.NewFlagSet("worker", flag.ContinueOnError)
	id := f.String("id", "", "name of the worker")
	endpoint := f.String("provision_endpoint", "", "where to ask")
	for _, unused := range []string{"control_endpoint", "logging_endpoint", "artifact_endpoint", "semi_persist_dir"} {
		f.String(unused, "", "told by the other endpoint, or not needed")
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	*id = strings.Trim(*id, "'") // Prism quotes it, although there is no shell
	info, err := tools.ProvisionInfo(grpcx.WriteWorkerID(ctx, *id), *endpoint)
	if err != nil {
		return err
	}
	if info.GetControlEndpoint().GetUrl() == "" || info.GetLoggingEndpoint().GetUrl() == "" {
		return errors.New("the runner does not tell its endpoints")
	}
	options, err := tools.ProtoToJSON(info.GetPipelineOptions())
	if err != nil {
		return err
	}
	if err := os.Setenv("RUNNER_CAPABILITIES", strings.Join(info.GetRunnerCapabilities(), " ")); err != nil {
		return err
	}
	for name, value := range map[string]string{
		"worker": "true", "id": *id, "options": options,
		"control_endpoint": info.GetControlEndpoint().GetUrl(), "logging_endpoint": info.GetLoggingEndpoint().GetUrl(),
	} {
		if err := flag.Set(name, value); err != nil {
			return err
		}
	}
	return nil
}

// workersAreThis sets Beam's flags so that runners start this program as a worker, unless the user
// has chosen another worker program. Otherwise Beam would compile a worker from the sources in the
// current folder. It changes the flags only on Linux, because workers in containers run Linux.
func workersAreThis() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if *jobopts.WorkerBinary == "" && runtime.GOOS == "linux" {
		*jobopts.WorkerBinary = self
	}
	if strings.EqualFold(*jobopts.EnvironmentType, "PROCESS") && *jobopts.EnvironmentConfig == "" {
		config, err := json.Marshal(map[string]string{"command": self})
		if err != nil {
			return err
		}
		*jobopts.EnvironmentConfig = string(config)
	}
	return nil
}
