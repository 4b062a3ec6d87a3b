/** The snippets that a user pastes: valid JSON or shell, with address and token where each client expects them. */
import { expect, it } from 'vitest';
import { createSnippets } from '../../../local/snippets.ts';

const ORIGIN = 'http://127.0.0.1:8787';
const TOKEN = `portico_${'a'.repeat(43)}`;

const textOf = (title: string, token?: string): string =>
  createSnippets(ORIGIN, token).find(snippet => snippet.title.startsWith(title))?.text ?? '';

it('[OPS-3] [REG-6] has the configuration of every client, with address and token in place', () => {
  const headers = { Authorization: `Bearer ${TOKEN}` };
  const url = `${ORIGIN}/mcp?names=underscore`;
  expect(JSON.parse(textOf('Cursor', TOKEN))).toEqual({
    mcpServers: { portico: { url, headers } },
  });
  expect(JSON.parse(textOf('VS Code', TOKEN))).toEqual({
    servers: { portico: { type: 'http', url, headers } },
  });
  expect(JSON.parse(textOf('Claude Desktop', TOKEN))).toEqual({
    mcpServers: {
      portico: {
        command: 'npx',
        args: ['-y', 'mcp-remote', url, '--header', 'Authorization:${AUTH_HEADER}'],
        env: { AUTH_HEADER: `Bearer ${TOKEN}` },
      },
    },
  });
  expect(textOf('Claude Code', TOKEN).replace(/\\\n\s*/g, '')).toBe(
    `claude mcp add --transport http portico "${url}" --header "Authorization: Bearer ${TOKEN}"`,
  );
});

it('[OPS-3] has a curl command whose headers agree with its body', () => {
  const text = textOf('curl', TOKEN);
  const body = JSON.parse(/-d '(.*)'$/.exec(text)?.[1] ?? '');
  expect(body).toMatchObject({ jsonrpc: '2.0', method: 'tools/list' });
  expect(text).toContain(`'Mcp-Method: ${body.method}'`);
  const version = body.params._meta['io.modelcontextprotocol/protocolVersion'];
  expect(text).toContain(`'MCP-Protocol-Version: ${version}'`);
});

it('has a placeholder for a token that is not shown again', () => {
  for (const { text } of createSnippets(ORIGIN, undefined)) {
    expect(text).toMatch(/YOUR_TOKEN|"Authorization: Bearer \$PORTICO_TOKEN"/);
  }
});
