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
