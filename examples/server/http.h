/* SPDX-License-Identifier: MIT */
/* http.h: one thread that speaks HTTP on the loopback address, by libmicrohttpd. */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include <stdint.h>

/* 0: any free port; *port is the one. 0 or a negative errno value. */
int http_open(uint16_t *port);

/* After requests_close(): no connection is suspended any more. */
void http_close(void);

#endif
