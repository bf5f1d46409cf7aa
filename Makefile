# Everything here needs Go; what is about AWS itself needs Node too.

FUNCTIONS := $(notdir $(wildcard functions/*))
GO ?= go
GOFMT = $(shell $(GO) env GOROOT)/bin/gofmt
# The race detector needs a C compiler; without one the tests run all the same.
RACE = $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
# Where much is done side by side, and the race detector costs little. With it, all tests take some five times as long.
CONCURRENT = ./pkg/engine ./pkg/run ./pkg/enginetest/sim ./pkg/aws/stepfunctions ./infra/local/api ./infra/local/events ./infra/local/journal \
	./infra/local/lambda ./infra/local/scheduler ./infra/local/states

.PHONY: help build lambda invoke demo test race soak chaos smoke large mutants check integration lint bench fuzz fmt vuln docs clean

help: ## list what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

build: ## build/stackwright, and the functions for this machine in build/FUNCTION/bootstrap
	$(GO) build -o build/stackwright ./infra/stackwright
	@set -e; for f in $(FUNCTIONS); do \
		$(GO) build -tags lambda.norpc -o build/$$f/bootstrap ./functions/$$f; \
	done

# The same commit gives the same bytes, whoever builds it.
lambda: ## the functions for AWS (linux, arm64) in build/lambda/FUNCTION/bootstrap
	@set -e; for f in $(FUNCTIONS); do \
		CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -tags lambda.norpc -trimpath -buildvcs=false \
			-ldflags='-s -w -buildid=' -o build/lambda/$$f/bootstrap ./functions/$$f; \
	done

F = start
E = upload
invoke: ## send events/F.E.json to the function F on this machine (F=start E=upload)
	@$(MAKE) -s build
	@build/stackwright invoke events/$(F).$(E).json

demo: ## deploy, change, break, retry and destroy examples/shop on this machine
	@$(GO) build -o build/stackwright ./infra/stackwright
	@$(GO) run ./examples/demo

test: ## all tests, and some of them under the race detector where there is a C compiler
	$(GO) test -timeout 20m ./...
	$(if $(RACE),$(GO) test -race -timeout 20m $(CONCURRENT))

# Of random worlds, deaths and large runs it plays fewer.
race: ## all tests under the race detector, which needs a C compiler
	$(GO) test -race -timeout 30m ./...

SECONDS ?= 600
soak: ## play fresh random worlds for SECONDS seconds (600)
	$(GO) test ./stepfn -run '^TestSoak$$' -soak $(SECONDS)s -timeout 0 -count 1 -v

ROUNDS ?= 20
chaos: ## kill functions at random while examples/shop is deployed ROUNDS times (20)
	$(GO) test ./infra/stackwright -run '^TestKilledFunctions$$' -rounds $(ROUNDS) -parallel 4 -timeout 60m -count 1 -v

# It works in a real account, so it has to be asked for twice.
smoke: ## make, change and delete three free stacks at an installation on AWS
	@if [ -z "$$STACKWRIGHT_INSTALLATION" ] || [ "$$STACKWRIGHT_SMOKE" != 1 ]; then \
		echo "make smoke works in an AWS account: it deploys three stacks that cost nothing, changes one and deletes them," >&2; \
		echo "which costs about a cent (docs/deploy.md). If that is wanted, log in to AWS, name the installation and say so:" >&2; \
		echo "  STACKWRIGHT_SMOKE=1 STACKWRIGHT_INSTALLATION=stackwright make smoke" >&2; exit 2; fi
	@$(GO) build -o build/stackwright ./infra/stackwright
	$(GO) test ./infra/stackwright -run '^TestSmoke$$' -smoke "$$STACKWRIGHT_INSTALLATION" -count 1 -v -timeout 60m

large: ## runs of 2,000 stacks on the real adapters, some minutes each
	$(GO) test ./stepfn -run '^TestLargeOnEmulators$$' -large 2000 -timeout 60m -count 1 -v

# The cdk command brings Go files that are templates of some.
GOFILES = find . \( -name node_modules -o -name cdk.out \) -prune -o -name '*.go' -print0

docs: ## write what is generated in docs/commands.md
	$(GO) run ./infra/stackwright docs docs/commands.md

lint: ## format, vet, staticcheck
	@unformatted=$$($(GOFILES) | xargs -0 $(GOFMT) -l); if [ -n "$$unformatted" ]; then \
		echo "not formatted: make fmt does it"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

# The tests are those of make test: run after one another, the second comes from Go's cache.
check: lint test ## lint and test: what a change must pass

# Of each it prints which test notices it first, and at the end a table of all.
mutants: ## take away each safeguard in turn: some test must notice
	$(GO) test ./stepfn -run '^TestMutants$$' -mutants . -v -count 1 -timeout 3h

# It needs Python, a JDK and Maven besides, and installs what it runs into .integration, once.
integration: build ## second opinions: AWS's DynamoDB Local, another Step Functions, cfn-lint
	@GO="$(GO)" ./.ci/integration/run

bench: ## benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

# What is found to be interesting is kept in Go's cache: the next time goes on from there.
TARGET = Fuzz
fuzz: ## random input for all that is read, SECONDS seconds each (600), or for one TARGET (pkg/format/FuzzRead)
	@GO="$(GO)" ./.ci/fuzz "$(SECONDS)" "$(TARGET)"

fmt: ## format the code
	$(GOFILES) | xargs -0 $(GOFMT) -w

# It asks a database on the network, and so it is no part of check.
vuln: ## known vulnerabilities in what is built
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

# What is installed in AWS: infra/aws, a module of its own. STACK is the name of the installation, SETTINGS are more
# settings, each as -c NAME=VALUE; they may stand in infra/aws/cdk.json as well.
STACK ?= stackwright
SETTINGS ?=
CDK = cd infra/aws && $(QUIETLY) npx --no-install cdk
CONTEXT = -c stack=$(STACK) $(SETTINGS)
QUIETLY = JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20 CDK_DISABLE_CLI_TELEMETRY=true

.PHONY: node synth deploy diff destroy-infra check-aws

node:
	@command -v node >/dev/null && command -v npm >/dev/null || { \
		echo "Node is missing: the CDK needs node and npm, version 20 or later (https://nodejs.org)" >&2; exit 1; }
	@node -e 'process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)' || { \
		echo "Node $$(node --version) is too old: the CDK needs version 20 or later (https://nodejs.org)" >&2; exit 1; }

infra/aws/node_modules/.package-lock.json: infra/aws/package-lock.json | node
	cd infra/aws && npm ci --no-audit --no-fund
	@touch $@

synth: infra/aws/node_modules/.package-lock.json lambda ## the CloudFormation template of an installation, in infra/aws/cdk.out
	$(CDK) synth --quiet $(CONTEXT)

deploy: infra/aws/node_modules/.package-lock.json lambda ## install into the AWS account that the credentials are of, or update it
	$(CDK) deploy $(CONTEXT)

diff: infra/aws/node_modules/.package-lock.json lambda ## what a deploy would change
	$(CDK) diff $(CONTEXT)

destroy-infra: infra/aws/node_modules/.package-lock.json lambda ## remove the installation; its table, bucket and key stay
	$(CDK) destroy $(CONTEXT)

check-aws: node infra/aws/node_modules/.package-lock.json ## lint and test what is installed in AWS
	@unformatted=$$($(GOFMT) -l infra/aws/*.go infra/aws/calls infra/aws/target); if [ -n "$$unformatted" ]; then \
		echo "not formatted: make fmt does it"; echo "$$unformatted"; exit 1; fi
	cd infra/aws && $(GO) vet ./...
	cd infra/aws && $(QUIETLY) $(GO) test -timeout 10m ./...

clean: ## remove what was built
	rm -rf build infra/aws/cdk.out
