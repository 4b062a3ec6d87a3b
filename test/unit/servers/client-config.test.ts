/** Configurations for clients: what we give out is what our own import reads back, for every client that has a file. */
import { describe, expect, it } from 'vitest';
import { CLIENTS, toClientConfig } from '../../../src/servers/transfer/client-config.ts';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';

const ORIGIN = 'https://portico.example.com';
/** What is a file of JSON; the others are a command, and a table of TOML. */
const files = CLIENTS.filter(client => !['claude-code', 'codex', 'curl'].includes(client));

describe('a configuration', () => {
  it.each(files)('[REG-6] for %s leads to the gateway, with the token', client => {
    const { text } = toClientConfig(client, ORIGIN, 'portico_x');
    expect(parseMcpJson(text)).toMatchObject({
      entries: [
        {
          kind: 'remote',
          name: 'portico',
          transportType: 'HTTP',
          url: `${ORIGIN}/mcp?names=underscore`,
          headers: { Authorization: 'Bearer portico_x' },
        },
      ],
    });
  });

  it('[REG-6] for codex is a table of TOML', () => {
    const { text } = toClientConfig('codex', ORIGIN, 'portico_x');
    expect(text).toBe(
      [
        '[mcp_servers.portico]',
        `url = "${ORIGIN}/mcp?names=underscore"`,
        'http_headers = { Authorization = "Bearer portico_x" }',
      ].join('\n'),
    );
  });

  it.each(CLIENTS)('[REG-6] for %s leaves a place for a token that is not given', client => {
    const { title, text } = toClientConfig(client, ORIGIN, undefined);
    expect(title).not.toBe('');
    expect(text).toMatch(/YOUR_TOKEN|\$PORTICO_TOKEN/);
    expect(text).toContain(`${ORIGIN}/mcp`);
  });
});
