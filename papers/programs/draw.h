/* What the programs share: numbers in no order that a predictor could know, the same on every run. */
#ifndef DRAW_H
#define DRAW_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t draw_state = 1;

/* 0 to n - 1. */
static inline uint32_t draw(uint32_t n)
{
	draw_state = draw_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((draw_state >> 32) * n >> 32);
}

#endif
