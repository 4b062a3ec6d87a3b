/** `portico stdio` with a scripted gateway behind it, and the messages of a host written by hand. Owns the end of both. */
import type { ServerResponse } from 'node:http';
import { afterEach } from 'vitest';
import { startStdio, type Host } from './portico-command.ts';
import {
  resultText,
  sendText,
  startScripted,
  type Came,
  type Script,
  type ScriptedGateway,
} from './scripted-gateway.ts';

export const SOON_MS = 60_000;
export const TOKEN = 'portico_test';
export const VERSION = '2025-11-25';
const closing: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(closing.splice(0).map(close => close()));
});

export async function start(script: Script): Promise<{ gateway: ScriptedGateway; host: Host }> {
  const gateway = await startScripted(script);
  const host = startStdio(gateway.origin, TOKEN);
  closing.push(async () => {
    host.child.kill('SIGTERM');
    await gateway.close();
  });
  return { gateway, host };
}

export const request = (id: number, method: string, params: object = {}): object => ({
  jsonrpc: '2.0',
  id,
  method,
  params,
});
export const initialize = request(0, 'initialize', { protocolVersion: VERSION, capabilities: {} });
export const initialized = { jsonrpc: '2.0', method: 'notifications/initialized' };
/** Makes a request of 2026-07-28. */
export const modern = (id: number, method: string, params: object = {}): object =>
  request(id, method, {
    ...params,
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  });

/** Answers `initialize` with a session. */
export const opening = (came: Came, response: ServerResponse, session: string): void =>
  sendText(response, resultText(came, { protocolVersion: VERSION }), { 'mcp-session-id': session });

/** Counts the requests of a method. */
export const countOf = (gateway: ScriptedGateway, method: string): number =>
  gateway.came.filter(({ message }) => message.method === method).length;
