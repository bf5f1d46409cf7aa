# All targets need Go. Those for AWS need Node too.

FUNCTIONS := $(notdir $(wildcard functions/*))
GO ?= go
GOFMT = $(shell $(GO) env GOROOT)/bin/gofmt
# The race detector needs a C compiler. Without one, make test runs all tests without it.
RACE = $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)
# Packages with much concurrency, which the race detector slows down little: make test runs them under it, and only under it.
# All tests take about five times as long under the race detector.
CONCURRENT = ./pkg/run ./pkg/enginetest/sim ./pkg/aws/stepfunctions ./infra/local/api ./infra/local/events ./infra/local/journal \
	./infra/local/lambda ./infra/local/scheduler ./infra/local/states

# Those whose tests take longest start first.
LONG = ./stepfn ./infra/stackwright ./infra/local/cloudformation
SEQUENTIAL = $(LONG) $(filter-out $(CONCURRENT) $(LONG),$(patsubst $(shell $(GO) list -m)%,.%,$(shell $(GO) list ./...)))

.PHONY: help build dist check-dist lambda invoke demo test race soak chaos smoke large mutants check integration lint bench bench-sceptre benchmarks fuzz fmt vuln docs page types prices clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' Makefile

build: ## build/stackwright, and the functions for this machine in build/FUNCTION/bootstrap
	$(GO) build -o build/stackwright ./infra/stackwright
	@set -e; for f in $(FUNCTIONS); do \
		$(GO) build -tags lambda.norpc -o build/$$f/bootstrap ./functions/$$f; \
	done

# The same commit gives the same bytes, on every machine.
lambda: ## the functions for AWS (linux, arm64) in build/lambda/FUNCTION/bootstrap
	@set -e; for f in $(FUNCTIONS); do \
		CGO_ENABLED=0 GOOS=linux GOARCH=arm64 $(GO) build -tags lambda.norpc -trimpath -buildvcs=false \
			-ldflags='-s -w -buildid=' -o build/lambda/$$f/bootstrap ./functions/$$f; \
	done

# VERSION overrides what git describe says.
dist: ## the release archives for Linux and macOS in build/dist, with checksums
	$(GO) run ./infra/dist $(if $(VERSION),-version $(VERSION))

check-dist: ## build the release archives twice, in two folders, and compare them
	@set -e; rm -rf build/dist-again; $(GO) run ./infra/dist; $(GO) run ./infra/dist -out build/dist-again; \
		diff -r build/dist build/dist-again && cat build/dist/SHA256SUMS

F = start
E = upload
invoke: ## send events/F.E.json to the function F on this machine (F=start E=upload)
	@$(MAKE) -s build
	@build/stackwright invoke events/$(F).$(E).json

demo: ## deploy, break, retry, review, adopt, import, move, forget, export and destroy examples/shop on this machine
	@$(GO) build -o build/stackwright ./infra/stackwright
	@$(GO) run ./examples/demo

# After TIMEOUT, a package whose test hangs is ended. No test depends on how fast the machine is; 0 is no limit.
TIMEOUT ?= 60m

# make lint vets everything, and go test would vet it again.
# pkg/engine is tested both ways: under the race detector it leaves out its large models.
test: ## all tests; those of concurrent packages under the race detector
	$(GO) test -vet=off -timeout $(TIMEOUT) $(if $(RACE),$(SEQUENTIAL),./...)
	$(if $(RACE),$(GO) test -vet=off -race -timeout $(TIMEOUT) ./pkg/engine $(CONCURRENT))

# It runs fewer random scenarios, crashes and large runs.
race: ## all tests under the race detector
	$(GO) test -race -timeout $(TIMEOUT) ./...

SECONDS ?= 600
soak: ## new random scenarios for SECONDS seconds (600)
	$(GO) test ./stepfn -run '^TestSoak$$' -soak $(SECONDS)s -timeout 0 -count 1 -v

ROUNDS ?= 20
chaos: ## kill functions at random while examples/shop is deployed ROUNDS times (20)
	$(GO) test ./infra/stackwright -run '^TestKilledFunctions$$' -rounds $(ROUNDS) -parallel 4 -timeout 60m -count 1 -v

# It uses a real account, so it needs two variables.
smoke: ## create, change and delete three free stacks with an installation on AWS
	@if [ -z "$$STACKWRIGHT_INSTALLATION" ] || [ "$$STACKWRIGHT_SMOKE" != 1 ]; then \
		echo "make smoke uses an AWS account: it deploys three stacks that cost nothing, changes one and deletes them," >&2; \
		echo "which costs about a cent (docs/deploy.md). To run it, log in to AWS and name the installation:" >&2; \
		echo "  STACKWRIGHT_SMOKE=1 STACKWRIGHT_INSTALLATION=stackwright make smoke" >&2; exit 2; fi
	@$(GO) build -o build/stackwright ./infra/stackwright
	$(GO) test ./infra/stackwright -run '^TestSmoke$$' -smoke "$$STACKWRIGHT_INSTALLATION" -count 1 -v -timeout 60m

STACKS ?= 10000
large: ## runs of STACKS stacks (10,000) in four shapes, on the real adapters
	$(GO) test ./stepfn -run '^TestLargeOnEmulators$$' -large $(STACKS) -timeout 0 -count 1 -v

# The cdk command comes with Go files that are templates.
GOFILES = find . \( -name node_modules -o -name cdk.out \) -prune -o -name '*.go' -print0

page: ## put the libraries of the page, in the versions of its package-lock.json, into pkg/entry/page/static/lib
	pkg/entry/page/libraries

SCHEMAS = "$$(.integration/python/bin/python -c 'import cfnlint, os; print(os.path.dirname(cfnlint.__file__))')/data/schemas"
types: ## write the tables of resource types from their sources: the cfn-lint and the @aws-cdk/aws-service-spec that make integration installs
	.ci/integration/install python specification
	$(GO) test -count 1 -run '^TestTableIsMadeFromSources$$' ./pkg/lib/resource -update -schemas $(SCHEMAS) \
		-specification "$$PWD/.integration/specification/node_modules/@aws-cdk/aws-service-spec/db.json.gz"
	$(GO) test -count 1 -run '^TestTableIsMadeFromSchemas$$' ./pkg/lib/property -update -schemas $(SCHEMAS)

prices: ## write the table of prices of instances from pinned versions of its sources, which Go's module proxy has
	$(GO) test -count 1 -run '^TestTableIsMadeFromSources$$' ./pkg/lib/price -fetch -update
	$(GO) test -count 1 ./pkg/lib/price -update

docs: ## write the generated parts of docs/commands.md
	$(GO) run ./infra/stackwright docs docs/commands.md

lint: ## format, vet, staticcheck
	@unformatted=$$($(GOFILES) | xargs -0 $(GOFMT) -l); if [ -n "$$unformatted" ]; then \
		echo "these files are not formatted: run make fmt"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

check: lint test ## lint and test: what a change must pass

# It prints which test notices each mutant first, and a table at the end.
mutants: ## remove each safeguard in turn: a test must notice
	$(GO) test ./stepfn -run '^TestMutants$$' -mutants . -v -count 1 -timeout 3h

# It also needs Python, a JDK, Maven, Node and Chromium. It installs its programs into .integration, once.
integration: build ## tests by other programs: AWS's DynamoDB Local, another Step Functions, moto, MiniStack, cfn-lint, the AWS CLI, Sceptre, Chromium
	@GO="$(GO)" ./.ci/integration/run

# It takes up to ten minutes on two cores. ONLY is a pattern of producers (makespan, order, calls, cost, poll, instant, own, plan,
# init, api, page, zip, idle, deploy): the others keep their figures. FAST=1 only tries the command, in a minute, and writes nothing.
ONLY ?=
bench: build lambda ## measure how fast Stackwright is, and write docs/performance.md
	@$(GO) test -c -o build/bench/ ./stepfn ./pkg/aws/dynamodb ./infra/stackwright
	@$(GO) run ./infra/bench $(if $(ONLY),-only '$(ONLY)') $(if $(FAST),-fast)

# It needs Python, and installs Sceptre into .integration, once.
bench-sceptre: build ## compare Stackwright with Sceptre on the same emulator, and write that table
	@.ci/integration/install sceptre
	@$(GO) run ./infra/bench -sceptre .integration/sceptre/bin/sceptre

benchmarks: ## Go's benchmarks of single functions
	$(GO) test -run '^$$' -bench . -benchmem ./...

# Go's cache keeps interesting inputs, and the next run starts from them.
TARGET = Fuzz
fuzz: ## random input for every reader, SECONDS seconds each (600), or for one TARGET (pkg/format/FuzzRead)
	@GO="$(GO)" ./.ci/fuzz "$(SECONDS)" "$(TARGET)"

fmt: ## format the code
	$(GOFILES) | xargs -0 $(GOFMT) -w

# It uses a database on the network, so it is not a part of check.
vuln: ## known vulnerabilities in the code and its modules
	$(GO) run golang.org/x/vuln/cmd/govulncheck@v1.9.0 ./...

# The installation on AWS is infra/aws, a module of its own. STACK names the installation. SETTINGS are further settings,
# each as -c NAME=VALUE; infra/aws/cdk.json may hold them too.
STACK ?= stackwright
SETTINGS ?=
CDK = cd infra/aws && $(QUIETLY) npx --no-install cdk
CONTEXT = -c stack=$(STACK) $(SETTINGS)
QUIETLY = JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION=20 CDK_DISABLE_CLI_TELEMETRY=true

.PHONY: node synth bootstrap deploy diff destroy-infra check-aws

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

# pkg/project.InstallationQualifier: what no project may write into, or use. Boundaries name the bucket, and not the access
# points that a project may make for it, so the policy of the bucket denies these.
QUALIFIER = stkwright
bootstrap: infra/aws/node_modules/.package-lock.json lambda ## the bucket and the roles that make deploy needs; it is a part of it
	$(CDK) bootstrap --qualifier $(QUALIFIER) --toolkit-stack-name CDKToolkit-$(QUALIFIER) --termination-protection $(CONTEXT)
	@set -e; region=$${AWS_REGION:-$${AWS_DEFAULT_REGION:-$$(aws configure get region)}}; \
		account=$$(aws sts get-caller-identity --region "$$region" --query Account --output text); \
		bucket=cdk-$(QUALIFIER)-assets-$$account-$$region; policy=$$(sed "s/BUCKET/$$bucket/g" infra/aws/bootstrap.json); \
		aws s3api put-bucket-policy --region "$$region" --bucket "$$bucket" --policy "$$policy"

# --force uploads what the installation consists of also where something has its name.
deploy: bootstrap ## install into the AWS account of the credentials, or update it
	$(CDK) deploy --force $(CONTEXT)

diff: infra/aws/node_modules/.package-lock.json lambda ## what a deploy would change
	$(CDK) diff $(CONTEXT)

destroy-infra: infra/aws/node_modules/.package-lock.json lambda ## remove the installation; its table, bucket and key remain
	$(CDK) destroy $(CONTEXT)

# The CDK's own validation of templates only warns, and takes longer than all tests. cdk-nag and cfn-lint check the templates.
check-aws: node infra/aws/node_modules/.package-lock.json ## lint and test infra/aws
	@unformatted=$$($(GOFMT) -l infra/aws/*.go infra/aws/calls infra/aws/iam infra/aws/target); if [ -n "$$unformatted" ]; then \
		echo "these files are not formatted: run make fmt"; echo "$$unformatted"; exit 1; fi
	cd infra/aws && $(GO) vet ./...
	cd infra/aws && $(QUIETLY) CDK_VALIDATION=false STACKWRIGHT_CHROMIUM="$$(command -v chromium)" $(GO) test -vet=off -timeout $(TIMEOUT) ./...

clean: ## remove built files
	rm -rf build infra/aws/cdk.out
