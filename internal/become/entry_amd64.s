#include "textflag.h"

#define SYS_rt_sigaction 13
#define SYS_rt_sigprocmask 14
#define SYS_umask 95
#define SYS_prlimit64 302

// The kernel starts the program here. No stack but argc and argv, no g, no runtime yet: only registers
// and system calls. SP must reach the runtime's entry as it came.
TEXT agentwrap_start(SB),NOSPLIT|NOFRAME,$0
	MOVQ	SP, ·entryStack(SB)

	MOVL	$SYS_umask, AX
	MOVL	$0x3f, DI
	SYSCALL
	MOVL	AX, ·entryUmask(SB)
	MOVL	AX, DI
	MOVL	$SYS_umask, AX
	SYSCALL

	MOVL	$SYS_rt_sigprocmask, AX
	XORL	DI, DI
	XORL	SI, SI
	LEAQ	·entryBlocked(SB), DX
	MOVL	$8, R10
	SYSCALL

	MOVL	$SYS_prlimit64, AX
	XORL	DI, DI
	MOVL	$7, SI // RLIMIT_NOFILE
	XORL	DX, DX
	LEAQ	·entryFiles(SB), R10
	SYSCALL

	XORL	R13, R13 // the set
	MOVL	$1, R12 // the bit of the signal
	MOVL	$1, R14 // the signal
next:
	MOVL	$SYS_rt_sigaction, AX
	MOVL	R14, DI
	XORL	SI, SI
	LEAQ	·entryAction(SB), DX
	MOVL	$8, R10
	SYSCALL
	TESTQ	AX, AX
	JNE	skip
	MOVQ	·entryAction(SB), AX
	CMPQ	AX, $1 // SIG_IGN
	JNE	skip
	ORQ	R12, R13
skip:
	SHLQ	$1, R12
	INCL	R14
	CMPL	R14, $64
	JLE	next

	MOVQ	R13, ·entryIgnored(SB)
	MOVB	$1, ·entryRan(SB)
	JMP	_rt0_amd64_linux(SB)
