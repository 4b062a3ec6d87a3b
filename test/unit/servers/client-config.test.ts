/** Configurations for clients: our own import reads back what we generate, for every client that has a file. */
import { describe, expect, it } from 'vitest';
import {
  CLIENTS,
  toClientConfig,
  toClientText,
  toInstallLink,
} from '../../../src/servers/transfer/client-config.ts';
import { parseMcpJson } from '../../../src/servers/transfer/mcp-json.ts';

const ORIGIN = 'https://portico.example.com';
/** Clients with a JSON file; the others have a command, or a TOML table. */
const files = CLIENTS.filter(client => !['claude-code', 'codex', 'curl'].includes(client));

describe('a configuration', () => {
  it.each(files)("[REG-6] for %s has the gateway's URL and the token", client => {
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

  it.each(files)('[REG-6] [ACC-7] for %s has no token if its user signs in', client => {
    const text = toClientText(client, `${ORIGIN}/mcp/toolsets/reading`, 'sign-in');
    expect(text).not.toMatch(/bearer|authorization|YOUR_TOKEN/i);
    expect(text).toContain(`${ORIGIN}/mcp/toolsets/reading`);
    if (client === 'claude-desktop') return;
    expect(parseMcpJson(text)).toMatchObject({
      entries: [{ kind: 'remote', name: 'portico', url: `${ORIGIN}/mcp/toolsets/reading` }],
    });
  });

  it('[REG-6] [ACC-7] without a token is a command for Claude Code and a table for Codex', () => {
    const url = `${ORIGIN}/mcp`;
    expect(toClientText('claude-code', url, 'sign-in')).toBe(
      `claude mcp add --transport http portico "${url}"`,
    );
    expect(toClientText('codex', url, 'sign-in')).toBe(`[mcp_servers.portico]\nurl = "${url}"`);
  });

  it('[REG-6] is a link for clients that document one, without a token', () => {
    const url = `${ORIGIN}/mcp?names=underscore`;
    const cursor = new URL(toInstallLink('cursor', url) ?? '');
    expect(cursor.href).toMatch(/^cursor:\/\/anysphere\.cursor-deeplink\/mcp\/install\?/);
    expect(cursor.searchParams.get('name')).toBe('portico');
    expect(JSON.parse(atob(cursor.searchParams.get('config') ?? ''))).toEqual({ url });
    const [path, given = ''] = (toInstallLink('vscode', url) ?? '').split('?', 2);
    expect(path).toBe('vscode:mcp/install');
    expect(JSON.parse(decodeURIComponent(given))).toEqual({ name: 'portico', type: 'http', url });
    const others = CLIENTS.filter(client => toInstallLink(client, url) === undefined);
    expect(others).toHaveLength(CLIENTS.length - 2);
  });

  it('[REG-6] for codex is a TOML table', () => {
    const { text } = toClientConfig('codex', ORIGIN, 'portico_x');
    expect(text).toBe(
      [
        '[mcp_servers.portico]',
        `url = "${ORIGIN}/mcp?names=underscore"`,
        'http_headers = { Authorization = "Bearer portico_x" }',
      ].join('\n'),
    );
  });

  it.each(CLIENTS)('[REG-6] for %s has a placeholder if no token is given', client => {
    const { title, text } = toClientConfig(client, ORIGIN, undefined);
    expect(title).not.toBe('');
    expect(text).toMatch(/YOUR_TOKEN|\$PORTICO_TOKEN/);
    expect(text).toContain(`${ORIGIN}/mcp`);
  });
});
