#include "textflag.h"

// Each kernel is the AVX2 form of the Go function that kernels_amd64.go names;
// tests hold them against it.

// func unpack32AVX2(dst *uint32, src *byte, groups int, table *[64]byte, half, width int, mask, ref uint32)
TEXT ·unpack32AVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ table+24(FP), DX
	MOVQ half+32(FP), R8
	MOVQ width+40(FP), R9
	MOVL mask+48(FP), AX
	VMOVD AX, X4
	VPBROADCASTD X4, Y4
	MOVL ref+52(FP), AX
	VMOVD AX, X5
	VPBROADCASTD X5, Y5
	VMOVDQU (DX), Y6
	VMOVDQU 32(DX), Y7

loop32:
	VMOVDQU     (SI), X0
	VINSERTI128 $1, (SI)(R8*1), Y0, Y0
	VPSHUFB     Y6, Y0, Y0
	VPSRLVD     Y7, Y0, Y0
	VPAND       Y4, Y0, Y0
	VPADDD      Y5, Y0, Y0
	VMOVDQU     Y0, (DI)
	ADDQ        R9, SI
	ADDQ        $32, DI
	DECQ        CX
	JNZ         loop32
	VZEROUPPER
	RET

// func unpack64AVX2(dst *uint64, src *byte, groups int, table *[128]byte, width int, mask, ref uint64)
TEXT ·unpack64AVX2(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ groups+16(FP), CX
	MOVQ table+24(FP), DX
	MOVQ width+32(FP), R9
	VPBROADCASTQ mask+40(FP), Y4
	VPBROADCASTQ ref+48(FP), Y5
	VMOVDQU (DX), Y6
	VMOVDQU 32(DX), Y7
	VMOVDQU 64(DX), Y8
	VMOVDQU 96(DX), Y9

	// Where the second, third and fourth pair of values begins.
	MOVQ R9, R8
	SHRQ $2, R8
	MOVQ R9, R10
	SHRQ $1, R10
	LEAQ (R9)(R9*2), R11
	SHRQ $2, R11

loop64:
	VMOVDQU     (SI), X0
	VMOVDQU     (SI)(R10*1), X1
	VINSERTI128 $1, (SI)(R8*1), Y0, Y0
	VINSERTI128 $1, (SI)(R11*1), Y1, Y1
	VPSHUFB     Y6, Y0, Y0
	VPSHUFB     Y7, Y1, Y1
	VPSRLVQ     Y8, Y0, Y0
	VPSRLVQ     Y9, Y1, Y1
	VPAND       Y4, Y0, Y0
	VPAND       Y4, Y1, Y1
	VPADDQ      Y5, Y0, Y0
	VPADDQ      Y5, Y1, Y1
	VMOVDQU     Y0, (DI)
	VMOVDQU     Y1, 32(DI)
	ADDQ        R9, SI
	ADDQ        $64, DI
	DECQ        CX
	JNZ         loop64
	VZEROUPPER
	RET

// func multiply32AVX2(dst *uint32, groups int, factor, ref uint32)
TEXT ·multiply32AVX2(SB), NOSPLIT, $0-24
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), CX
	MOVL factor+16(FP), AX
	VMOVD AX, X4
	VPBROADCASTD X4, Y4
	MOVL ref+20(FP), AX
	VMOVD AX, X5
	VPBROADCASTD X5, Y5

multiply32:
	VPMULLD (DI), Y4, Y0
	VPADDD  Y5, Y0, Y0
	VMOVDQU Y0, (DI)
	ADDQ    $32, DI
	DECQ    CX
	JNZ     multiply32
	VZEROUPPER
	RET

// func multiply64AVX2(dst *uint64, groups int, factor, ref uint64)
TEXT ·multiply64AVX2(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ groups+8(FP), CX
	VPBROADCASTQ factor+16(FP), Y4
	VPBROADCASTQ ref+24(FP), Y5

	// The low and the high half of x by a factor of 32 bits.
multiply64:
	VMOVDQU  (DI), Y0
	VPSRLQ   $32, Y0, Y1
	VPMULUDQ Y4, Y0, Y0
	VPMULUDQ Y4, Y1, Y1
	VPADDQ   Y5, Y0, Y0
	VPSLLQ   $32, Y1, Y1
	VPADDQ   Y1, Y0, Y0
	VMOVDQU  Y0, (DI)
	ADDQ     $32, DI
	DECQ     CX
	JNZ      multiply64
	VZEROUPPER
	RET

// func prefixSum32AVX2(dst *uint32, groups int, base uint32) uint32
TEXT ·prefixSum32AVX2(SB), NOSPLIT, $0-28
	MOVQ         dst+0(FP), DI
	MOVQ         groups+8(FP), CX
	MOVL base+16(FP), AX
	VMOVD AX, X5
	VPBROADCASTD X5, Y5

sum32:
	VMOVDQU    (DI), Y0
	VPSLLDQ    $4, Y0, Y1
	VPADDD     Y1, Y0, Y0
	VPSLLDQ    $8, Y0, Y1
	VPADDD     Y1, Y0, Y0
	VPSHUFD    $0xff, Y0, Y1
	VPERM2I128 $0x08, Y1, Y1, Y2
	VPADDD     Y2, Y0, Y0
	VPERM2I128 $0x11, Y1, Y1, Y3
	VPERM2I128 $0x00, Y1, Y1, Y1
	VPADDD     Y3, Y1, Y1
	VPADDD     Y5, Y0, Y0
	VMOVDQU    Y0, (DI)
	VPADDD     Y1, Y5, Y5
	ADDQ       $32, DI
	DECQ       CX
	JNZ        sum32
	VMOVD      X5, AX
	VZEROUPPER
	MOVL       AX, ret+24(FP)
	RET

// func prefixSum64AVX2(dst *uint64, groups int, base uint64) uint64
TEXT ·prefixSum64AVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         groups+8(FP), CX
	VPBROADCASTQ base+16(FP), Y5
	VPXOR        Y6, Y6, Y6

sum64:
	VMOVDQU  (DI), Y0
	VPSLLDQ  $8, Y0, Y1
	VPADDQ   Y1, Y0, Y0
	VPERMQ   $0x55, Y0, Y1
	VPBLENDD $0x0f, Y6, Y1, Y1
	VPADDQ   Y1, Y0, Y0
	VPERMQ   $0xff, Y0, Y2
	VPADDQ   Y5, Y0, Y0
	VMOVDQU  Y0, (DI)
	VPADDQ   Y2, Y5, Y5
	ADDQ     $32, DI
	DECQ     CX
	JNZ      sum64
	VMOVQ    X5, AX
	VZEROUPPER
	MOVQ     AX, ret+24(FP)
	RET

// func hexAVX2(dst, src *byte, n, length, stride int, table *hexTable)
TEXT ·hexAVX2(SB), NOSPLIT, $0-48
	MOVQ    dst+0(FP), DI
	MOVQ    src+8(FP), SI
	MOVQ    n+16(FP), CX
	MOVQ    length+24(FP), R8
	MOVQ    stride+32(FP), R9
	MOVQ    table+40(FP), DX
	VMOVDQU (DX), X6
	VMOVDQU 16(DX), X7
	VMOVDQU 32(DX), X8
	VMOVDQU 48(DX), X9
	VMOVDQU 64(DX), X10
	VMOVDQU 80(DX), X11
	VMOVDQU 96(DX), X12
	VMOVDQU 112(DX), X13
	VMOVDQU 128(DX), X14
	VMOVDQU 144(DX), X15
	MOVQ    $0x0f0f0f0f0f0f0f0f, AX
	VMOVQ   AX, X5
	VPUNPCKLQDQ X5, X5, X5

loophex:
	VMOVDQU    (SI), X0
	VPSRLW     $4, X0, X1
	VPAND      X5, X1, X1
	VPAND      X5, X0, X0
	VPUNPCKLBW X0, X1, X2
	VPUNPCKHBW X0, X1, X3
	VPSHUFB    X2, X6, X2
	VPSHUFB    X3, X6, X3
	VPSHUFB    X7, X2, X0
	VPSHUFB    X8, X3, X1
	VPOR       X0, X1, X0
	VPOR       X9, X0, X0
	VMOVDQU    X0, (DI)
	VPSHUFB    X10, X2, X0
	VPSHUFB    X11, X3, X1
	VPOR       X0, X1, X0
	VPOR       X12, X0, X0
	VMOVDQU    X0, 16(DI)
	VPSHUFB    X13, X2, X0
	VPSHUFB    X14, X3, X1
	VPOR       X0, X1, X0
	VPOR       X15, X0, X0
	VMOVDQU    X0, 32(DI)
	ADDQ       R9, SI
	ADDQ       R8, DI
	DECQ       CX
	JNZ        loophex
	VZEROUPPER
	RET

// Constants of the digits: x*0xd1b71759>>45 is x/10000, x*5243>>19 is x/100 below
// 10000, x*6554>>16 is x/10 below 100.
DATA tenThousandth<>+0(SB)/8, $0xd1b71759
GLOBL tenThousandth<>(SB), RODATA|NOPTR, $8
DATA tenThousand<>+0(SB)/8, $10000
GLOBL tenThousand<>(SB), RODATA|NOPTR, $8
DATA hundredth<>+0(SB)/8, $0x147b147b147b147b
GLOBL hundredth<>(SB), RODATA|NOPTR, $8
DATA hundred<>+0(SB)/8, $0x0064006400640064
GLOBL hundred<>(SB), RODATA|NOPTR, $8
DATA tenth<>+0(SB)/8, $0x199a199a199a199a
GLOBL tenth<>(SB), RODATA|NOPTR, $8
DATA ten<>+0(SB)/8, $0x000a000a000a000a
GLOBL ten<>(SB), RODATA|NOPTR, $8
DATA zeros<>+0(SB)/8, $0x3030303030303030
GLOBL zeros<>(SB), RODATA|NOPTR, $8

// func writeNumbersAVX2(out *byte, ends *uint32, nums *uint64, groups int, prefix *byte, head int)
TEXT ·writeNumbersAVX2(SB), NOSPLIT, $0-48
	MOVQ         out+0(FP), DI
	MOVQ         ends+8(FP), BX
	MOVQ         nums+16(FP), SI
	MOVQ         groups+24(FP), CX
	MOVQ         prefix+32(FP), DX
	MOVQ         head+40(FP), R12
	VMOVDQU      (DX), X7
	VPBROADCASTQ tenThousandth<>(SB), Y8
	VPBROADCASTQ tenThousand<>(SB), Y9
	VPBROADCASTQ hundredth<>(SB), Y10
	VPBROADCASTQ hundred<>(SB), Y11
	VPBROADCASTQ tenth<>(SB), Y12
	VPBROADCASTQ ten<>(SB), Y13
	VPBROADCASTQ zeros<>(SB), Y14
	LEAQ         64(R12*8), AX
	VMOVQ        AX, X15
	VPBROADCASTQ X15, Y15
	LEAQ         (DI)(R12*1), DX

loopnumbers:
	// Eight bytes of digits of each number: halves of four, pairs, digits.
	VMOVDQU  (SI), Y0
	VPMULUDQ Y8, Y0, Y1
	VPSRLQ   $45, Y1, Y1
	VPMULUDQ Y9, Y1, Y2
	VPSUBQ   Y2, Y0, Y0
	VPSLLQ   $32, Y0, Y0
	VPOR     Y1, Y0, Y0
	VPMULHUW Y10, Y0, Y1
	VPSRLW   $3, Y1, Y1
	VPMULLW  Y11, Y1, Y2
	VPSUBW   Y2, Y0, Y0
	VPSLLD   $16, Y0, Y0
	VPOR     Y1, Y0, Y0
	VPMULHUW Y12, Y0, Y1
	VPMULLW  Y13, Y1, Y2
	VPSUBW   Y2, Y0, Y0
	VPSLLW   $8, Y0, Y0
	VPOR     Y1, Y0, Y0
	VPOR     Y14, Y0, Y0

	// Leading zeros out: a shift of 64 bits and more leaves nothing of a null.
	VPMOVZXDQ (BX), Y3
	VPMOVZXDQ -4(BX), Y4
	VPSUBQ    Y4, Y3, Y3
	VPSLLQ    $3, Y3, Y3
	VPSUBQ    Y3, Y15, Y3
	VPSRLVQ   Y3, Y0, Y0

	// In their order: what is written behind a string is written over by the next.
	MOVL         -4(BX), R8
	MOVL         (BX), R9
	MOVL         4(BX), R10
	MOVL         8(BX), R11
	VEXTRACTI128 $1, Y0, X1
	VMOVDQU      X7, (DI)(R8*1)
	VMOVLPS      X0, (DX)(R8*1)
	VMOVDQU      X7, (DI)(R9*1)
	VMOVHPS      X0, (DX)(R9*1)
	VMOVDQU      X7, (DI)(R10*1)
	VMOVLPS      X1, (DX)(R10*1)
	VMOVDQU      X7, (DI)(R11*1)
	VMOVHPS      X1, (DX)(R11*1)
	ADDQ         $32, SI
	ADDQ         $16, BX
	DECQ         CX
	JNZ          loopnumbers
	VZEROUPPER
	RET

// The lower of low and a to low, the higher of high and b to high.
#define EXTREMES(a, b, low, high) \
	VPCMPGTQ  a, low, Y6       \
	VPCMPGTQ  high, b, Y7      \
	VPBLENDVB Y6, a, low, low  \
	VPBLENDVB Y7, b, high, high

// func minMax64AVX2(v *uint64, groups int) (lo, hi int64)
TEXT ·minMax64AVX2(SB), NOSPLIT, $0-32
	MOVQ    v+0(FP), SI
	MOVQ    groups+8(FP), CX
	VMOVDQU (SI), Y0
	VMOVDQU Y0, Y1
	VMOVDQU 32(SI), Y2
	VMOVDQU Y2, Y3

loopminmax:
	VMOVDQU (SI), Y4
	VMOVDQU 32(SI), Y5
	EXTREMES(Y4, Y4, Y0, Y1)
	EXTREMES(Y5, Y5, Y2, Y3)
	ADDQ    $64, SI
	DECQ    CX
	JNZ     loopminmax

	// Eight of each to four, to two, to one.
	EXTREMES(Y2, Y3, Y0, Y1)
	VPERMQ  $0x4e, Y0, Y2
	VPERMQ  $0x4e, Y1, Y3
	EXTREMES(Y2, Y3, Y0, Y1)
	VPSHUFD $0xee, Y0, Y2
	VPSHUFD $0xee, Y1, Y3
	EXTREMES(Y2, Y3, Y0, Y1)
	VMOVQ   X0, AX
	VMOVQ   X1, BX
	VZEROUPPER
	MOVQ    AX, lo+16(FP)
	MOVQ    BX, hi+24(FP)
	RET
