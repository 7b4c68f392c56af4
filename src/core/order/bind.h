/*
 * To which port rename binds a uop that could use several: to one in turn (rename.bind_turn). Both cores choose so, in core/ooo/rename.c
 * and core/gus/scheduler.h; when a port is free each keeps in its own way. Binding by counts (rename.bind_ports) is in core/ooo/rename.h.
 */
#ifndef CYCLEWISE_CORE_ORDER_BIND_H
#define CYCLEWISE_CORE_ORDER_BIND_H

#include <stdint.h>

/*
 * Of `ports`, the next in turn: the first of those in *behind, or where none of them is there, the first of all. Then *behind is those of
 * `all` behind it. Ports are taken from the lowest number up.
 */
static inline uint16_t bind_in_turn(uint16_t ports, uint16_t all, uint16_t *behind)
{
	uint16_t mine = ports & *behind ? ports & *behind : ports;

	mine &= (uint16_t)-mine;
	*behind = all & (uint16_t)~(mine | (mine - 1u));
	return mine;
}

#endif
