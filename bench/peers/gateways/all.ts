/** Every measured gateway, in the order of the tables. To add one, add a file beside this one and a line here. */
import type { Gateway } from '../gateway.ts';
import { civicPassthrough } from './civic-passthrough.ts';
import { mcpHub } from './mcp-hub.ts';
import { mcpProxy } from './mcp-proxy.ts';
import { mcpProxyHttp } from './mcp-proxy-http.ts';
import { mcpRemote } from './mcp-remote.ts';
import { portico } from './portico.ts';
import { supergateway } from './supergateway.ts';

export const gateways: readonly Gateway[] = [
  portico,
  mcpHub,
  mcpProxy,
  mcpProxyHttp,
  supergateway,
  mcpRemote,
  civicPassthrough,
];
