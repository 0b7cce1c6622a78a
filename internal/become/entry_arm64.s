#include "textflag.h"

#define SYS_rt_sigaction 134
#define SYS_rt_sigprocmask 135
#define SYS_umask 166
#define SYS_prlimit64 261

// The kernel starts the program here. No stack but argc and argv, no g, no runtime yet: only registers
// and system calls. RSP must reach the runtime's entry as it came.
TEXT agentwrap_start(SB),NOSPLIT|NOFRAME,$0
	MOVD	RSP, R0
	MOVD	R0, ·entryStack(SB)

	MOVD	$SYS_umask, R8
	MOVD	$0x3f, R0
	SVC
	MOVW	R0, ·entryUmask(SB)
	MOVD	$SYS_umask, R8
	SVC

	MOVD	$SYS_rt_sigprocmask, R8
	MOVD	$0, R0
	MOVD	$0, R1
	MOVD	$·entryBlocked(SB), R2
	MOVD	$8, R3
	SVC

	MOVD	$SYS_prlimit64, R8
	MOVD	$0, R0
	MOVD	$7, R1 // RLIMIT_NOFILE
	MOVD	$0, R2
	MOVD	$·entryFiles(SB), R3
	SVC

	MOVD	$0, R10 // the set
	MOVD	$1, R11 // the bit of the signal
	MOVD	$1, R12 // the signal
next:
	MOVD	$SYS_rt_sigaction, R8
	MOVD	R12, R0
	MOVD	$0, R1
	MOVD	$·entryAction(SB), R2
	MOVD	$8, R3
	SVC
	CBNZ	R0, skip
	MOVD	·entryAction(SB), R0
	CMP	$1, R0 // SIG_IGN
	BNE	skip
	ORR	R11, R10, R10
skip:
	LSL	$1, R11, R11
	ADD	$1, R12, R12
	CMP	$64, R12
	BLE	next

	MOVD	R10, ·entryIgnored(SB)
	MOVD	$1, R0
	MOVB	R0, ·entryRan(SB)
	JMP	_rt0_arm64_linux(SB)
