# SPDX-License-Identifier: GPL-2.0-or-later
# tunerd: everything is built into $(BUILD).  `make help` lists the goals.

BUILD   ?= build
ifeq ($(origin CC),default)
CC := gcc
endif
PREFIX  ?= /usr
DESTDIR ?=
SYSCONFDIR ?= /etc
UNITDIR ?= $(PREFIX)/lib/systemd/system
VERSION := 0.1

# ---- what Debian has to provide: the one place that names it -------------------------------------
# To build and run.
DEPS_BUILD := gcc make git pkgconf libc6-dev libsystemd-dev libinih-dev libpfm4-dev libnl-3-dev libnl-genl-3-dev libpq-dev \
	libsqlite3-dev libsmartcols-dev libjson-c-dev
# For `make check` and its relatives.
DEPS_TEST := libcmocka-dev dbus postgresql jq procps util-linux clang libclang-rt-14-dev valgrind
# For the guests of `make check-vm` and `make demo-vm`.
DEPS_VM := qemu-system-x86 mmdebstrap e2fsprogs fdisk cpio kmod xz-utils zstd
# For `make format` and `make analyze`: not needed by CI.
DEPS_DEV := clang-format clang-tidy cppcheck

GOALS_AFTER_DEPS := $(filter-out deps,$(MAKECMDGOALS))
ifneq ($(filter deps,$(MAKECMDGOALS)),)
# ---- `make deps [GOALS]`: install, then run the other goals in a make that sees what was installed
.PHONY: deps $(GOALS_AFTER_DEPS)
deps:
	@tests/deps.sh $(DEPS_BUILD) $(DEPS_TEST) $(DEPS_VM)
	@$(if $(GOALS_AFTER_DEPS),+$(MAKE) --no-print-directory $(GOALS_AFTER_DEPS))
$(GOALS_AFTER_DEPS): deps
	@:
else

PKGS   := libsystemd libnl-3.0 libnl-genl-3.0 libpq sqlite3 smartcols json-c
WARN   := -Wall -Wextra -Wshadow -Wconversion -Wformat=2 -Werror=format-security -Wvla \
	-Wmissing-prototypes -Wstrict-prototypes -Wswitch-enum -Werror
OPT    ?= -O2
CPPFLAGS += -D_GNU_SOURCE -DTUNERD_VERSION='"$(VERSION)"' -DCONFIG_VENDOR_DIR='"$(PREFIX)/share/tunerd"' -DCONFIG_LOCAL_DIR='"$(SYSCONFDIR)/tunerd"' -Idaemon -Ipolicies \
	$(shell pkg-config --cflags $(PKGS))
CFLAGS += -std=gnu17 $(OPT) -g -ffp-contract=off -fstack-protector-strong -fPIE -fno-strict-aliasing $(WARN) $(SAN)
ifeq ($(SAN),)
ifneq ($(OPT),-O0)
CPPFLAGS += -D_FORTIFY_SOURCE=2
endif
endif
LDFLAGS += -pie -Wl,-z,relro,-z,now,--as-needed $(SAN)
LIBS   := $(shell pkg-config --libs $(PKGS)) -linih -lpfm -lm

# `make V=1` shows the commands.
Q      := $(if $(V),,@)
say     = $(if $(V),,@printf '  %-5s%s\n' $(1) $@)

srcs    = $(sort $(wildcard $(1)/*.c))
objs    = $(patsubst %.c,$(BUILD)/obj/%.o,$(call srcs,$(1)))
POLICY_OBJS := $(call objs,policies)
DAEMON_OBJS := $(filter-out %/main.o,$(call objs,daemon))
TESTS  := $(patsubst tests/%.c,$(BUILD)/%,$(wildcard tests/test_*.c))
PROGRAMS := $(BUILD)/tunerd $(BUILD)/tunectl $(if $(wildcard tunesim/*.c),$(BUILD)/tunesim) $(BUILD)/demo-plant

.PHONY: all
all: $(PROGRAMS)

$(BUILD)/libpolicies.a: $(POLICY_OBJS)
$(BUILD)/libtunerd.a: $(DAEMON_OBJS)
$(BUILD)/%.a:
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

ARCHIVES := $(BUILD)/libtunerd.a $(BUILD)/libpolicies.a
$(BUILD)/tunerd: $(BUILD)/obj/daemon/main.o $(ARCHIVES)
$(BUILD)/tunectl: $(call objs,tunectl) $(ARCHIVES)
$(BUILD)/demo-plant: $(call objs,demo) $(ARCHIVES)
$(BUILD)/tunerd $(BUILD)/tunectl $(BUILD)/demo-plant:
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LIBS)
$(BUILD)/tunesim: $(call objs,tunesim) $(BUILD)/libpolicies.a
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -linih -lm
$(BUILD)/test_%: $(BUILD)/obj/tests/test_%.o $(ARCHIVES)
	$(call say,LINK)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(ARCHIVES) $(LIBS) -lcmocka

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,CC)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
# Tests use cmocka's macros, which convert and shadow freely.
$(BUILD)/obj/tests/%.o: WARN := -Wall -Wextra -Werror
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)
.SECONDARY:

# ---- the main job -----------------------------------------------------------------------------
.PHONY: run demo demo-vm
run: all
	@demo/run.sh --build $(BUILD)
demo: all
	@demo/demo.sh --build $(BUILD) $(if $(SEED),--seed $(SEED))
demo-vm: all
	@tests/vm/demo.sh

# ---- tests ------------------------------------------------------------------------------------
.PHONY: check check-run check-san check-vm check-valgrind purity tests
tests: $(TESTS) all
check: tests purity
	@tests/check.sh --build $(BUILD)
check-run: tests
	@tests/run.sh --build $(BUILD)
check-san:
	@+$(MAKE) --no-print-directory BUILD=$(BUILD)-san CC=clang OPT=-O1 \
		SAN='-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer' tests
	@tests/check.sh --build $(BUILD)-san
check-vm: all
	@tests/vm/run.sh
purity: $(BUILD)/libpolicies.a
	@tests/purity.sh $(BUILD)

# ---- longer runs, by hand ---------------------------------------------------------------------
.PHONY: check-long bench-sim fuzz bench
check-long: all
	@tests/sim/run $(BUILD)/tunesim 1000-1039
bench-sim: $(BUILD)/tunesim
	@$(BUILD)/tunesim bench
FUZZ_SECONDS ?= 60
fuzz:
	@mkdir -p $(BUILD)/fuzz-corpus
	clang -std=gnu17 -D_GNU_SOURCE -Idaemon $$(pkg-config --cflags libnl-3.0 libnl-genl-3.0) -g -O1 \
		-fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $(BUILD)/fuzz-procparse \
		tests/fuzz/fuzz_procparse.c daemon/procparse*.c daemon/nl_*.c daemon/util.c \
		$$(pkg-config --libs libnl-3.0 libnl-genl-3.0) -lm
	$(BUILD)/fuzz-procparse -max_total_time=$(FUZZ_SECONDS) -max_len=4000 $(BUILD)/fuzz-corpus tests/fuzz/corpus/procparse
bench: all
	@$(CC) -std=gnu17 -D_GNU_SOURCE -O2 -Idaemon -Itests $$(pkg-config --cflags libnl-3.0 libnl-genl-3.0) -o $(BUILD)/bench-schedstat \
		tests/bench/bench_schedstat.c $(ARCHIVES) $(LIBS)
	@$(BUILD)/bench-schedstat --min 500
	@$(if $(wildcard tunesim/*.c),$(BUILD)/tunesim bench)

# ---- install ----------------------------------------------------------------------------------
.PHONY: install
install: all
	@BUILD=$(BUILD) DESTDIR=$(DESTDIR) PREFIX=$(PREFIX) SYSCONFDIR=$(SYSCONFDIR) UNITDIR=$(UNITDIR) systemd/install.sh

# ---- upkeep -----------------------------------------------------------------------------------
.PHONY: format analyze clean help
SOURCES := $(wildcard */*.c */*.h)
format:
	clang-format -i $(SOURCES)
analyze:
	@tests/analyze.sh
clean:
	rm -rf $(BUILD) $(BUILD)-san $(BUILD)-clang
help:
	@sed -n 's/^\.PHONY: //p' Makefile | tr ' ' '\n' | sort -u | tr '\n' ' '; echo
endif
